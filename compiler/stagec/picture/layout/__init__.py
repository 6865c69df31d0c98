"""From a picture to places: a layered drawing from top to bottom, always the same, in near-linear time."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.value import replace
from stagec.picture.document import Picture
from stagec.picture.layout.coordinates import Bands, across, down
from stagec.picture.layout.document import Badge, Face, Frame, Layout, Point, Route, Tag
from stagec.picture.layout.grid import Inside
from stagec.picture.layout.lanes import Lanes, runs_of
from stagec.picture.layout.lettering import face_of_box, face_of_line
from stagec.picture.layout.mesh import mesh_of
from stagec.picture.layout.order import order
from stagec.picture.layout.routes import Ways, loops

__all__ = ["Badge", "Face", "Frame", "Layout", "Point", "Route", "Tag", "lay_out"]

_MARGIN = 24.0


def lay_out(picture: Picture) -> Layout:
    """Place everything of a picture. No two boxes or labels overlap, and no line crosses a box."""
    faces = {name: face_of_box(box) for name, box in picture.boxes.items()}
    labels = {at: face for at, line in enumerate(picture.lines) if (face := face_of_line(line))}
    inside = Inside(picture, faces, labels)
    placed, above = _place(inside.picture, inside.faces, inside.labels)
    whole = inside.whole(placed)
    own = dict(loops(picture, whole.frames, labels))
    routes = tuple(own.get(line, route) for line, route in enumerate(whole.routes))
    return _move(replace(whole, routes=routes), above)


def _place(picture: Picture, faces: Mapping[str, Face], labels: Mapping[int, Face]) -> tuple[Layout, float]:
    """Place everything but lines to the same box, given what is written; return how far lines reach above zero, too."""
    mesh = mesh_of(picture, faces, labels)
    at = across(mesh, order(mesh))
    runs = runs_of(mesh)
    bands = down(mesh, at, faces, {rank for run in runs.values() for rank in (run.leaves, run.enters)})
    widths = [0.0] * len(mesh.first)  # of the columns
    for vertex, x in enumerate(at):
        column = mesh.column(mesh.rank[vertex])
        widths[column] = max(widths[column], x + mesh.right[vertex])
    lanes = Lanes(runs, bands, widths)
    at = [x + lanes.columns[mesh.column(rank)] for x, rank in zip(at, mesh.rank, strict=True)]
    frames = {
        name: _frame(face, at[index], bands, mesh.rank[index]) for index, (name, face) in enumerate(faces.items())
    }
    ways = Ways(mesh, at, bands, lanes)
    routes = [Route(()) for _ in picture.lines]
    for line, way in mesh.ways.items():
        face = labels.get(line)
        tag = Tag(_frame(face, at[way.label], bands, mesh.rank[way.label]), face) if face else None
        routes[line] = Route(ways.points(line), tag, way.merges)
    high = max(bands.bottom, default=0.0) + lanes.above + lanes.below
    return Layout(frames, faces, tuple(routes), lanes.width, high), lanes.above


def _frame(face: Face, x: float, bands: Bands, rank: int) -> Frame:
    y = (bands.top[rank] + bands.bottom[rank]) / 2
    return Frame(x - face.width / 2, y - face.height / 2, face.width, face.height)


def _move(layout: Layout, down_by: float) -> Layout:
    """Return a layout moved away from the border, in tenths of pixels."""
    y = down_by + _MARGIN
    routes: list[Route] = []
    for each in layout.routes:
        points = tuple([(round(across + _MARGIN, 1), round(below + y, 1)) for across, below in each.points])
        tag = each.tag and replace(each.tag, frame=_move_frame(each.tag.frame, y))
        routes.append(replace(each, points=points, tag=tag))
    return Layout(
        {name: _move_frame(frame, y) for name, frame in layout.frames.items()},
        layout.faces,
        tuple(routes),
        round(layout.width + 2 * _MARGIN, 1),
        round(layout.height + 2 * _MARGIN, 1),
    )


def _move_frame(frame: Frame, y: float) -> Frame:
    return Frame(round(frame.x + _MARGIN, 1), round(frame.y + y, 1), round(frame.width, 1), round(frame.height, 1))
