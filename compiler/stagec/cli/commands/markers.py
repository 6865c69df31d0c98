"""`stagec markers`: what is wrong with the markers in a log, while it is written."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from stagec.check import reporters
from stagec.check.marker_log import JudgedLine, MarkerLog
from stagec.check.reporters import Report, Reporter
from stagec.check.rules.markers import FAMILY
from stagec.cli import options
from stagec.cli.files import STDIN, explain_unread
from stagec.cli.limits import load_configuration
from stagec.cli.streams import find_canvas, is_read, put, put_error
from stagec.core.bounded import read_pieces
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import member, names
from stagec.core.value import replace, value
from stagec.core.words import format_count
from stagec.ir.protocol.markers import Marker, MarkerParser
from stagec.sources.formats.plain import FORMAT
from stagec.sources.project.settings import Selection, Settings
from stagec.sources.tree import Tree


@value
class MarkersRequest:
    """The arguments and options as given; None where one is absent."""

    file: Path
    stage: str | None = None
    lists: bool = False
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    output_format: str | None = None
    fail_on: str | None = None
    statistics: bool = False
    quiet: bool = False

    @property
    def name(self) -> str:
        """The name of the log in reports."""
        return "<stdin>" if self.file == STDIN else str(self.file)

    def find_settings(self) -> Settings:
        """Return the settings of the project that the log is in, with what the command line decides."""
        named = {
            "select": self.select,
            "extend-select": self.extend_select,
            "ignore": self.ignore,
            "output-format": self.output_format,
            "fail-on": self.fail_on,
        }
        overrides = {name: given for name, given in named.items() if given is not None}
        return load_configuration(() if self.file == STDIN else (self.file,), None, overrides).settings


def run(request: MarkersRequest) -> Exit:
    """Do what was asked and return the exit status."""
    with _open_log(request.file) as pieces:
        if request.lists:
            _list_markers(pieces)
            return Exit.CLEAN
        settings = request.find_settings()
        log = MarkerLog(request.name, _select(settings), request.stage)
        if not log.rules:
            raise Failure("no rule about markers is selected", Exit.NOTHING)
        printer = LogPrinter(log, request, settings.output_format)
        if all(printer.print_lines(log.feed(piece)) for piece in pieces) and printer.print_lines(log.close()):
            printer.print_end()
        fails = settings.fail_on is not None and any(each.weight >= settings.fail_on.weight for each in log.found)
        return Exit.FINDINGS if fails else Exit.CLEAN


@contextmanager
def _open_log(path: Path) -> Iterator[Iterator[bytes]]:
    try:
        if path == STDIN:
            yield read_pieces(sys.stdin.fileno())
        else:
            with open(path, "rb", buffering=0) as stream:
                yield read_pieces(stream.fileno())
    except OSError as error:
        raise Failure(explain_unread(path, error)) from error


def _list_markers(pieces: Iterable[bytes]) -> None:
    parser = MarkerParser()
    for piece in pieces:
        if not (put("".join(_describe(each) for each in parser.feed(piece))) and is_read()):
            return
    put("".join(_describe(each) for each in parser.close()))


def _describe(marker: Marker) -> str:
    from json import dumps  # needed for lists only

    described = {
        "line": marker.line,
        "type": marker.type,
        "subtype": marker.subtype,
        "attributes": dict(marker.attributes),
        "content": marker.content,
        "valid": marker.valid,
        "category": marker.category,
    }
    return dumps(described).replace("##", "#\\u0023") + "\n"


def _select(settings: Settings) -> Selection:
    """Return the selected rules; names of other rules are known as well, since a configuration is about all of them."""
    if settings.selects_nothing:
        return Selection.of(settings, (FAMILY,))
    from stagec.check.pipeline import list_families

    return Selection.of(settings, list_families())


class LogPrinter:
    """Prints findings about one log: at once, or all at the end where the form is one document."""

    def __init__(self, log: MarkerLog, request: MarkersRequest, form: str) -> None:
        self._log = log
        self._request = request
        self._form = form
        self._reporter = member(reporters, form, Reporter)
        self._canvas = find_canvas(sys.stdout, os.environ)
        self._kept: list[Diagnostic] = []
        self._counts: Counter[tuple[str, str, Severity]] = Counter()

    def print_lines(self, lines: list[JudgedLine]) -> bool:
        """Print what was found in some lines; tell whether anybody still reads."""
        found = tuple(diagnostic for each in lines for diagnostic in each.diagnostics)
        explained = frozenset(code for code, _, _ in self._counts)
        self._counts.update((each.code, each.name, each.severity) for each in found)
        if self._form == "json":
            self._kept += found
            return is_read()
        excerpts = {self._request.name: {each.marker.line: each.excerpt for each in lines}}
        report = Report(found, canvas=self._canvas, quiet=True, excerpts=excerpts, explained=explained)
        return put(self._reporter.render(report)) if found else is_read()

    def print_end(self) -> None:
        """Print what only the whole log tells."""
        if self._form == "json":
            name = self._request.name
            put(self._reporter.render(Report(tuple(self._fold()), trees={name: Tree(name, "log", FORMAT)})))
        elif self._form == "text" and not self._request.quiet:
            put(f"{self._summarize()}\n")
        if self._request.statistics:
            ranked = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
            rows = (f"{number:>6}  {severity:<7}  {code}  {name}\n" for (code, name, severity), number in ranked)
            put_error("".join(rows))

    def _fold(self) -> Iterator[Diagnostic]:
        """Yield the findings, the last of each rule with the number of those that were left out."""
        last = {each.code: each for each in self._kept}
        for each in self._kept:
            folded = self._log.folded[each.code] if last[each.code] is each else 0
            yield replace(each, folded=folded) if folded else each

    def _summarize(self) -> str:
        seen = f"{format_count(self._log.markers, 'marker')} in {format_count(self._log.lines, 'line')}"
        found = [format_count(self._log.found[each], each) for each in Severity if self._log.found[each]]
        if not found:
            return f"All clear: {seen}"
        folded = self._log.folded.total()
        more = f", and {folded} more that are not shown" if folded else ""
        return f"Found {', '.join(found)}{more} (checked {seen})"


@click.command(short_help="Check the markers in a log or a pipe.")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--stage", metavar="ID", help="The stage that writes the log: markers of other stages are errors.")
@click.option("--list", "lists", is_flag=True, help="Print every marker as a line of JSON, and check nothing.")
@options.select
@options.extend_select
@options.ignore
@options.output_format(*names(reporters), default=None)
@options.fail_on
@click.option("--statistics", is_flag=True, help="Also count the findings of every rule.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.pass_context
def markers(context: click.Context, /, **given: Any) -> None:
    """Check the markers in FILE, such as [STAGE:begin:id=S01_load_data], and report every mistake at its line.

    `-` reads standard input: `tail -f run.log | stagec markers -` reports while the log is written. Memory does not
    grow with the log. It reports the first 1,000 findings of each rule.

    Exit status: 0 no findings, 1 findings at or above --fail-on, 2 usage or environment, 4 internal error.
    """
    context.exit(run(MarkersRequest(**given)))
