"""The lines of a drawing: one for each move, its label, and what follows when a scope has ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise

from stagec.core.diagnostic import Diagnostic
from stagec.core.json import Json
from stagec.core.memo import Memo
from stagec.core.place import Key, Place, Pointer, pointer_text
from stagec.core.value import replace, value
from stagec.core.words import format_duration
from stagec.ir.flow import Flow, FlowNode, WrittenEdge
from stagec.ir.plan.gate import Among, Exists, Term
from stagec.ir.plan.node import Chain, ForEach, Fork, Named, Outcome, Schedule, Stop, Target, list_opened, list_targets
from stagec.sources.tree import Tree
from stagec.views.picture.document import (
    DONE,
    FAILED,
    INTERRUPTED,
    Line,
    Stroke,
    box_of,
    choice_of,
    missing_of,
    schedule_of,
    start_of,
)

Spot = tuple[str, Pointer]
"""A file and a pointer into it; what is inside belongs to whoever has the spot."""


@value
class Found:
    """Diagnostics by the node and by the place of the move they belong to, and those that belong to neither."""

    by_node: Mapping[str, tuple[Diagnostic, ...]]
    by_move: Mapping[Spot, tuple[Diagnostic, ...]]
    others: tuple[Diagnostic, ...]


def spot(at: Place) -> Spot:
    """Return the spot of a place."""
    return at.file, at.pointer


def share(flow: Flow, diagnostics: Iterable[Diagnostic], trees: Mapping[str, Tree]) -> Found:
    """Give every diagnostic to the nodes or the move with the smallest place around it."""
    nodes = _nodes(flow, trees)
    moves = {spot(edge.at) for node in flow.nodes.values() for edge in node.edges} | {spot(e.at) for e in flow.lost}
    moves |= {spot(entry.at) for _, entry in (*flow.entries.items(), *flow.lost_entries)}
    scheduled = ((name, node) for name, schedule in flow.schedules.items() for node in schedule.needs)
    moves |= {spot(need.at) for name, node in scheduled for need in flow.list_needs(name, node)}
    by_node: dict[str, list[Diagnostic]] = {}
    by_move: dict[Spot, list[Diagnostic]] = {}
    others: list[Diagnostic] = []
    for each in diagnostics:
        file, pointer = each.at.file, each.at.pointer
        above = ((file, pointer[:length]) for length in range(len(pointer), -1, -1))
        around = next((at for at in above if at in nodes or at in moves), None)
        if around is None:
            others.append(each)
        elif around not in nodes:
            by_move.setdefault(around, []).append(each)
        for name in () if around is None else nodes.get(around, ()):
            by_node.setdefault(name, []).append(each)
    return Found(
        {name: tuple(found) for name, found in by_node.items()},
        {at: tuple(found) for at, found in by_move.items()},
        tuple(others),
    )


def _nodes(flow: Flow, trees: Mapping[str, Tree]) -> Mapping[Spot, tuple[str, ...]]:
    """Return whose a spot is; a file that defines one node is this node's as a whole."""
    defined = {name: definition_at(node, trees) for name, node in flow.nodes.items()}
    shared = Counter(at.file for at in defined.values())
    shared[flow.at.file] += 2
    found: dict[Spot, dict[str, None]] = {}
    for name, node in flow.nodes.items():
        at = defined[name]
        for place in (at if shared[at.file] > 1 else Place(at.file), *dict(node.parts).values()):
            if spot(place) != spot(flow.at):
                found.setdefault(spot(place), {})[name] = None
    return {at: tuple(names) for at, names in found.items()}


@value
class _Absent:
    """Nothing is written there, or it cannot be read."""


_ABSENT = _Absent()


def definition_at(node: FlowNode, trees: Mapping[str, Tree]) -> Place:
    """Return the place of the object that defines a node: its own place, or that of the object around it."""
    at = Place(node.at.file, node.at.pointer)
    if at.pointer and not isinstance(_value(at, trees), dict):
        return Place(at.file, at.pointer[:-1])
    return at


