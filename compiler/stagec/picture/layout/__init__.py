"""From a picture to places: a layered drawing from top to bottom, always the same, in near-linear time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stagec.core.value import replace
from stagec.picture.document import Picture
from stagec.picture.layout.across import across
from stagec.picture.layout.document import Face, Frame, Layout, Point, Route, Tag
from stagec.picture.layout.down import Bands, down
from stagec.picture.layout.lanes import Lane, lanes
from stagec.picture.layout.lettering import face_of_box, face_of_line
from stagec.picture.layout.mesh import Mesh, mesh_of
from stagec.picture.layout.order import order
from stagec.picture.layout.routes import Ways, loops

__all__ = ["Face", "Frame", "Layout", "Point", "Route", "Tag", "lay_out"]

_MARGIN = 24.0


def lay_out(picture: Picture) -> Layout:
    """Place everything of a picture. No two boxes or labels overlap, and no line crosses a box."""
    faces = {name: face_of_box(box) for name, box in picture.boxes.items()}
    labels = {at: face for at, line in enumerate(picture.lines) if (face := face_of_line(line))}
    mesh = mesh_of(picture, faces, labels)
    at = across(mesh, order(mesh))
    width = max((x + mesh.right[vertex] for vertex, x in enumerate(at)), default=0.0)
    aside, left, right = lanes(picture, mesh, width)
    bands = down(mesh, at, faces, _gaps(mesh, aside))
    frames = {
        name: _frame(face, at[index], bands, mesh.rank[index]) for index, (name, face) in enumerate(faces.items())
    }
    drawn = dict(loops(picture, frames, labels))
    ways = Ways(mesh, at, bands, aside)
    for line, way in mesh.ways.items():
        face = labels.get(line)
        tag = Tag(_frame(face, at[way.label], bands, mesh.rank[way.label]), face) if face else None
        drawn[line] = Route(ways.points(line), tag)
    bottom = max(bands.bottom, default=0.0) + (30 if aside else 0)
    routes = [drawn[line] for line in range(len(picture.lines))]
    return _moved(Layout(frames, faces, tuple(routes), left + width + right, bottom), left)


def _gaps(mesh: Mesh, aside: Mapping[int, Lane]) -> set[int]:
    """Return the ranks below which lines leave for the border or come from there."""
    found = {lane.meets for lane in aside.values()}
    return found | {mesh.rank[lane.far] - (not lane.is_above) for lane in aside.values()}


def _frame(face: Face, x: float, bands: Bands, rank: int) -> Frame:
    y = (bands.top[rank] + bands.bottom[rank]) / 2
    return Frame(x - face.width / 2, y - face.height / 2, face.width, face.height)


def _moved(layout: Layout, left: float) -> Layout:
    """Return a layout moved away from the border, in tenths of pixels."""
    x = left + _MARGIN
    return Layout(
        {name: _moved_frame(frame, x) for name, frame in layout.frames.items()},
        layout.faces,
        tuple(_moved_route(route, x) for route in layout.routes),
        round(layout.width + 2 * _MARGIN, 1),
        round(layout.height + 2 * _MARGIN, 1),
    )


def _moved_frame(frame: Frame, x: float) -> Frame:
    return Frame(round(frame.x + x, 1), round(frame.y + _MARGIN, 1), round(frame.width, 1), round(frame.height, 1))


def _moved_route(route: Route, x: float) -> Route:
    tag = route.tag and replace(route.tag, frame=_moved_frame(route.tag.frame, x))
    return Route(_moved_points(route.points, x), tag)


def _moved_points(points: Sequence[Point], x: float) -> tuple[Point, ...]:
    return tuple([(round(across + x, 1), round(below + _MARGIN, 1)) for across, below in points])
