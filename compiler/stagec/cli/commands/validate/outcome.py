"""What a run of `stagec validate` prints, and the exit status it deserves."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable

from stagec import reporters
from stagec.cli.commands.validate.request import Request
from stagec.cli.files import write_file
from stagec.cli.streams import canvas, put, put_aside
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import member
from stagec.core.words import listing
from stagec.pipeline import Compilation, Project
from stagec.reporters import Canvas, Report, Reporter


def report(request: Request, project: Project, compilation: Compilation) -> Exit:
    """Print what was found and return the exit status that it deserves."""
    if not compilation.trees:
        raise Failure(f"nothing to check: {_looked_in(project)} holds nothing that stagec reads", Exit.NOTHING)
    form = project.settings.output_format
    text = _rendered(request, form, compilation)
    statistics = _statistics(compilation.diagnostics) if request.statistics else ""
    if statistics and form == "text":
        text, statistics = f"{text}\n{statistics}", ""
    if request.output is None:
        put(text)
    else:
        write_file(request.output, text.encode(errors="backslashreplace"))
    put_aside(statistics)
    return _status(compilation.diagnostics, project.settings.fail_on)


def _rendered(request: Request, form: str, compilation: Compilation) -> str:
    reporter = member(reporters, form, Reporter)
    paper = canvas(sys.stdout, os.environ) if request.output is None else Canvas()
    found = compilation.diagnostics
    return reporter.render(Report(found, compilation.flows, compilation.trees, paper, request.quiet))


def _looked_in(project: Project) -> str:
    return listing([os.path.relpath(path) for path in project.paths or (project.root,)])


def _statistics(found: Iterable[Diagnostic]) -> str:
    counts = Counter((each.code, each.name, each.severity) for each in found)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{number:>6}  {severity:<7}  {code}  {name}\n" for (code, name, severity), number in ranked)


def _status(found: Iterable[Diagnostic], fail_on: Severity | None) -> Exit:
    fails = fail_on is not None and any(each.severity.weight >= fail_on.weight for each in found)
    return Exit.FINDINGS if fails else Exit.CLEAN