class Details:
    """The facts of files about nodes. A very long one is shortened: a thousand nodes may have one prompt or schema."""

    def __init__(self, trees: Mapping[str, Tree]) -> None:
        self._trees = trees
        self._memo = Memo()

    def of(self, node: FlowNode) -> dict[str, Json]:
        """Return the facts about a node by heading: `place`, `definition`, and its parts: `prompt`, `schema`."""
        at = definition_at(node, self._trees)
        found: dict[str, Json] = {"place": _address(at)}
        for heading, place in (("definition", at), *node.parts):
            written = self._memo.once(place, partial(self._read, place))
            if not isinstance(written, _Absent):
                found[heading] = written
        return found

    def _read(self, at: Place) -> Json | _Absent:
        # a value, or the text of a place that is no value
        written: Json | _Absent = _ABSENT
        tree = self._trees.get(at.file)
        if tree is not None and (at.range is not None or (not at.pointer and tree.value is None)):
            shown = tree.data.decode("utf-8-sig", errors="replace")
            written = shown[slice(*at.range)] if at.range is not None else shown
        elif tree is not None:
            written = _value(at, self._trees)
        if isinstance(written, _Absent):
            return written
        text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
        if len(text) <= _LONGEST:
            return written
        if isinstance(written, str):
            return f"{text[:_LONGEST]}…\n({len(text):,} characters: {_address(at)})"
        return f"{len(text):,} characters: {_address(at)}"


_LONGEST = 10_000
"""Characters of one prompt, schema or definition that a drawing has."""


def _address(at: Place) -> str:
    pointer = pointer_text(at.pointer)
    return f"{at.file}#{pointer}" if pointer else at.file


def _value(at: Place, trees: Mapping[str, Tree]) -> Json | _Absent:
    tree = trees.get(at.file)
    if tree is None:
        return _ABSENT
    found: Json | _Absent = tree.value
    for key in at.pointer:
        found = _member(found, key)
    return found


def _member(found: Json | _Absent, key: Key) -> Json | _Absent:
    inside: Json | _Absent = _ABSENT
    if isinstance(found, dict):
        inside = found.get(str(key), _ABSENT)
    elif isinstance(found, list) and isinstance(key, int) and 0 <= key < len(found):
        inside = found[key]
    return inside


def label(edge: WrittenEdge) -> str:
    """Return `ok`, or `ok: parsed.approved = true and parsed.severity in high, critical`; and how long it waits."""
    conditions = " and ".join(map(condition, edge.when))
    return f"{edge.on}: {conditions}{_delay(edge)}" if conditions else f"{edge.on}{_delay(edge)}"


def _delay(edge: WrittenEdge) -> str:
    return f", after {format_duration(edge.edge.wait)}" if edge.edge.wait else ""


def condition(term: Term) -> str:
    """Return a condition in words: `x = 1`, `x in a, b`, `x present`, `x absent`."""
    path = ".".join(map(str, term.path))
    if isinstance(term, Exists):
        return f"{path} present" if term.present else f"{path} absent"
    values = term.values if isinstance(term, Among) else term.texts
    told = ", ".join(map(_format, values))
    return f"{path} = {told}" if len(values) == 1 else f"{path} in {told}"


def _format(value: Json) -> str:
    """Return a value as people write it: a text that could be nothing else without quotes."""
    bare = isinstance(value, str) and value not in {"", "true", "false", "null"} and not value[:1].isdigit()
    return str(value) if bare and "," not in str(value) else json.dumps(value, ensure_ascii=False)


After = tuple[str, bool] | None
"""The node that starts when a scope has ended, and whether it is the next of a chain; None ends the run."""


_MOST = 50
"""Scopes that one node is drawn in; flows of people have one or two."""


def follow_ups(flow: Flow) -> Mapping[str, tuple[After, ...]]:
    """Return for each node what may follow when it ends the scope it runs in, in the order in which it is found."""
    found: dict[str, dict[After, None]] = {name: {} for name in flow.nodes}
    picked: set[tuple[int, After]] = set()
    every = (edge.target for node in flow.nodes.values() for edge in node.edges)
    led = {name for target in every if not isinstance(target, Named) for name in list_targets(target)}
    led |= {name for target, _ in flow.choices for name in target.nodes.values()}
    begun = [entry.node for entry in flow.begun if entry.node in flow.nodes]
    for roots in (begun, [name for name in flow.nodes if name not in led]):
        _spread(flow, found, picked, [(name, None) for name in roots if not found[name]])
    for name in flow.nodes:
        _spread(flow, found, picked, [(name, None)] if not found[name] else [])
    return {name: tuple(after) for name, after in found.items()}


