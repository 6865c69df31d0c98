"""`stagec baseline`: accept the present findings, and no later ones."""

from __future__ import annotations

import os
from pathlib import Path

import click

from stagec.check.acceptance import Acceptance
from stagec.check.pipeline import Project, compile_project
from stagec.cli import options
from stagec.cli.baselines import UNASKED, UNJUDGED, BaselineFile, count_findings, find_baseline, report_kept
from stagec.cli.files import write_file, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.parameters import Group
from stagec.cli.streams import put, say, show_progress
from stagec.core.failure import Exit, Failure
from stagec.core.value import replace, value
from stagec.core.words import format_count, quote, visible
from stagec.sources.project.baseline import Baseline, make_baseline, write_baseline


@value
class JudgedBaseline:
    """A baseline, its file and its bytes as they are, and what became of it in its project."""

    file: BaselineFile
    before: bytes
    baseline: Baseline
    acceptance: Acceptance

    @property
    def shrunk(self) -> Baseline:
        """The baseline without its stale entries."""
        too_many = {each.fingerprint: each.count for each in self.acceptance.stale}
        left = (replace(each, count=each.count - too_many.get(each.fingerprint, 0)) for each in self.baseline.entries)
        return make_baseline(each for each in left if each.count)


def write(root: Path | None, named: Path | None) -> Exit:
    """Write every finding of a project into its baseline."""
    configuration = load_configuration((), root)
    file = find_baseline(configuration, named)
    file.refuse_others()
    acceptance = _judge(Project(configuration.root, (), configuration.settings, baseline=Baseline()))
    baseline = make_baseline(acceptance.possible)
    _write_run(file, write_baseline(baseline))
    say(f"{visible(file.shown)}: {format_count(baseline.count, 'finding')}")
    mandatory = sum(each.rule.mandatory and not each.silent for each in acceptance.verdicts)
    if mandatory:
        say(f"{format_count(mandatory, 'finding')} of mandatory rules cannot be accepted: 'stagec validate' shows them")
    if named is None and configuration.settings.baseline is None:
        say(f"'stagec validate' uses it when the configuration says: baseline = {file.name!r}")
    return Exit.CLEAN


def update(root: Path | None, named: Path | None) -> Exit:
    """Remove from the baseline of a project what is stale."""
    judged = _open(root, named)
    after = write_baseline(judged.shrunk)
    if after != judged.before:
        _write_run(judged.file, after, judged.before)
    gone = judged.baseline.count - judged.shrunk.count
    left = format_count(judged.shrunk.count, "finding")
    say(f"{visible(judged.file.shown)}: {left}" + (f", {gone} removed" if gone else ", nothing to remove"))
    _report_kept(judged.acceptance)
    return Exit.CLEAN


def check(root: Path | None, named: Path | None) -> Exit:
    """Print the entries of the baseline of a project that are stale."""
    judged = _open(root, named)
    stale = judged.acceptance.stale
    for each in stale:
        times = f" ({each.count} times)" if each.count > 1 else ""
        put(visible(f"{each.file}: {each.rule} {each.member or '/'}: {each.message}{times}") + "\n")
    name = visible(judged.file.shown)
    if stale:
        gone = format_count(count_findings(stale), "finding")
        say(f"{name}: {gone} fixed; 'stagec baseline update' removes what is fixed")
    else:
        say(f"{name}: {format_count(judged.baseline.count, 'finding')}, none of them fixed")
    _report_kept(judged.acceptance)
    return Exit.FINDINGS if stale else Exit.CLEAN


def _report_kept(acceptance: Acceptance) -> None:
    report_kept(acceptance.unjudged, UNJUDGED)
    report_kept(acceptance.unasked, UNASKED)


def _open(root: Path | None, named: Path | None) -> JudgedBaseline:
    configuration = load_configuration((), root)
    file = find_baseline(configuration, named)
    before = file.fetch()
    baseline = file.load(before)
    acceptance = _judge(Project(configuration.root, (), configuration.settings, baseline=baseline))
    return JudgedBaseline(file, before, baseline, acceptance)


def _judge(project: Project) -> Acceptance:
    with show_progress("checking …"):
        compilation = compile_project(project)
    if not compilation.trees or compilation.acceptance is None:
        where = quote(os.path.relpath(project.root))
        raise Failure(f"nothing to check: {where} holds nothing that stagec reads", Exit.NOTHING)
    return compilation.acceptance


def _write_run(file: BaselineFile, data: bytes, before: bytes | None = None) -> None:
    if file.named and before is None:
        write_file(file.path, data)
    else:
        write_files(file.folder, {file.name: data}, {} if before is None else {file.name: before})


COMMAND = Group(
    "baseline",
    help="Accept the existing findings of a project, so that only new ones fail.",
    short_help="Accept existing findings, so that only new ones fail.",
)


_file = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="The baseline; by default the configured one, else stagec-baseline.json.",
)


@COMMAND.subcommand("write", "Write every finding of the project into the baseline.")
@options.root
@_file
def _write_baseline(root: Path | None, baseline: Path | None) -> None:
    """Write every finding of the project into the baseline, so that `stagec validate` reports only new findings.

    An existing file is replaced. The baseline does not contain findings of mandatory rules and suppressed findings.

    Exit status: 0 written, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    click.get_current_context().exit(write(root, baseline))


@COMMAND.subcommand("update", "Remove fixed findings; add nothing.")
@options.root
@_file
def _update(root: Path | None, baseline: Path | None) -> None:
    """Remove fixed findings from the baseline; add nothing.

    Exit status: 0 the baseline is up to date now, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    click.get_current_context().exit(update(root, baseline))


@COMMAND.subcommand("check", "List fixed findings that are still in the baseline.")
@options.root
@_file
def _check(root: Path | None, baseline: Path | None) -> None:
    """List the entries of the baseline whose findings are fixed; write nothing.

    Exit status: 0 there are none, 1 there are some, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    click.get_current_context().exit(check(root, baseline))
