"""Which node or move of a flow a diagnostic belongs to, and what files say of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

from stagec.core.diagnostic import Diagnostic
from stagec.core.json import Json
from stagec.core.memo import Memo
from stagec.core.place import Key, Place, Pointer, pointer_text
from stagec.core.value import value
from stagec.model.flow import Flow, Node
from stagec.sources.tree import Tree

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
    moves |= {spot(n.at) for each in flow.schedules.values() for needs in each.needs.values() for n in needs}
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


def definition_at(node: Node, trees: Mapping[str, Tree]) -> Place:
    """Return the place of the object that defines a node: its place, or what that is a member of."""
    at = Place(node.at.file, node.at.pointer)
    if at.pointer and not isinstance(_value(at, trees), dict):
        return Place(at.file, at.pointer[:-1])
    return at


class Details:
    """What files say of nodes. What is very long is shortened: a thousand nodes may have one prompt or schema."""

    def __init__(self, trees: Mapping[str, Tree]) -> None:
        self._trees = trees
        self._memo = Memo()

    def of(self, node: Node) -> dict[str, Json]:
        """Return what is known of a node by heading: `place`, `definition`, and its parts: `prompt`, `schema`."""
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