def openings(target: Target, after: After) -> Iterator[tuple[str, After]]:
    """Yield each node that runs because of a target, with what follows when it has ended."""
    if isinstance(target, Chain | ForEach):
        join = target.join if isinstance(target, ForEach) else None
        last: After = after if join is None else (join, False)
        for at, name in enumerate(target.nodes, 1):
            yield name, (target.nodes[at], True) if at < len(target.nodes) else last
        yield from () if join is None else ((join, after),)
    elif isinstance(target, Fork) and target.join is not None:
        yield target.join, after
        yield from ((name, (target.join, False)) for name in target.nodes)
    else:
        yield from ((name, after) for name in list_targets(target))


def _spread(
    flow: Flow,
    found: Mapping[str, dict[After, None]],
    picked: set[tuple[int, After]],
    todo: list[tuple[str, After]],
) -> None:
    while todo:
        name, after = todo.pop()
        if name not in found or after in found[name] or len(found[name]) == _MOST:
            continue
        found[name][after] = None
        for edge in flow.nodes[name].edges:
            if not isinstance(edge.target, Named):
                todo.extend(openings(edge.target, after))
            elif (id(edge.target), after) not in picked:
                picked.add((id(edge.target), after))
                todo.extend(openings(edge.target, after))


def find_shared_choices(flow: Flow) -> Mapping[str, Named]:
    """Return the common targets of the answers of several nodes, by the id of the box where their ways meet."""
    shared = (target for target, edges in flow.choices if edges > 1)
    return {choice_of(at): target for at, target in enumerate(shared, 1)}


def lines_of(flow: Flow, found: Found) -> tuple[Line, ...]:
    """Return every line; those between the same boxes with the same stroke are one with several labels."""
    return merge(_Lines(flow, found).all())


