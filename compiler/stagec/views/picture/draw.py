"""Draw a graph: every node, its edges, and the findings at their places."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import StrEnum

from stagec.core.diagnostic import Diagnostic
from stagec.core.precedence import components
from stagec.core.value import replace, value
from stagec.core.words import format_count, format_duration, listing, quote
from stagec.ir.flow import Flow, FlowNode, InnerFlow, WrittenEdge
from stagec.ir.graph import Graph, noun
from stagec.ir.plan.node import ForEach, Fork, Named, list_targets
from stagec.sources.tree import Tree
from stagec.views.picture.document import (
    DONE,
    FAILED,
    INTERRUPTED,
    Box,
    Fate,
    Line,
    Picture,
    Role,
    Stroke,
    box_of,
    describe_fate,
    every_of,
    group_of,
    head_of,
    missing_of,
    schedule_of,
    start_of,
)
from stagec.views.picture.lines import Details, Found, find_shared_choices, lines_of, merge, share

_THROUGH = {Role.NODE, Role.GROUP, Role.CHOICE}
"""Boxes beyond which the neighbourhood goes on: all nodes are near each other by way of the ends."""


def focus(picture: Picture, box: str, depth: int) -> Picture:
    """Return the boxes at most so many lines away from one, in either direction, and the lines between them."""
    return keep_near(picture, [box], depth, quote(picture.boxes[box].name))


def keep_near(picture: Picture, centre: Collection[str], depth: int, called: str) -> Picture:
    """Return the boxes at most so many lines away from some, and the lines between them."""
    beside = _neighbours(picture)
    kept, border = set(centre), list(centre)
    for _ in range(depth):
        inner = [name for name in border if name in centre or picture.boxes[name].role in _THROUGH]
        border = [each for each in dict.fromkeys(one for name in inner for one in beside[name]) if each not in kept]
        kept.update(border)
        if not border:
            break
    left = len(picture.boxes) - len(kept)
    if not left:
        return picture
    found = {id(each) for name, one in picture.boxes.items() if name not in kept for each in one.found}
    remark = f"left out: {left} of {len(picture.boxes)} boxes, more than {depth} "
    remark += f"{'line' if depth == 1 else 'lines'} away from {called}"
    remark += f", with {format_count(len(found), 'finding')}" if found else ""
    return replace(
        picture,
        boxes={name: each for name, each in picture.boxes.items() if name in kept},
        lines=tuple(line for line in picture.lines if line.source in kept and line.target in kept),
        remarks=(*picture.remarks, remark),
    )


def _neighbours(picture: Picture) -> Mapping[str, list[str]]:
    beside: dict[str, list[str]] = {name: [] for name in picture.boxes}
    for line in picture.lines:
        beside[line.source].append(line.target)
        beside[line.target].append(line.source)
    return beside


Groups = Mapping[str, list[Box]]
"""Boxes by the name of the group they become."""


class By(StrEnum):
    """The reason to group nodes."""

    CYCLE = "cycle"
    PHASE = "phase"


def collapse(picture: Picture, by: By) -> Picture:
    """Return a drawing with one box for the nodes of each cycle, or of each phase; a group of one stays as it is."""
    known: dict[str, list[Box]] = {}
    if by is By.CYCLE:
        # the nodes that lead back to each other, called after the first, with the choices between them
        nodes = sorted((box for box in picture.boxes.values() if box.role in _REPEATED), key=_is_choice)
        index = {box.id: at for at, box in enumerate(nodes)}
        leads: list[list[int]] = [[] for _ in nodes]
        for line in picture.lines:
            if line.source in index and line.target in index and not line.is_guess:
                leads[index[line.source]].append(index[line.target])
        found = sorted(part for part in components(leads) if len(part) > 1)
        known = {f"cycle of {nodes[part[0]].name}": [nodes[at] for at in part] for part in found}
    else:
        # the nodes of each kind, or of each first part of a name; nodes that no run reaches are apart
        for box in picture.boxes.values():
            if box.role is Role.NODE:
                phase = box.kind or box.name.partition(".")[0]
                known.setdefault(phase if box.is_reached else f"{phase}, never reached", []).append(box)
    groups = {name: boxes for name, boxes in known.items() if len(boxes) > 1}
    if not groups:
        return picture
    told = "that lead back to each other" if by is By.CYCLE else "of one phase"
    count = format_count(sum(box.role is Role.NODE for boxes in groups.values() for box in boxes), "node")
    remark = f"nodes {told} are drawn as one box: {count} as {len(groups)}"
    return replace(_join(picture, groups), remarks=(*picture.remarks, remark))


_REPEATED = {Role.NODE, Role.CHOICE}


def _is_choice(box: Box) -> bool:
    return box.role is Role.CHOICE


def _join(picture: Picture, groups: Groups) -> Picture:
    home = {box.id: group_of(name) for name, boxes in groups.items() for box in boxes}
    inside: dict[str, list[Line]] = {name: [] for name in home.values()}
    lines = []
    for line in picture.lines:
        source, target = home.get(line.source, line.source), home.get(line.target, line.target)
        if source == target and source in inside:
            inside[source].append(line)
        else:
            lines.append(replace(line, source=source, target=target))
    made = {group_of(name): _group(name, boxes, inside[group_of(name)]) for name, boxes in groups.items()}
    boxes: dict[str, Box] = {}
    for name, box in picture.boxes.items():
        boxes.setdefault(home.get(name, name), made[home[name]] if name in home else box)
    return replace(picture, boxes=boxes, lines=merge(lines))


def _group(name: str, boxes: Iterable[Box], inside: Iterable[Line]) -> Box:
    members = tuple(box for box in boxes if not _is_choice(box))
    kinds = {box.kind for box in members}
    fates = {*(box.fate for box in members), *(line.fate for line in inside)}
    fate = fates.pop() if len(fates) == 1 else Fate.CHANGED
    owned = (*(box.found for box in members), *(line.found for line in inside))
    areas = {box.area for box in members}
    found = {id(each): each for some in owned for each in some}
    return Box(
        id=group_of(name),
        name=name,
        role=Role.GROUP,
        kind=kinds.pop() if len(kinds) == 1 else None,
        is_reached=all(box.is_reached for box in members),
        members=tuple(box.name for box in members),
        found=tuple(found.values()),
        details={"members": [box.name for box in members]},
        fate=fate,
        changes=tuple(_tell_inside(members, inside)) if fate is Fate.CHANGED else (),
        area=areas.pop() if len(areas) == 1 else "",
    )


def _tell_inside(members: Iterable[Box], inside: Iterable[Line]) -> Iterator[str]:
    """Yield the changes of the members of a group, and of the lines between them."""
    for box in members:
        if box.fate is not Fate.SAME:
            told = ", ".join(map(head_of, box.changes)) or describe_fate(box.fate)
            yield f"{box.name}: {told}"
    for fate in (Fate.ADDED, Fate.REMOVED, Fate.CHANGED):
        count = sum(line.fate is fate for line in inside)
        if count:
            yield f"{format_count(count, 'line')} inside {fate}"


def weigh(pictures: Iterable[Picture]) -> int:
    """Return how large drawings are: their boxes and lines, which is what laying out takes its time for."""
    return sum(len(picture.boxes) + len(picture.lines) for picture in pictures)


@value
class Limit:
    """A limit of a format: the most it can show, the noun, and the function that counts it in a drawing."""

    most: int
    nouns: str
    count: Callable[[tuple[Picture, ...]], int]

    def tell(self, pictures: tuple[Picture, ...]) -> str:
        """Return how many of it drawings have, which are more than allowed: `501 lines`."""
        return f"{self.count(pictures):,} {self.nouns}"


def find_exceeded(pictures: tuple[Picture, ...], limits: Iterable[Limit]) -> Limit | None:
    """Return the first limit that drawings exceed together."""
    return next((limit for limit in limits if limit.count(pictures) > limit.most), None)


def fit(pictures: tuple[Picture, ...], limits: tuple[Limit, ...]) -> tuple[Picture, ...]:
    """Return drawings that together exceed no limit, or the smallest there are; each says what was done."""
    for by in By:
        exceeded = find_exceeded(pictures, limits)
        if exceeded is None:
            break
        share, most = exceeded.most // len(pictures), f"{exceeded.most:,}"
        beyond = f"more than {most}" if len(pictures) == 1 else f"too many where {len(pictures)} flows share {most}"
        smaller: list[Picture] = []
        for picture in pictures:
            made = collapse(picture, by) if exceeded.count((picture,)) > share else picture
            if made is not picture:
                large = f"{exceeded.tell((picture,))} are {beyond}"
                made = replace(made, remarks=(*made.remarks, large))
            smaller.append(made)
        pictures = tuple(smaller)
    return pictures


_LEAST = 3
"""Nodes that fail alike; fewer are drawn as they are."""
_MOST_OTHERS = 3
"""Nodes that do not, which are named."""


class Edges(StrEnum):
    """The choice of drawn edges among those by which nodes fail alike."""

    ALL = "all"
    ONCE = "once"
    """One for all of them, from a box that stands for the nodes."""
    MAIN = "main"
    """None of them; a remark says so."""


def draw_failures(picture: Picture, edges: Edges) -> Picture:
    """Return a drawing with as many edges to the failed end as wanted; what was found at one keeps its own line."""
    shared = {} if edges is Edges.ALL else _find_shared(picture)
    if not shared:
        return picture
    lines = [left for line in picture.lines for left in _subtract(picture, line, shared)]
    boxes, remarks = dict(picture.boxes), picture.remarks
    wholes: dict[str, list[str]] = {}
    for label, whole in shared.items():
        wholes.setdefault(whole, []).append(label)
    end = next(name for name, box in boxes.items() if box.role is Role.FAILED)
    if edges is Edges.MAIN:
        for whole, labels in wholes.items():
            how = f"by {listing(list(filter(None, labels)))} " if any(labels) else ""
            remarks = (*remarks, f"not drawn: {whole} leads {how}to the end failed")
        if not any(line.target == end for line in lines):
            del boxes[end]
    else:
        reached = any(box.is_reached for box in boxes.values() if box.role is Role.NODE)
        for at, (whole, labels) in enumerate(wholes.items()):
            fate = Fate.SAME if picture.fate is Fate.CHANGED else picture.fate
            boxes[every_of(at)] = Box(every_of(at), whole, Role.EVERY, is_reached=reached, fate=fate)
            lines.append(Line(every_of(at), end, Stroke.END, tuple(filter(None, labels)), fate=fate))
    return replace(picture, boxes=boxes, lines=tuple(lines), remarks=remarks)


def _find_shared(picture: Picture) -> Mapping[str, str]:
    """Return in words which nodes fail alike, by the label of their edges; an edge without one has the empty label."""
    sources: dict[str, set[str]] = {}
    for line in picture.lines:
        if _is_failure(picture, line):
            for label in line.labels or ("",):
                sources.setdefault(label, set()).add(line.source)
    nodes = {name: box for name, box in picture.boxes.items() if box.role is Role.NODE}
    found: dict[str, str] = {}
    for label, own in sources.items():
        others = [box.name for name, box in nodes.items() if name not in own]
        if len(own) >= _LEAST and len(others) <= min(_MOST_OTHERS, len(own) - 1):
            found[label] = f"every node but {listing(others)}" if others else "every node"
    return found


def _is_failure(picture: Picture, line: Line) -> bool:
    """Tell whether a line is one by which a node fails; one of which something else has become tells something."""
    if line.fate is Fate.CHANGED or line.fate not in {None, Fate.SAME, picture.boxes[line.source].fate}:
        return False
    ends = picture.boxes[line.source].role, picture.boxes[line.target].role
    return ends == (Role.NODE, Role.FAILED) and line.stroke is Stroke.END and not line.is_guess


def _subtract(picture: Picture, line: Line, shared: Mapping[str, str]) -> Iterator[Line]:
    """Yield the rest of a line without its shared parts."""
    if line.found or not _is_failure(picture, line):
        yield line
        return
    labels = tuple(label for label in line.labels or ("",) if label not in shared)
    if labels:
        yield replace(line, labels=tuple(filter(None, labels)))


def draw(graph: Graph, diagnostics: Iterable[Diagnostic], trees: Mapping[str, Tree]) -> Picture:
    """Return the drawing of one flow; what lies at none of its nodes and moves is kept beside it."""
    flow = graph.flow
    found = share(flow, diagnostics, trees)
    lines = lines_of(flow, found)
    # what stands for nodes of which the answers of several others name one
    choices: list[Box] = []
    shared, reached = find_shared_choices(graph.flow), {box_of(name) for name in graph.startable()}
    entered = {line.target for line in lines if line.target in shared and line.source in reached}
    for box, target in shared.items():
        name = f"one of {format_count(len(list_targets(target)), noun(graph, 'node'))}"
        choices.append(Box(box, name, Role.CHOICE, is_reached=box in entered))
    nodes = (*_nodes(graph, found, trees), *choices)
    # the ends that a line leads to
    ends: list[Box] = []
    into: dict[str, bool] = {}
    for line in lines:
        into[line.target] = into.get(line.target, False) or line.source in reached
    for name, role in ((DONE, Role.DONE), (FAILED, Role.FAILED), (INTERRUPTED, Role.INTERRUPTED)):
        if name in into:
            ends.append(Box(name, flow.names.get(name, name), role, is_reached=into[name]))
    boxes = {box.id: box for box in (*_starts(flow), *nodes, *ends, *_draw_missing(flow))}
    title = f"{flow.id} ({flow.at.file})"
    areas = {name: _title_area(name, each) for name, each in flow.inner.items()}
    return Picture(flow.id, title, boxes, lines, tuple(_remarks(graph)), found.others, areas=areas)


def _title_area(name: str, inner: InnerFlow) -> str:
    """Return the title of the area of an inner flow: below its name a row for each input."""
    inputs = (f"{key} = {told}" for key, told in inner.inputs.items())
    return "\n".join((f"{name}: pipeline {inner.id}" if inner.id else name, *inputs))


def _starts(flow: Flow) -> Iterator[Box]:
    """Yield one box for the entries that begin at the same node."""
    selectors: dict[str, list[str]] = {}
    for name, entry in (*flow.entries.items(), *flow.lost_entries):
        selectors.setdefault(entry.node, []).append(name)
    for node, names in selectors.items():
        told = ", ".join(dict.fromkeys(name for name in names if name))
        yield Box(start_of(flow, node), f"start: {told}" if told else "start", Role.START)
    for name in flow.schedules:
        yield Box(schedule_of(name), f"start: {name}" if name else "start", Role.START)


def _nodes(graph: Graph, found: Found, trees: Mapping[str, Tree]) -> Iterator[Box]:
    flow, reached, details = graph.flow, graph.startable(), Details(trees)
    joins = {edge.target.join for edge in _edges(flow) if isinstance(edge.target, Fork | ForEach)}
    for schedule in flow.schedules.values():
        joins.update(name for name, needs in schedule.needs.items() if len(needs) > 1)
    for name, node in graph.flow.nodes.items():
        yield Box(
            id=box_of(name),
            name=name,
            role=Role.NODE,
            kind=node.kind,
            is_reached=name in reached,
            is_join=name in joins,
            found=found.by_node.get(name, ()),
            details=details.of(node),
            notes=tuple(_list_notes(node)),
            opens=node.agent,
            area=max((each for each in flow.inner if name.startswith(f"{each}/")), key=len, default=""),
        )


def _list_notes(node: FlowNode) -> Iterator[str]:
    if node.agent is not None:
        yield f"agent {node.agent}"
    if node.deadline:
        yield f"deadline {format_duration(node.deadline)}"


def _edges(flow: Flow) -> Iterator[WrittenEdge]:
    return (edge for node in flow.nodes.values() for edge in node.edges)


def _draw_missing(flow: Flow) -> Iterator[Box]:
    """Yield a box for every name that is led to and that nothing has."""
    named = [entry.node for entry in (*flow.begun, *(entry for _, entry in flow.lost_entries))]
    for edge in (*_edges(flow), *flow.lost):
        if not isinstance(edge.target, Named):
            named.extend(list_targets(edge.target))
    for name in dict.fromkeys(named):
        if name not in flow.nodes:
            yield Box(missing_of(name), name, Role.MISSING)


def _remarks(graph: Graph) -> Iterator[str]:
    flow, called = graph.flow, noun(graph, "node")
    unreached = graph.unstartable()
    if flow.deadline:
        yield f"deadline of a run: {format_duration(flow.deadline)}"
    if not graph.startable():
        yield "no run can start"
    elif all(graph.shortest_run(name) is None for name in (*flow.entries, *flow.schedules)):
        yield "no run can end as done"
    if unreached:
        yield f"{format_count(len(unreached), called)} {'is' if len(unreached) == 1 else 'are'} never reached"
    if not graph.exact:
        yield "not everything could be read: there may be more ways than are drawn"
    if flow.open:
        yield f"{listing(sorted(flow.open))} may also lead to any {called} that an answer names"
