"""Compare a plan with the one that its flow compiles to now, and tell in words which parts differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from stagec.cli.git import find_commit
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Frozen, Refused
from stagec.cli.streams import show_progress
from stagec.core.diagnostic import Severity
from stagec.core.json import Json, Object, object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.words import quote
from stagec.ir.freeze import find_source
from stagec.ir.plan import Plan
from stagec.ir.plan.loader import read_frame

_MOST = 10
"""Differences that are printed of one plan."""


class SourceProject:
    """A project in which the flows of plans are looked up."""

    def __init__(self, paths: tuple[Path, ...], root: Path | None, *, reachable: bool = False) -> None:
        with show_progress("compiling …"):
            configuration = load_configuration(paths, root)
            make = Freezer.of_reachable if reachable else Freezer
            self._freezer = make(configuration, paths)

    def compare(self, plan: Plan, data: bytes) -> tuple[str, ...]:
        """Return the remarks if a plan differs from the compiled flow: the first line, and details."""
        made = tuple(self._compile(plan.id))
        whole = [each.data for each in made if isinstance(each, Frozen)]
        if data in whole:
            return ()
        if whole:
            limit: list[str] = []
            found = find_differences(data, whole[0])
            limit.extend(islice(found, _MOST))
            more = sum(1 for _ in found)
            if more:
                limit.append(f"and {more} more")
            return (":", *limit)
        for each in made:
            if isinstance(each, Refused):
                return (f": the flow is not compiled: {each.advice}",)
        near = hint(plan.id, NameIndex(flow.id for flow in self._freezer.compilation.flows))
        return (f": they hold no flow called {quote(plan.id)}{near}",)

    def count_findings(self, plan: Plan) -> Mapping[str, int]:
        """Return how many findings of each severity concern the flow of a plan."""
        compilation = self._freezer.compilation
        flows = [flow for flow in compilation.flows if flow.id == plan.id]
        found = Counter(each.severity for each in self._freezer.concerning(flows, compilation.diagnostics))
        return {f"{severity.value}s": found[severity] for severity in Severity}

    def find_revision(self, plan: Plan) -> str | None:
        """Return the git commit that is checked out, if every source of a plan is in it, byte for byte."""
        root = self._freezer.root
        flows = [flow for flow in self._freezer.compilation.flows if flow.id == plan.id]
        files = {find_source(flows[0].at.file, name): held for name, held in plan.sources.items()} if flows else {}
        return find_commit(root, files) if files else None

    def _compile(self, name: str) -> Iterator[Frozen | Refused]:
        with show_progress("compiling …"):
            for each in self._freezer.compilation.meanings:
                if each.flow.id == name:
                    yield self._freezer.freeze(each)


_TABLES = {
    "entries": "entry",
    "nodes": "node",
    "inputs": "input",
    "validators": "validator",
    "tools": "tool",
    "servers": "server",
    "sources": "source",
}
"""The name of a member of each table of a plan."""
_SOURCES = "sources"
_ACT = "act"
_IMPLIED = "contents"
"""Texts under their digests: whatever refers to another text differs itself."""


def find_differences(held: bytes, made: bytes) -> Iterator[str]:
    """Yield the parts in which the plan that a file holds differs from the one its sources were compiled to."""
    one, other = _read_payload(held), _read_payload(made)
    found = False
    for sentence in (*_compare_members(one, other), *_compare_tables(one, other)):
        found = True
        yield sentence
    if not found and held != made:
        yield "contents differ"


def _read_payload(data: bytes) -> Object:
    _, payload = read_frame(data)
    return object_of(json.loads(payload))


def _compare_members(one: Object, other: Object) -> Iterator[str]:
    for name in _find_differing(one, other):
        if name not in _TABLES and name != _IMPLIED:
            yield f"{name} {'differ' if name.endswith('s') else 'differs'}"


def _compare_tables(one: Object, other: Object) -> Iterator[str]:
    for name, noun in _TABLES.items():
        held, made = object_of(one.get(name)), object_of(other.get(name))
        for member in _find_differing(held, made):
            thing = f"{noun} {quote(member)}"
            if member not in made:
                yield f"{thing} is in the plan only"
            elif member not in held:
                yield f"{thing} is not in the plan"
            else:
                parts = ", ".join(_find_parts(held[member], made[member]))
                yield f"{thing} differs" + (f": {parts}" if parts else "")


def _find_parts(held: Json, made: Json) -> Iterator[str]:
    """Yield the members in which two objects differ; what a node does is taken apart too, if it does the same."""
    one, other = object_of(held), object_of(made)
    for name in _find_differing(one, other):
        inside = _find_differing(object_of(one.get(name)), object_of(other.get(name))) if name == _ACT else ["is"]
        yield from [name] if "is" in inside else inside


def _find_differing(one: Mapping[str, Json], other: Mapping[str, Json]) -> list[str]:
    """Return the names of the members that differ, sorted; an absent member differs from any value."""
    return [name for name in sorted({*one, *other}) if name not in one or name not in other or one[name] != other[name]]
