"""From a picture to places: a layered drawing from top to bottom, always the same, in near-linear time."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, fsum, sqrt

from stagec.core.value import replace, value
from stagec.views.picture.document import Box, Fate, Line, Picture, Role, Stroke, block_of
from stagec.views.picture.layout.document import (
    Badge,
    Face,
    Frame,
    Layout,
    Point,
    Route,
    Tag,
    face_of_box,
    face_of_line,
)
from stagec.views.picture.layout.mesh import SPACE, STUB, Bands, Mesh, Size, across, down, loops_of, mesh_of
from stagec.views.picture.layout.routes import INSET, Lanes, Ways, loops, runs_of, spread

__all__ = [
    "Badge",
    "Block",
    "Bus",
    "Cell",
    "Face",
    "Frame",
    "Grid",
    "Inside",
    "Layout",
    "Point",
    "Reduced",
    "Route",
    "Tag",
    "blocks_of",
    "crossings",
    "lay_out",
    "order",
    "reduce",
]


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
"""The face of a line without a label."""


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
    """The positions inside a block, relative to its left upper corner: the boxes, the labels, and `size`."""

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
        """Return the places of the parts of a row that begins at a height."""
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
