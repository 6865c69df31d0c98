"""Validate a project as asked; `--fix` and `--diff` apply fixes in memory, then write or show the result."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from stagec.cli.commands.validate.report import ValidateRequest, print_report
from stagec.cli.files import write_files
from stagec.cli.options import load_configuration
from stagec.cli.streams import put, put_bytes, say, show_progress
from stagec.core.failure import Exit
from stagec.core.value import replace, value
from stagec.core.words import format_count, visible
from stagec.pipeline import Compilation, Project, compile_project

_ROUNDS = 10


@value
class FixedProject:
    """A project with its fixes applied: what remains wrong, each changed file before and after, and the count."""

    compilation: Compilation
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    settled: int


def show_or_fix(request: ValidateRequest, project: Project) -> Exit:
    """Print or write the fixes of a project, and return the exit status."""
    with show_progress("checking …"):
        result = _apply_fixes(project)
    if request.diff:
        # print exact bytes for `patch`, and nothing that could play tricks to a terminal
        rows = [
            row for file in sorted(result.after) for row in _make_diff(file, result.before[file], result.after[file])
        ]
        if sys.stdout.isatty():
            put("".join(f"{visible(row[:-1])}\n" for row in rows))
        else:
            put_bytes("".join(rows).encode(errors="surrogateescape"))
        return Exit.FINDINGS if result.after else Exit.CLEAN
    write_files(project.root, result.after, result.before)
    status = print_report(request, project, result.compilation)
    if not request.quiet:
        say(f"Fixed {format_count(result.settled, 'finding')}")
    return status


def _apply_fixes(project: Project) -> FixedProject:
    from stagec.fixes import apply_fixes  # most runs apply no fix

    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    settled = 0
    for _ in range(_ROUNDS):
        compilation = compile_project(project)
        fixed = apply_fixes(compilation.diagnostics, compilation.trees)
        if not fixed.files:
            return FixedProject(compilation, before, after, settled)
        for file, (old, new) in fixed.files.items():
            before.setdefault(file, old)
            after[file] = new
        settled += fixed.settled
        project = replace(project, overlay={**project.overlay, **after})
    return FixedProject(compile_project(project), before, after, settled)


def _make_diff(file: str, before: bytes, after: bytes) -> Iterator[str]:
    from difflib import unified_diff

    name = visible(file)
    for row in unified_diff(_split_rows(before), _split_rows(after), f"a/{name}", f"b/{name}"):
        yield row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"


def _split_rows(data: bytes) -> list[str]:
    """Split at line feeds only, as `patch` does."""
    rows = data.decode(errors="surrogateescape").split("\n")
    return [f"{row}\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])


def run(request: ValidateRequest) -> Exit:
    """Do what was asked and return the exit status."""
    request.refuse_contradictions()
    configuration = load_configuration(request.targets(), request.root, request.overrides())
    paths = tuple(path.absolute() for path in request.targets())
    overlay = request.overlay(configuration.root)
    project = Project(configuration.root, paths, configuration.settings, overlay)
    if request.fix or request.diff:
        return show_or_fix(request, project)
    with show_progress("checking …"):
        compilation = compile_project(project)
    return print_report(request, project, compilation)
