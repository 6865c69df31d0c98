"""`stagec checkpoint`: verify checkpoints of stages, list them, and bring in those of others."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click

from stagec.check import reporters
from stagec.check.pipeline import judge, list_families
from stagec.check.reporters import Report, Reporter, Severity
from stagec.cli import options
from stagec.cli.parameters import ExistingPath, Group, OneOf
from stagec.cli.running import options as running
from stagec.cli.running.runs import SUFFIX, open_run
from stagec.cli.sheet import draw_columns
from stagec.cli.streams import find_canvas, put, say
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json
from stagec.core.shelf import member, names
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.ir.protocol.checkpoint import TRUST_LEVELS, JudgedCheckpoint, ManifestError, TrustLevel
from stagec.runtime.world.checkpoints import import_checkpoint, judge_checkpoint, judge_import, list_manifests
from stagec.runtime.world.stage_files import RunFolder
from stagec.sources.project.settings import Selection, Settings
from stagec.sources.read import Sources


@value
class Verification:
    """The faults of some checkpoints, ready to be printed."""

    checkpoints: tuple[JudgedCheckpoint, ...]
    report: Report

    @property
    def failed(self) -> bool:
        """Whether a checkpoint is not valid or cannot be read."""
        errors = any(each.severity is Severity.ERROR for each in self.report.diagnostics)
        return errors or not all(each.is_valid for each in self.checkpoints)


def verify(paths: tuple[Path, ...], trust: str, output_format: str) -> Exit:
    """Print what is wrong with the checkpoints in some paths, and return the exit status that they deserve."""
    found = report_checkpoints(judge_paths(paths, TrustLevel(trust)))
    put(member(reporters, output_format, Reporter).render(found.report))
    if output_format == "text":
        intact = sum(each.is_valid for each in found.checkpoints)
        put(f"{format_count(len(found.checkpoints), 'checkpoint')}, {intact} valid\n")
    return Exit.FINDINGS if found.failed else Exit.CLEAN


def judge_paths(paths: Iterable[Path], trust: TrustLevel = TrustLevel.LOCAL) -> tuple[JudgedCheckpoint, ...]:
    """Return the checkpoints in files and folders, verified; raise `Failure` if there is none."""
    named = tuple(paths)
    inside = (list_manifests(path.resolve()) if path.is_dir() else (path,) for path in named)
    files = tuple(dict.fromkeys(file for some in inside for file in some))
    if not files:
        where = listing([os.path.relpath(path) for path in named])
        raise Failure(f"no checkpoints: {where} holds none", Exit.NOTHING)
    return tuple(judge_checkpoint(file, trust, Path(os.path.relpath(file)).as_posix()) for file in files)


def report_checkpoints(checkpoints: tuple[JudgedCheckpoint, ...]) -> Verification:
    """Return the findings of rules about checkpoints; no configuration of a project can silence them."""
    settings = Settings()
    texts = {each.file: each.data for each in checkpoints if each.data}
    sources = Sources(Path.cwd(), settings.budgets, texts)
    trees = {file: tree for file in texts if (tree := sources.tree(file, "file")) is not None}
    diagnostics = judge(checkpoints, trees, Selection.of(settings, list_families())).diagnostics
    report = Report(diagnostics, trees=trees, canvas=find_canvas(sys.stdout, os.environ), quiet=True)
    return Verification(checkpoints, report)


_HEAD = ("run", "stage", "status", "created", "trust", "valid", "file")


def print_checkpoints(paths: tuple[Path, ...], output_format: str) -> None:
    """Print the checkpoints in some paths, those of a run in the order of their stages."""
    found = judge_paths(paths)
    if output_format == "json":
        put(json.dumps([_describe(each) for each in found], indent=2) + "\n")
        return
    rows: list[tuple[str, ...]] = [_HEAD]
    for each in found:
        told = _describe(each)
        cells = [str(told.get(name) or "") for name in _HEAD if name != "valid"]
        rows.append((*cells[:-1], "yes" if each.is_valid else "no", cells[-1]))
    put(draw_columns(find_canvas(sys.stdout, os.environ), rows))


def _describe(each: JudgedCheckpoint) -> dict[str, Json]:
    told: dict[str, Json] = {"file": each.file, "valid": each.is_valid, "trust": each.trust.value}
    manifest = each.manifest
    if manifest is None:
        return told
    return {
        **told,
        "checkpoint": manifest.checkpoint,
        "report": manifest.report,
        "run": manifest.run,
        "stage": manifest.stage,
        "status": manifest.status,
        "reason": manifest.reason,
        "created": manifest.created,
        "artifacts": [each.path for each in manifest.artifacts],
    }


@value
class ImportRequest:
    """An import: the checkpoint, its trust level, and the run and project that get it."""

    path: Path
    trust: TrustLevel
    run: str
    project: Path
    runs: Path
    allow_untrusted: bool = False

    def find_run(self) -> RunFolder:
        """Return the folder of the run; raise `Failure` if there is none."""
        title, slash, run = self.run.partition("/")
        if not slash:
            raise Failure(f"--into names a report and a run, as in 'wine-quality/run-001', not {quote(self.run)}")
        folder = RunFolder(self.project, title, run)
        if not os.path.isdir(folder.path):
            raise Failure(f"no run {quote(self.run)}: {quote(os.path.relpath(folder.path))} is not a folder")
        return folder

    @contextmanager
    def hold_still(self, folder: RunFolder) -> Iterator[None]:
        """Keep others from resuming a run meanwhile; `Failure` if it goes on at the moment."""
        journal = self.runs / f"{folder.run}{SUFFIX}"
        if not journal.exists():
            yield
            return
        with closing(open_run(journal)):
            yield


def bring_in(request: ImportRequest) -> Exit:
    """Copy a checkpoint into a run unless something is wrong with it, and return the exit status."""
    folder = request.find_run()
    with request.hold_still(folder):
        shown = Path(os.path.relpath(request.path)).as_posix()
        judged = judge_import(request.path, request.trust, folder, shown)
        if judged.is_valid and judged.trust is TrustLevel.UNTRUSTED and not request.allow_untrusted:
            raise Failure(f"{quote(shown)} is untrusted: --allow-untrusted imports it")
        found = report_checkpoints((judged,))
        put(member(reporters, "text", Reporter).render(found.report))
        if judged.manifest is None or found.failed:
            return Exit.FINDINGS
        try:
            checkpoint = import_checkpoint(request.path, judged, folder)
        except (OSError, ManifestError) as error:
            words = (error.strerror if isinstance(error, OSError) else None) or error
            raise Failure(f"cannot import {quote(shown)}: {words}") from error
        copied = format_count(len(judged.manifest.artifacts), "artifact")
        say(f"imported {checkpoint} as {judged.trust.value}: {copied} in {os.path.relpath(folder.path)}")
        return Exit.CLEAN


COMMAND = Group(
    "checkpoint",
    help="Verify, list and import checkpoints of stages.",
    short_help="Verify, list and import checkpoints of stages.",
)
_paths = click.argument("paths", nargs=-1, required=True, type=ExistingPath())


@COMMAND.subcommand("verify", "Verify checkpoints and their artifacts.")
@_paths
@click.option(
    "--trust",
    type=OneOf(TRUST_LEVELS),
    default="local",
    show_default=True,
    help="The origin of the checkpoints: this project, another project of yours, or any other source.",
)
@options.output_format(*names(reporters), default="text")
def _verify(paths: tuple[Path, ...], trust: str, output_format: str) -> None:
    """Verify the checkpoints in PATHS: manifests, and folders with manifests.

    stagec checks every digest, size, path and link, at the stricter of --trust and the level in the manifest. It
    executes nothing in a checkpoint.

    Exit status: 0 every checkpoint is valid, 1 one is not, 2 usage or environment, 3 no checkpoint, 4 internal error.
    """
    click.get_current_context().exit(verify(paths, trust, output_format))


@COMMAND.subcommand("list", "List checkpoints.")
@click.argument("paths", nargs=-1, metavar="PATHS...", type=ExistingPath())
@options.output_format("text", "json", default="text")
def _list(paths: tuple[Path, ...], output_format: str) -> None:
    """List the checkpoints in PATHS, or in the current folder: stage, time, trust level and validity of each."""
    print_checkpoints(paths or (Path(),), output_format)


@COMMAND.subcommand("import", "Import a checkpoint of another project.")
@click.argument("path", type=ExistingPath(folder=False))
@click.option(
    "--trust",
    type=OneOf(TRUST_LEVELS[1:]),
    required=True,
    help="The origin of the checkpoint: another project of yours, or any other source.",
)
@click.option("--into", required=True, metavar="REPORT/RUN", help="The run that gets the checkpoint.")
@click.option(
    "--project",
    type=ExistingPath(file=False),
    default=".",
    help="The folder of this project; by default the current one.",
)
@running.runs
@click.option("--allow-untrusted", is_flag=True, help="Import an untrusted checkpoint.")
def _import(path: Path, trust: str, into: str, *, allow_untrusted: bool, **folders: Path) -> None:
    """Copy the checkpoint PATH and its artifacts into a run of this project, and record its origin.

    The run must have started, and no process may execute it. stagec verifies the copy, and overwrites nothing. When the
    run is resumed, the stage counts as complete. stagec executes nothing in the checkpoint.

    Exit status: 0 imported, 1 the checkpoint is not valid or the run has results, 2 usage or environment,
    4 internal error.
    """
    from stagec.ir.protocol.checkpoint import TrustLevel

    request = ImportRequest(path, TrustLevel(trust), into, **folders, allow_untrusted=allow_untrusted)
    click.get_current_context().exit(bring_in(request))
