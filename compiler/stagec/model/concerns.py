"""Which diagnostics concern a flow, judged by the files they are in."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable

from stagec.core.diagnostic import Diagnostic
from stagec.model.flow import Flow


def concerning(flow: Flow, flows: Iterable[Flow], diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics in files that a flow is made of, and in those nearest to its own."""
    own = {flow.at.file, *(each.file for node in flow.nodes.values() for each in (node.at, *dict(node.parts).values()))}
    folders = {posixpath.dirname(each.at.file) for each in flows}
    home = posixpath.dirname(flow.at.file)
    return tuple(each for each in diagnostics if each.at.file in own or _nearest(each.at.file, folders) == home)


def _nearest(file: str, folders: Collection[str]) -> str | None:
    folder = posixpath.dirname(file)
    while folder not in folders:
        if not folder:
            return None
        folder = posixpath.dirname(folder)
    return folder
