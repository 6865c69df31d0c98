"""The inside of a block: its boxes in rows between rails, laid out as one box and put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, fsum, sqrt

from stagec.core.value import replace, value
from stagec.views.picture.document import Box, Fate, Line, Picture, Role, Stroke, block_of
from stagec.views.picture.layout.coordinates import STUB
from stagec.views.picture.layout.document import Face, Frame, Layout, Point, Route, Tag
from stagec.views.picture.layout.levels import Size
from stagec.views.picture.layout.mesh import SPACE, loops_of
from stagec.views.picture.layout.routes import INSET, spread

_LEAST = 11
"""Boxes that are worth a block; fewer are easier to follow beside each other."""
_MOST = 6
"""Ways that lead to all of a block, or from all of it: each needs room beside every row."""
_ROLES = {Role.NODE, Role.GROUP, Role.MISSING}


Bus = tuple[str, Stroke, bool, bool]
"""Lines of which each box of a block has one: the other end, the stroke, whether it is a guess, whether it leaves."""


@value
class Block:
    """Boxes of which each leads to the same others and is led to by the same others, in the same manner."""

    id: str
    members: tuple[str, ...]
    buses: tuple[Bus, ...]


@value
class Reduced:
    """A picture with one box for each block, and for each line of the whole picture the one that stands for it.

    Several lines of a block are one; a line from a box of a block to itself has none.
    """

    picture: Picture
    lines: tuple[int | None, ...]


def blocks_of(picture: Picture) -> tuple[Block, ...]:
    """Return the blocks of a picture."""
    buses: dict[str, dict[Bus, Fate | None]] = {name: {} for name in picture.boxes}
    for line in picture.lines:
        if line.source != line.target:
            buses[line.source][line.target, line.stroke, line.is_guess, True] = line.fate
            buses[line.target][line.source, line.stroke, line.is_guess, False] = line.fate
    alike: dict[tuple[object, ...], list[str]] = {}
    for name, own in buses.items():
        box = picture.boxes[name]
        if box.role in _ROLES and len(own) <= _MOST:
            alike.setdefault((box.role, box.is_reached, box.fate, frozenset(own.items())), []).append(name)
    large = (tuple(members) for members in alike.values() if len(members) >= _LEAST)
    return tuple(Block(block_of(members[0]), members, tuple(buses[members[0]])) for members in large)


def reduce(picture: Picture, blocks: tuple[Block, ...]) -> Reduced:
    """Return a picture in which each block is one box, where the first of its boxes was."""
    home = {name: block.id for block in blocks for name in block.members}
    boxes: dict[str, Box] = {}
    for name, box in picture.boxes.items():
        boxes.setdefault(home.get(name, name), replace(box, id=home.get(name, name)))
    lines: dict[object, Line] = {}
    keys: list[object] = []
    for at, line in enumerate(picture.lines):
        source, target = home.get(line.source, line.source), home.get(line.target, line.target)
        is_own = source == line.source and target == line.target
        key: object = at if is_own else (source, target, line.stroke, line.is_guess)
        keys.append(None if source == target and not is_own else key)
        if keys[at] is not None:
            lines.setdefault(key, line if is_own else Line(source, target, line.stroke, is_guess=line.is_guess))
    number = {key: at for at, key in enumerate(lines)}
    return Reduced(replace(picture, boxes=boxes, lines=tuple(lines.values())), tuple(map(number.get, keys)))


_ASPECT = 1.6
"""How many times as wide as high a block should be, about."""
_RAIL = 8.0
"""Between rails, and between trunks."""
_GAP = 13.0
"""Between what stands above each other."""
_BARE = Face(9.0 - SPACE, 0.0, ())
"""What is written on a line that bears no label."""


@value
class Cell:
    """A box of a block: what is written on it, the room for lines to itself at its right, and its other lines.

    `lines` are the lines that lead to it, then those that leave it, by number with the bus and the label of each.
    """

    face: Face
    loops: Size
    lines: tuple[Mapping[int, tuple[int, Face | None]], Mapping[int, tuple[int, Face | None]]]

    def wide(self) -> float:
        """Return how much room the labels need beside each other."""
        return max(fsum((face or _BARE).width + SPACE for _, face in side.values()) for side in self.lines)

    def high(self, side: int) -> float:
        """Return how much room the labels above or below the box need."""
        return max((face.height for _, face in self.lines[side].values() if face), default=0.0)


@value
class _Row:
    """The upper ends of the parts of a row: rails and labels above and below the boxes; and how high the boxes are."""

    rails: tuple[float, float]
    labels: tuple[float, float]
    boxes: float
    high: float


@value
class _End:
    """The end of a line at a box of the block: from the trunk along the rail to the label and then to the border."""

    trunk: float
    rail: float
    slot: float
    labels: tuple[float, float]
    port: Point
    stub: float


class Grid:
    """Where everything inside a block is, relative to its left upper corner: the boxes, the labels, and `size`."""

    def __init__(self, block: Block, cells: Mapping[str, Cell]) -> None:
        leaving = [bus[-1] for bus in block.buses]
        self._rails = leaving.count(False), leaving.count(True)
        self._number = [leaving[:at].count(leaves) for at, leaves in enumerate(leaving)]
        self._edge = _GAP + _RAIL * len(leaving)
        self.frames: dict[str, Frame] = {}
        self.tags: dict[int, Frame] = {}
        self._ends: dict[int, _End] = {}
        self.size = self._fill(cells)

    def points(self, line: int, entry: Point, bus: int) -> Iterator[Point]:
        """Yield the points of a line from where it meets the border of the block to the border of its box."""
        end, (x, y) = self._ends[line], entry
        rail = self._edge - _RAIL * (bus + 1)
        turn = rail if y < self.size[1] / 2 else self.size[1] - rail
        yield from ((x, y), (x, turn), (end.trunk, turn), (end.trunk, end.rail), (end.slot, end.rail))
        yield from ((end.slot, end.labels[0]), (end.slot, end.labels[1]), (end.port[0], end.stub), end.port)

    def _fill(self, cells: Mapping[str, Cell]) -> Size:
        count = _columns(list(cells.values()))
        rows = [list(cells.items())[at : at + count] for at in range(0, len(cells), count)]
        middles, width = self._across([[cell for _, cell in row] for row in rows], count)
        y = self._edge
        for row in rows:
            at = self._down([cell for _, cell in row], y)
            for (name, cell), x in zip(row, middles, strict=False):
                face = cell.face
                frame = Frame(x - face.width / 2, at.boxes + (at.high - face.height) / 2, face.width, face.height)
                self.frames[name] = frame
                self._join(cell, frame, at, width)
            y = at.rails[1] + _RAIL * self._rails[1] + _GAP
        return width, y + self._edge - _GAP

    def _across(self, rows: Sequence[Sequence[Cell]], count: int) -> tuple[list[float], float]:
        """Return the middles of the columns, and how wide all of it is."""
        x, middles = _GAP + _RAIL * self._rails[0], []
        for at in range(count):
            column = [row[at] for row in rows if at < len(row)]
            middles.append(x + max(max(cell.face.width, cell.wide()) / 2 for cell in column))
            right = max(max(cell.face.width / 2 + cell.loops[0], cell.wide() / 2) for cell in column)
            x = middles[-1] + right + SPACE
        return middles, x + _RAIL * self._rails[1] + _GAP - SPACE

    def _down(self, row: Sequence[Cell], y: float) -> _Row:
        """Return where the parts of a row are that begins at a height."""
        comes, leaves = (bool(each) for each in self._rails)
        labels = y + _RAIL * self._rails[0] + _GAP * comes
        boxes = labels + max(cell.high(0) for cell in row) + (_GAP + STUB) * comes
        high = max(max(cell.face.height, cell.loops[1]) for cell in row)
        below = boxes + high + (_GAP + STUB) * leaves
        return _Row((y, below + max(cell.high(1) for cell in row) + _GAP * leaves), (labels, below), boxes, high)

    def _join(self, cell: Cell, frame: Frame, row: _Row, width: float) -> None:
        """Lead the lines of a box to their trunks."""
        middle, reach = frame.middle[0], frame.width / 2 - INSET
        for side, lines in enumerate(cell.lines):
            # the middles of labels that stand beside each other around a middle
            slots: list[float] = []
            widths = [(face or _BARE).width + SPACE for _, face in lines.values()]
            x = middle - fsum(widths) / 2
            for wide in widths:
                slots.append(x + wide / 2)
                x += wide
            border, stub = (frame.bottom, row.boxes + row.high + STUB) if side else (frame.y, row.boxes - STUB)
            room = row.labels[side], row.rails[1] - _GAP if side else row.boxes - STUB - _GAP
            ports = spread(slots, middle - reach, middle + reach)
            for (line, (bus, face)), slot, port in zip(lines.items(), slots, ports, strict=True):
                away = _RAIL * (self._number[bus] + 0.5)
                rail = row.rails[side] + _RAIL * self._number[bus]
                ends = room[::-1] if side else room
                self._ends[line] = _End(width - away if side else away, rail, slot, ends, (port, border), stub)
                if face:
                    y = (room[0] + room[1] - face.height) / 2
                    self.tags[line] = Frame(slot - face.width / 2, y, face.width, face.height)


def _columns(cells: Sequence[Cell]) -> int:
    """Return how many boxes stand in a row, so that the last row is about as long as the others."""
    wide = fsum(max(cell.face.width + cell.loops[0], cell.wide()) + SPACE for cell in cells)
    high = fsum(max(cell.face.height, cell.loops[1]) + cell.high(0) + cell.high(1) + 4 * _GAP for cell in cells)
    most = min(len(cells), ceil(sqrt(_ASPECT * len(cells) * high / wide)))
    return ceil(len(cells) / ceil(len(cells) / most))


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
        self._reduced = reduce(picture, blocks)
        branches: dict[int, _Branch] = {}
        home = {name: block for block in blocks for name in block.members}
        number = {block.id: {bus: at for at, bus in enumerate(block.buses)} for block in blocks}
        for at, line in enumerate(picture.lines):
            ends = (line.source, line.target, True), (line.target, line.source, False)
            for member, other, leaves in ends if line.source != line.target else ():
                if member in home:
                    block = home[member].id
                    branches[at] = _Branch(
                        block, member, number[block][other, line.stroke, line.is_guess, leaves], leaves
                    )
        self._branches = branches
        self._grids = dict(self._fill_blocks(blocks, loops_of(picture, labels)))
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

    def _fill_blocks(self, blocks: tuple[Block, ...], loops: Mapping[str, Size]) -> Iterator[tuple[str, Grid]]:
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
        own = grid.points(at, (x - block.x, y - block.y), branch.bus)
        inner = [(across + block.x, down + block.y) for across, down in own]
        points = (*inner[::-1], *route.points[1:]) if branch.leaves else (*route.points[:-1], *inner)
        tag = Tag(_at(grid.tags[at], block), self._labels[at]) if at in grid.tags else None
        return Route(points, tag, branch.leaves)


def _at(frame: Frame, block: Frame) -> Frame:
    return Frame(frame.x + block.x, frame.y + block.y, frame.width, frame.height)
