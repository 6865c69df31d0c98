"""Which diagnostics concern a flow, judged by the files they are in."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable

from stagec.core.diagnostic import Diagnostic
from stagec.model.flow import Flow


class Concerns:
    """Diagnostics by file, and by the folder of the flow that lies nearest: made once for all flows of a project."""

    def __init__(self, flows: Iterable[Flow], diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        folders = {posixpath.dirname(each.at.file) for each in flows}
        self._by_file: dict[str, list[int]] = {}
        for index, each in enumerate(self.diagnostics):
            self._by_file.setdefault(each.at.file, []).append(index)
        self._files_near: dict[str | None, list[str]] = {}
        for file in self._by_file:
            self._files_near.setdefault(_nearest(file, folders), []).append(file)

    def of(self, flow: Flow, others: Collection[str] = ()) -> tuple[Diagnostic, ...]:
        """Return the diagnostics in files that a flow is made of, in those nearest to its own, and in `others`."""
        parts = (each.file for node in flow.nodes.values() for each in (node.at, *dict(node.parts).values()))
        near = self._files_near.get(posixpath.dirname(flow.at.file), ())
        files = {flow.at.file, *parts, *near, *others}
        found = sorted(index for file in files for index in self._by_file.get(file, ()))
        return tuple(self.diagnostics[index] for index in found)


def _nearest(file: str, folders: Collection[str]) -> str | None:
    folder = posixpath.dirname(file)
    while folder not in folders:
        if not folder:
            return None
        folder = posixpath.dirname(folder)
    return folder
