"""Makes the plans of a project's flows when somebody asks for them; the plan of an orchestrator has others in it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from stagec.core.collector import PausedCollector
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.sources.read import Sources

if TYPE_CHECKING:
    from stagec.plan import Plan
    from stagec.plan.document import Draft


class PlanMaker:
    """Knows how the draft of each flow is made, and the file that declares the flow."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._drafts: list[tuple[str, Callable[[], Draft]]] = []

    def add(self, file: str, make_draft: Callable[[], Draft]) -> Callable[[], Plan]:
        """Return what makes the plan of a flow; it raises `MissingAgentError` for an agent that has no flow."""
        self._drafts.append((file, make_draft))
        return partial(self._make, file, make_draft)

    def _make(self, file: str, make_draft: Callable[[], Draft]) -> Plan:
        from stagec.freeze import freeze  # most runs only check

        with PausedCollector():
            draft, agents = make_draft(), {}
            for name, folder in draft.agents.items():
                declared, make_inner = self._find(name, folder)
                inner = make_inner()
                draft = replace(draft, files=draft.files | inner.files)
                agents[name] = freeze(inner, self._sources, declared)
            return freeze(draft, self._sources, file, agents)

    def _find(self, name: str, folder: str) -> tuple[str, Callable[[], Draft]]:
        """Return the flow of an agent: the only one that is declared in its folder."""
        from stagec.freeze import MissingAgentError

        found = [each for each in self._drafts if posixpath.dirname(each[0]) == folder]
        if len(found) != 1:
            many = "no flow" if not found else "several flows"
            raise MissingAgentError(f"its agent {quote(name)} has {many} in {quote(folder)} among the files named")
        return found[0]
