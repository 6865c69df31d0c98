"""Checks of projects: what `stagec validate` does."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stagec.change.flow_tests.witness import search_briefly
from stagec.check import reporters
from stagec.check.pipeline import Compilation, Project, compile_project, list_families
from stagec.check.reporters import Report, Reporter
from stagec.cli.files import name_from_here, name_from_repository, read_file, write_file, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.result_cache import keep, take_description
from stagec.cli.streams import Transcript, find_canvas, put, put_error, say, show_progress
from stagec.cli.unfound import explain_emptiness, list_unread
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.observations import Recording, resolve
from stagec.core.shelf import member
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import format_count, visible

if TYPE_CHECKING:
    from stagec.check.fixes import FixedProject

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
    unsafe_fixes: bool = False
    diff: bool = False
    statistics: bool = False
    outputs: tuple[tuple[str | None, Path], ...] = ()
    quiet: bool = False
    stdin_filename: str | None = None
    no_cache: bool = False
    cache_dir: Path | None = None
    allow_empty: bool = False
    watch: bool = False
    baseline: Path | None = None
    no_baseline: bool = False

    def refuse_contradictions(self) -> None:
        """Raise `Failure` when options cannot be meant together."""
        if self.fix and self.diff:
            raise Failure("--fix and --diff exclude each other")
        if self.unsafe_fixes and not (self.fix or self.diff):
            raise Failure("--unsafe-fixes needs --fix, which makes the fixes, or --diff, which shows them")
        if self.diff and self.outputs:
            raise Failure("--diff prints changes and no report: it excludes --output")
        if _STDIN not in self.paths:
            if self.stdin_filename is not None:
                raise Failure("--stdin-filename needs '-' among the paths")
        elif self.stdin_filename is None:
            raise Failure("'-' needs --stdin-filename, the name of the file that the text stands for")
        elif self.fix:
            raise Failure("--fix cannot change standard input; --diff shows what would change")

    def has_effects(self) -> bool:
        """Tell whether more is done than to print, or more is read than files, or no result is to be kept."""
        return bool(self.no_cache or self.fix or self.diff or self.outputs or _STDIN in self.paths)

    def targets(self) -> tuple[Path, ...]:
        """Return the paths to look at, with the file that standard input stands for in place of `-`."""
        return tuple(Path(self.stdin_filename or "-") if path == _STDIN else path for path in self.paths)

    def overlay(self, root: Path) -> Mapping[str, bytes]:
        """Return the text on standard input by the project file that it stands for."""
        if _STDIN not in self.paths:
            return NOTHING
        target = Path(self.stdin_filename or "-").absolute()
        path, top = Path(resolve(target.parent)) / target.name, resolve(root)
        if not path.is_relative_to(top):
            raise Failure(f"--stdin-filename lies outside the project {str(root)!r}")
        return {path.relative_to(top).as_posix(): read_file(_STDIN, "file-size")}

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

    def make_report(self, project: Project, compilation: Compilation) -> Report:
        """Return the content for a reporter."""
        return Report(
            compilation.diagnostics,
            compilation.flows,
            compilation.trees,
            quiet=self.quiet,
            name_file=name_from_here(project.root),
            name_in_repository=name_from_repository(project.root),
            explain=find_page,
            documentation=project.settings.documentation,
            suppressed=compilation.suppressed,
            unread=() if self.quiet or compilation.flows else list_unread(project),
            known=0 if compilation.acceptance is None else compilation.acceptance.known,
        )


def print_report(request: ValidateRequest, project: Project, compilation: Compilation) -> Exit:
    """Print what was found and return the exit status that it deserves."""
    if not compilation.trees and not request.allow_empty:
        raise explain_emptiness(project)
    form = project.settings.output_format
    report = request.make_report(project, compilation)
    for own, path in request.outputs:
        write_file(path, member(reporters, own or form, Reporter).render(report).encode(errors="backslashreplace"))
    statistics = _count_by_rule(compilation.diagnostics) if request.statistics else ""
    if all(own for own, _ in request.outputs):
        text = member(reporters, form, Reporter).render(replace(report, canvas=find_canvas(sys.stdout, os.environ)))
        put(f"{text}\n{statistics}" if statistics and form == "text" else text)
        statistics = statistics if form != "text" else ""
    put_error(statistics)
    if not request.quiet and compilation.acceptance is not None:
        from stagec.cli.baselines import UNJUDGED, report_kept, report_stale  # most projects have no baseline

        report_stale(compilation.acceptance)
        if project.is_whole:
            report_kept(compilation.acceptance.unjudged, UNJUDGED)
    return choose_status(project.settings.fail_on, compilation.diagnostics)


def choose_status(fail_on: Severity | None, found: Iterable[Diagnostic]) -> Exit:
    """Return the exit status that diagnostics deserve."""
    fails = fail_on is not None and any(each.severity.weight >= fail_on.weight for each in found)
    return Exit.FINDINGS if fails else Exit.CLEAN


def find_page(code: str) -> str:
    """Return the page of a rule."""
    return next(rule.explanation for family in list_families() for rule in family.rules() if rule.code == code)


def _count_by_rule(found: Iterable[Diagnostic]) -> str:
    counts = Counter((each.code, each.name, each.severity) for each in found)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{number:>6}  {severity:<7}  {code}  {name}\n" for (code, name, severity), number in ranked)


def run(request: ValidateRequest) -> Exit:
    """Do what was asked and return the exit status; what was printed is kept if it is all that was done."""
    if request.watch:
        from stagec.cli.watch import repeat  # most runs end

        if request.fix or request.diff or _STDIN in request.paths:
            raise Failure("--watch checks files again and again: it excludes --fix, --diff and '-'")
        request.refuse_contradictions()
        return repeat(partial(_check, request), quiet=request.quiet)
    described = None if request.has_effects() else take_description()
    if described is None:
        return _check(request)
    with Recording() as seen, Transcript() as said:
        status = _check(request)
    keep(described, request.cache_dir, (status, seen.observations, said.pieces))
    return status


def _check(request: ValidateRequest) -> Exit:
    request.refuse_contradictions()
    configuration = load_configuration(request.targets(), request.root, request.overrides())
    paths = tuple(path.absolute() for path in request.targets())
    overlay = request.overlay(configuration.root)
    baseline = None
    if request.baseline is not None or configuration.settings.baseline is not None:
        from stagec.cli.baselines import load_baseline  # most projects have no baseline

        baseline = load_baseline(configuration, request.baseline, leave_out=request.no_baseline)
    project = Project(configuration.root, paths, configuration.settings, overlay, baseline=baseline)
    if request.fix or request.diff:
        if request.diff:
            return show_changes(project, guesses=request.unsafe_fixes, quiet=request.quiet)
        compilation = fix_files(project, guesses=request.unsafe_fixes, quiet=request.quiet)
        return print_report(request, project, compilation)
    with show_progress("checking …"):
        compilation = compile_project(project, search_briefly)
    return print_report(request, project, compilation)


def fix_files(project: Project, *, guesses: bool, quiet: bool) -> Compilation:
    """Write the fixes of a project to its files, say which these are, and return what is left."""
    fixed = _fix(project, guesses=guesses)
    write_files(project.root, fixed.after, fixed.before)
    if not quiet:
        _say_what_changed(fixed, project.root, "Fixed")
    return fixed.compilation


def show_changes(project: Project, *, guesses: bool, quiet: bool) -> Exit:
    """Print the changes that fixes make as a patch, and return whether there are any."""
    from stagec.cli.files import print_patch  # few runs show changes

    fixed = _fix(project, guesses=guesses)
    print_patch({file: (fixed.before[file], after) for file, after in fixed.after.items()})
    if not quiet:
        _say_what_changed(fixed, project.root, "Would fix")
    return Exit.FINDINGS if fixed.after else Exit.CLEAN


def _fix(project: Project, *, guesses: bool) -> FixedProject:
    from stagec.check.fixes import fix_project  # most runs only check

    with show_progress("checking …"):
        return fix_project(project, guesses=guesses)


def _say_what_changed(fixed: FixedProject, root: Path, what: str) -> None:
    named = [visible(file) for file in sorted(map(name_from_here(root), fixed.after))]
    where = f" in {named[0]}" if len(named) == 1 else " in:" if named else ""
    lines = [f"{what} {format_count(fixed.settled, 'finding')}{where}"]
    lines += [f"  {file}" for file in named if len(named) > 1]
    if fixed.refused:
        lines.append(f"Left {format_count(fixed.refused, 'finding')} whose fix would lead to others")
    if fixed.guessable:
        lines.append(f"--unsafe-fixes would fix {format_count(fixed.guessable, 'finding')} more")
    for line in lines:
        say(line)
