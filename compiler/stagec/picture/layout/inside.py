"""Blocks as one box each before everything is placed, and their boxes, labels and lines put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.value import value
from stagec.picture.document import Picture
from stagec.picture.layout.blocks import Block, blocks_of, reduced
from stagec.picture.layout.document import Face, Frame, Layout, Point, Route, Tag
from stagec.picture.layout.fold import Size
from stagec.picture.layout.grid import Cell, Grid
from stagec.picture.layout.mesh import loops_of


@value
class _Branch:
    """A line from or to a box of a block: the block, the box, the number of the bus, whether the line leaves."""

    block: str
    member: str
    bus: int
    leaves: bool


class Inside:
    """A picture, what is placed instead of it, with what is written there, and the way back."""

    def __init__(self, picture: Picture, faces: Mapping[str, Face], labels: Mapping[int, Face]) -> None:
        blocks = blocks_of(picture)
        self._whole, self._faces, self._labels = picture, faces, labels
        self._reduced = reduced(picture, blocks)
        self._branches = dict(_branches(picture, blocks))
        self._grids = dict(self._filled(blocks, loops_of(picture, labels)))
        self.picture = self._reduced.picture
        made = {name: Face(*grid.size, ()) for name, grid in self._grids.items()}
        self.faces = {name: made[name] if name in made else faces[name] for name in self.picture.boxes}
        stands = {at: stand for at, stand in enumerate(self._reduced.lines) if stand is not None}
        self.labels = {stands[at]: face for at, face in labels.items() if at in stands and at not in self._branches}

    def whole(self, layout: Layout) -> Layout:
        """Return the places of all but lines to the same box, given those of blocks and of what is in none."""
        placed = dict(layout.frames)
        for name, grid in self._grids.items():
            placed.update({member: _at(frame, layout.frames[name]) for member, frame in grid.frames.items()})
        stands = enumerate(self._reduced.lines)
        routes = (Route(()) if stand is None else self._route(at, layout.routes[stand], layout) for at, stand in stands)
        frames = {name: placed[name] for name in self._whole.boxes}
        return Layout(frames, self._faces, tuple(routes), layout.width, layout.height)

    def _filled(self, blocks: tuple[Block, ...], loops: Mapping[str, Size]) -> Iterator[tuple[str, Grid]]:
        lines: dict[str, tuple[dict[int, tuple[int, Face | None]], dict[int, tuple[int, Face | None]]]] = {}
        for at, branch in self._branches.items():
            lines.setdefault(branch.member, ({}, {}))[branch.leaves][at] = branch.bus, self._labels.get(at)
        for block in blocks:
            cells = {
                name: Cell(self._faces[name], loops.get(name, (0.0, 0.0)), lines.get(name, ({}, {})))
                for name in block.members
            }
            yield block.id, Grid(block, cells)

    def _route(self, at: int, route: Route, layout: Layout) -> Route:
        """Return the route of a line, given that of the line which stands for it."""
        branch = self._branches.get(at)
        if branch is None:
            return route
        grid, block = self._grids[branch.block], layout.frames[branch.block]
        x, y = route.points[0 if branch.leaves else -1]
        inner = [_moved(point, block) for point in grid.points(at, (x - block.x, y - block.y), branch.bus)]
        points = (*inner[::-1], *route.points[1:]) if branch.leaves else (*route.points[:-1], *inner)
        tag = Tag(_at(grid.tags[at], block), self._labels[at]) if at in grid.tags else None
        return Route(points, tag, branch.leaves)


def _branches(picture: Picture, blocks: tuple[Block, ...]) -> Iterator[tuple[int, _Branch]]:
    home = {name: block for block in blocks for name in block.members}
    number = {block.id: {bus: at for at, bus in enumerate(block.buses)} for block in blocks}
    for at, line in enumerate(picture.lines):
        ends = (line.source, line.target, True), (line.target, line.source, False)
        for member, other, leaves in ends if line.source != line.target else ():
            if member in home:
                block = home[member].id
                yield at, _Branch(block, member, number[block][other, line.stroke, line.is_guess, leaves], leaves)


def _at(frame: Frame, block: Frame) -> Frame:
    return Frame(frame.x + block.x, frame.y + block.y, frame.width, frame.height)


def _moved(point: Point, block: Frame) -> Point:
    return point[0] + block.x, point[1] + block.y
