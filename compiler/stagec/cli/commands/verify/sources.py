"""What the flows of plans compile to now."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from stagec.cli.commands.verify.differences import differences
from stagec.cli.frozen import Freezer, Frozen, Refused
from stagec.cli.limits import configured
from stagec.cli.progress import progress
from stagec.core.nearest import Names, hint
from stagec.core.words import quote
from stagec.plan import Plan

_MOST = 10
"""Differences that are told of one plan."""


class Sources:
    """A project in which the flows of plans are looked up."""

    def __init__(self, paths: tuple[Path, ...], root: Path | None) -> None:
        with progress("compiling …"):
            configuration = configured(paths, root)
            self._root = configuration.root.absolute()
            self._freezer = Freezer(configuration, paths)

    def compare(self, plan: Plan, data: bytes) -> tuple[str, ...]:
        """Return what is to be said when a plan is not what its flow compiles to: the first line, and details."""
        made = tuple(self._made(plan.id))
        whole = [each.data for each in made if isinstance(each, Frozen)]
        if data in whole:
            return ()
        if whole:
            return (":", *_told(differences(data, whole[0], self._root)))
        for each in made:
            if isinstance(each, Refused):
                return (f": the flow is not compiled: {each.reason}; 'stagec validate' says what is wrong",)
        near = hint(plan.id, Names(flow.id for flow in self._freezer.compilation.flows))
        return (f": they hold no flow called {quote(plan.id)}{near}",)

    def _made(self, name: str) -> Iterator[Frozen | Refused]:
        with progress("compiling …"):
            for each in self._freezer.compilation.meanings:
                if each.flow.id == name:
                    yield self._freezer.freeze(each)


def _told(found: Iterator[str]) -> Iterator[str]:
    yield from islice(found, _MOST)
    more = sum(1 for _ in found)
    if more:
        yield f"and {more} more"
