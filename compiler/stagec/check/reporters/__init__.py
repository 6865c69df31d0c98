"""Shelf: one child per way of printing a report, each defining one `Reporter`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.terminal import Canvas
from stagec.core.value import NOTHING, value
from stagec.core.words import format_count
from stagec.ir.flow import Flow
from stagec.sources.tree import Tree

__all__ = ["Canvas", "Diagnostic", "Flow", "Report", "Reporter", "Severity", "Tree", "format_count"]


@value
class Report:
    """The content of a report: diagnostics in the order of printing, the flows found, and every file read, by name.

    A `quiet` report holds diagnostics only. `excerpts` are lines, by number, of files that nobody keeps. Rules whose
    codes are `explained` need not be explained again. `name_file` returns the path of a file as the reader writes it,
    `name_in_repository` the path from the top of the repository, as build services write it. `explain` returns the page
    of a rule, in Markdown, by its code; `documentation` is the address of the site with all. `suppressed` counts what
    files silence, `known` what the baseline accepts. `unread` is what was seen and not read.
    """

    diagnostics: tuple[Diagnostic, ...]
    flows: tuple[Flow, ...] = ()
    trees: Mapping[str, Tree] = NOTHING
    canvas: Canvas = Canvas()
    quiet: bool = False
    excerpts: Mapping[str, Mapping[int, str]] = NOTHING
    explained: frozenset[str] = frozenset()
    name_file: Callable[[str], str] = str
    name_in_repository: Callable[[str], str] = str
    explain: Callable[[str], str] = str
    documentation: str | None = None
    suppressed: int = 0
    known: int = 0
    unread: tuple[str, ...] = ()

    def counts(self) -> Mapping[Severity, int]:
        """Return how many diagnostics there are of every severity, heaviest first."""
        found = Counter(each.severity for each in self.diagnostics)
        return {severity: found[severity] for severity in Severity}


@value
class Reporter:
    """A named way of printing a report; the text it returns ends with a line feed unless it is empty."""

    name: str
    render: Callable[[Report], str]
