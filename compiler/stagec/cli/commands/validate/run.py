"""`stagec validate` as asked: check a project, print the report, and apply or show fixes."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from stagec import reporters
from stagec.cli.files import read_file, write_file, write_files
from stagec.cli.options import load_configuration
from stagec.cli.streams import find_canvas, put, put_bytes, put_error, say, show_progress
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import member
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import format_count, listing, visible
from stagec.pipeline import Compilation, Project, compile_project
from stagec.reporters import Canvas, Report, Reporter

_STDIN = Path("-")
_STRICT = {"strict": Severity.ERROR.value}
"""The severity of the rules of this group with `--strict`."""


@value
class ValidateRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    output_format: str | None = None
    fail_on: str | None = None
    strict: bool = False
    fix: bool = False
    diff: bool = False
    statistics: bool = False
    output: Path | None = None
    quiet: bool = False
    stdin_filename: str | None = None
    no_cache: bool = False

    def refuse_contradictions(self) -> None:
        """Raise `Failure` when options cannot be meant together."""
        if self.fix and self.diff:
            raise Failure("--fix and --diff exclude each other")
        if _STDIN not in self.paths:
            if self.stdin_filename is not None:
                raise Failure("--stdin-filename needs '-' among the paths")
        elif self.stdin_filename is None:
            raise Failure("'-' needs --stdin-filename, the name of the file that the text stands for")
        elif self.fix:
            raise Failure("--fix cannot change standard input; --diff shows what would change")

    def targets(self) -> tuple[Path, ...]:
        """Return the paths to look at, with the file that standard input stands for in place of `-`."""
        return tuple(Path(self.stdin_filename or "-") if path == _STDIN else path for path in self.paths)

    def overlay(self, root: Path) -> Mapping[str, bytes]:
        """Return the text on standard input by the project file that it stands for."""
        if _STDIN not in self.paths:
            return NOTHING
        target = Path(self.stdin_filename or "-").absolute()
        path = target.parent.resolve() / target.name
        if not path.is_relative_to(root.resolve()):
            raise Failure(f"--stdin-filename lies outside the project {str(root)!r}")
        return {path.relative_to(root.resolve()).as_posix(): read_file(_STDIN, "file-size")}

    def overrides(self) -> Mapping[str, object]:
        """Return the settings that the command line decides, by their names in the configuration file."""
        named = {
            "select": self.select,
            "extend-select": self.extend_select,
            "ignore": self.ignore,
            "output-format": self.output_format,
            "fail-on": self.fail_on,
            "severity": _STRICT if self.strict else None,
        }
        return {name: given for name, given in named.items() if given is not None}


def print_report(request: ValidateRequest, project: Project, compilation: Compilation) -> Exit:
    """Print what was found and return the exit status that it deserves."""
    if not compilation.trees:
        raise Failure(f"nothing to check: {_list_paths(project)} holds nothing that stagec reads", Exit.NOTHING)
    form = project.settings.output_format
    reporter = member(reporters, form, Reporter)
    paper = find_canvas(sys.stdout, os.environ) if request.output is None else Canvas()
    found = compilation.diagnostics
    text = reporter.render(Report(found, compilation.flows, compilation.trees, paper, request.quiet))
    statistics = _count_by_rule(compilation.diagnostics) if request.statistics else ""
    if statistics and form == "text":
        text, statistics = f"{text}\n{statistics}", ""
    if request.output is None:
        put(text)
    else:
        write_file(request.output, text.encode(errors="backslashreplace"))
    put_error(statistics)
    fail_on = project.settings.fail_on
    fails = fail_on is not None and any(each.severity.weight >= fail_on.weight for each in compilation.diagnostics)
    return Exit.FINDINGS if fails else Exit.CLEAN


def _list_paths(project: Project) -> str:
    return listing([os.path.relpath(path) for path in project.paths or (project.root,)])


def _count_by_rule(found: Iterable[Diagnostic]) -> str:
    counts = Counter((each.code, each.name, each.severity) for each in found)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{number:>6}  {severity:<7}  {code}  {name}\n" for (code, name, severity), number in ranked)


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
