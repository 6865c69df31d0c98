"""From a picture to places: a layered drawing from top to bottom, always the same, in near-linear time."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from itertools import pairwise
from math import fsum

from stagec.core.value import replace
from stagec.views.picture.document import Picture
from stagec.views.picture.layout.coordinates import Bands, across, down
from stagec.views.picture.layout.document import Badge, Face, Frame, Layout, Point, Route, Tag
from stagec.views.picture.layout.grid import Inside
from stagec.views.picture.layout.lettering import face_of_box, face_of_line
from stagec.views.picture.layout.mesh import Mesh, mesh_of
from stagec.views.picture.layout.routes import Lanes, Ways, loops, runs_of

__all__ = ["Badge", "Face", "Frame", "Layout", "Point", "Route", "Tag", "crossings", "lay_out", "order"]


_SMALL = 3_000
"""Vertices up to which neighbours are also swapped one by one."""
_ROUNDS_SMALL, _ROUNDS = 12, 4


def order(mesh: Mesh) -> list[list[int]]:
    """Return the vertices of each rank from left to right: the best of several sweeps."""
    ranks = _first(mesh)
    if len(mesh.rank) > _SMALL:
        for turn in range(_ROUNDS):
            ranks = _swept(mesh, ranks, is_downward=turn % 2 == 0)
        return ranks
    best, fewest = ranks, crossings(mesh, ranks)
    for turn in range(_ROUNDS_SMALL):
        ranks = _swept(mesh, ranks, is_downward=turn % 2 == 0)
        _swap(mesh, ranks)
        count = crossings(mesh, ranks)
        if count < fewest:
            best, fewest = [list(rank) for rank in ranks], count
        if not fewest:
            break
    return best


def crossings(mesh: Mesh, ranks: list[list[int]]) -> int:
    """Return how many pairs of joins cross."""
    return sum(_between(mesh, upper, lower) for upper, lower in pairwise(ranks))


def _between(mesh: Mesh, upper: list[int], lower: list[int]) -> int:
    at = {vertex: index for index, vertex in enumerate(lower)}
    passed: list[int] = []
    count = 0
    for vertex in upper:
        ends = sorted([at[each] for each in mesh.below[vertex]])
        count += sum(len(passed) - bisect_right(passed, each) for each in ends)
        for each in ends:
            insort(passed, each)
    return count


def _first(mesh: Mesh) -> list[list[int]]:
    """Return the order in which a walk from above comes by."""
    ranks: list[list[int]] = [[] for _ in mesh.ranks()]
    seen = [False] * len(mesh.rank)
    for root in range(len(mesh.rank)):
        way = [] if mesh.above[root] else [root]
        while way:
            vertex = way.pop()
            if not seen[vertex]:
                seen[vertex] = True
                ranks[mesh.rank[vertex]].append(vertex)
                way += reversed(mesh.below[vertex])
    return ranks


def _swept(mesh: Mesh, ranks: list[list[int]], *, is_downward: bool) -> list[list[int]]:
    """Return the ranks, each ordered by where its neighbours stand on the rank before."""
    beside = mesh.above if is_downward else mesh.below
    swept = [list(rank) for rank in ranks]
    at = [0.0] * len(mesh.rank)
    for rank in swept if is_downward else reversed(swept):
        keys = {}
        for index, vertex in enumerate(rank):
            near = beside[vertex]
            keys[vertex] = fsum([at[each] for each in near]) / len(near) if near else index / len(rank)
        rank.sort(key=keys.__getitem__)
        for index, vertex in enumerate(rank):
            at[vertex] = (index + 0.5) / len(rank)
    return swept


def _swap(mesh: Mesh, ranks: list[list[int]]) -> None:
    """Swap neighbours as long as that removes crossings, three times over at most."""
    at = [0] * len(mesh.rank)
    for rank in ranks:
        for index, vertex in enumerate(rank):
            at[vertex] = index
    ends = [
        [sorted([at[each] for each in beside[vertex]]) for vertex in range(len(mesh.rank))]
        for beside in (mesh.above, mesh.below)
    ]
    for _ in range(3):
        if not sum([_swap_rank(mesh, rank, at, ends) for rank in ranks]):
            return


def _swap_rank(mesh: Mesh, rank: list[int], at: list[int], ends: list[list[list[int]]]) -> int:
    count = 0
    for index in range(len(rank) - 1):
        left, right = rank[index], rank[index + 1]
        now = sum(_inversions(side[left], side[right]) for side in ends)
        if now and sum(_inversions(side[right], side[left]) for side in ends) < now:
            rank[index], rank[index + 1] = right, left
            at[left], at[right] = index + 1, index
            _update(mesh, (left, right), at, ends)
            count += 1
    return count


def _update(mesh: Mesh, moved: tuple[int, int], at: list[int], ends: list[list[list[int]]]) -> None:
    """Put the ends of joins right that lead to vertices which changed places."""
    for beside, other, side in ((mesh.below, mesh.above, ends[0]), (mesh.above, mesh.below, ends[1])):
        for each in {near for vertex in moved for near in beside[vertex]}:
            side[each] = sorted([at[near] for near in other[each]])


def _inversions(left: list[int], right: list[int]) -> int:
    """Count the joins of `left` that cross those of `right` while it stands at its left."""
    return sum(bisect_right(right, each - 1) for each in left)


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
