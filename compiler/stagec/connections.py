"""Agents that documents of one system call and that are described in another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from stagec.core.value import replace
from stagec.frontends import AnyFrontEnd, Flow
from stagec.model.agent import CalledAgent
from stagec.sources.read import Sources

D = TypeVar("D")


class Agents:
    """The agents of one project, by the files of their definitions; each is described when something calls it."""

    def __init__(self, sources: Sources, ends: Iterable[AnyFrontEnd]) -> None:
        self._sources = sources
        self._ends = tuple(end for end in ends if end.describe is not None)
        self._read: list[tuple[AnyFrontEnd, object, Flow]] = []
        self._known: dict[str, CalledAgent | None] = {}

    def note(self, end: AnyFrontEnd, document: object, flow: Flow) -> None:
        """Keep a document that may describe an agent."""
        self._read.append((end, document, flow))

    def connect(self, end: AnyFrontEnd, document: D) -> D:
        """Return a document that knows the agents that it calls."""
        if end.connect is None:
            return document
        connected: D = end.connect(document, self.find)
        return connected

    def find(self, file: str) -> CalledAgent | None:
        """Return the agent with this definition, having read it if nobody has; nothing where there is none."""
        self._describe_read()
        if file not in self._known:
            self._known[file] = None
            for end in self._ends:
                if end.claims(file) and self._sources.exists(file):
                    self._read.extend(self._read_for(end, file))
            self._describe_read()
        return self._known[file]

    def _read_for(self, end: AnyFrontEnd, file: str) -> Iterator[tuple[AnyFrontEnd, object, Flow]]:
        for document in end.read(self._sources, (file,)):
            flow = end.lower(document)
            if flow is not None:
                yield end, document, flow

    def _describe_read(self) -> None:
        while self._read:
            end, document, flow = self._read.pop()
            found = end.describe(document, flow) if end.describe is not None else None
            if found is not None:
                access = next(iter(end.grant(document, flow, self._sources)), None)
                self._known[found.at.file] = replace(found, access=access)