def merge(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Make one line of parallel ones of which the same has become, with the labels and diagnostics of all."""
    known: dict[tuple[object, ...], _Bundle] = {}
    for line in lines:
        key = line.source, line.target, line.stroke, line.is_guess, line.fate
        bundle = known.setdefault(key, _Bundle(line, {}, {}, {}))
        bundle.labels.update(dict.fromkeys(line.labels))
        bundle.before.update(dict.fromkeys(line.before))
        bundle.found.update({id(each): each for each in line.found})
    return tuple(each.line() for each in known.values())


@value
class _Bundle:
    """Parallel lines."""

    first: Line
    labels: dict[str, None]
    before: dict[str, None]
    found: dict[int, Diagnostic]

    def line(self) -> Line:
        """Return them as one."""
        found = tuple(self.found.values())
        return replace(self.first, labels=tuple(self.labels), before=tuple(self.before), found=found)


class _Lines:
    """The lines of one flow, in its order."""

    def __init__(self, flow: Flow, found: Found) -> None:
        self._flow = flow
        self._found = found.by_move
        self._after = follow_ups(flow)
        self._joined: set[str] = set()
        self._scheduled = {name for schedule in flow.schedules.values() for name in schedule.needs}
        self._choices = {id(target): box for box, target in find_shared_choices(flow).items()}
        self._chosen = {(edge.source, edge.on) for node in flow.nodes.values() for edge in node.edges if edge.when}

    def all(self) -> Iterator[Line]:
        """Yield entries first, then the moves of every node, then what was lost and joins that nothing came to."""
        for _, entry in (*self._flow.entries.items(), *self._flow.lost_entries):
            found = self._found.get(spot(entry.at), ())
            yield Line(start_of(self._flow, entry.node), self._box(entry.node), Stroke.ENTRY, found=found)
        for name, schedule in self._flow.schedules.items():
            yield from self._schedule(name, schedule)
        for node in self._flow.nodes.values():
            for edge in node.edges:
                yield from self._moves(node, edge)
        for box, target in find_shared_choices(self._flow).items():
            yield from (Line(box, self._box(name), Stroke.GO) for name in list_targets(target))
        for edge in self._flow.lost:
            yield from self._forward(edge)
        yield from self._joins()

    def _schedule(self, name: str, schedule: Schedule) -> Iterator[Line]:
        """Yield a line to each node from those that it needs, and to the end from those that nobody needs.

        Every node ends the run when it fails: lines would say nothing.
        """
        critical = {*pairwise(self._flow.find_critical(name))}
        for node, needs in schedule.needs.items():
            if not needs:
                yield Line(schedule_of(name), self._box(node), Stroke.ENTRY)
            stroke = Stroke.GO if len(needs) == 1 else Stroke.JOIN
            for each in self._flow.list_needs(name, node):
                # what is said of a need: nothing would be gained by making any other chain of nodes faster
                told = (
                    *(("critical path",) if ((each.node, node) in critical) else ()),
                    *(("inferred",) if each.inferred else ()),
                )
                found = self._found.get(spot(each.at), ())
                yield Line(self._box(each.node), self._box(node), stroke, told, found)
        needed = {each for needs in schedule.needs.values() for each in needs}
        yield from (Line(self._box(node), DONE, Stroke.END) for node in schedule.needs if node not in needed)

    def _moves(self, node: FlowNode, edge: WrittenEdge) -> Iterator[Line]:
        target = edge.target
        if isinstance(target, Named) and id(target) in self._choices:
            yield self._from(edge, self._choices[id(target)], Stroke.GO)
        elif not isinstance(target, Stop):
            yield from self._forward(edge)
        elif node.id in self._scheduled:
            return
        elif target.outcome is not Outcome.DONE:
            yield self._from(edge, FAILED if target.outcome is Outcome.FAILED else INTERRUPTED, Stroke.END)
        else:
            for after in self._after[node.id]:
                yield self._end(edge, after)

    def _end(self, edge: WrittenEdge, after: After) -> Line:
        if after is None:
            return self._from(edge, DONE, Stroke.END)
        self._joined.add(after[0])
        return self._from(edge, self._box(after[0]), Stroke.CHAIN if after[1] else Stroke.JOIN)

    def _forward(self, edge: WrittenEdge) -> Iterator[Line]:
        """Yield a line to every node that a target opens: of a chain the first leads to the next."""
        target, opened, stroke = edge.target, list_opened(edge.target), Stroke.GO
        if isinstance(target, Chain | ForEach):
            opened, stroke = opened[:1], Stroke.CHAIN if isinstance(target, Chain) else Stroke.FORK
        elif isinstance(target, Fork) and len(opened) > 1:
            stroke = Stroke.FORK
        yield from (self._from(edge, self._box(name), stroke) for name in opened)
        later = Stroke.CHAIN if isinstance(target, Chain) else Stroke.JOIN
        for name in list_targets(target):
            if name not in self._flow.nodes and name not in opened:
                yield self._from(edge, self._box(name), later)

    def _joins(self) -> Iterator[Line]:
        """Yield a line to every join that no end of a branch leads to, from the branches themselves."""
        every = (edge.target for node in self._flow.nodes.values() for edge in node.edges)
        forks = [(target.join, target.nodes) for target in every if isinstance(target, Fork | ForEach) and target.join]
        lacking = {join for join, _ in forks} & self._flow.nodes.keys() - self._joined
        for join, nodes in forks:
            if join in lacking:
                yield from (Line(self._box(name), box_of(join), Stroke.JOIN) for name in nodes)

    def _from(self, edge: WrittenEdge, target: str, stroke: Stroke) -> Line:
        known = self._found.get(spot(edge.at), ())
        guess = edge.repair and len(list_opened(edge.target)) == 1
        otherwise = not edge.when and (edge.source, edge.on) in self._chosen
        told = f"{edge.on}: otherwise{_delay(edge)}" if otherwise else label(edge)
        each = (edge.target.elements,) if isinstance(edge.target, ForEach) else ()
        return Line(box_of(edge.source), target, stroke, (told, *each), () if guess else known, guess)

    def _box(self, name: str) -> str:
        return box_of(name) if name in self._flow.nodes else missing_of(name)
