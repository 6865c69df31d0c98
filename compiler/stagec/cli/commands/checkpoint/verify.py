"""Verify checkpoints that a user names, and say what is wrong with them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from stagec import reporters
from stagec.cli.streams import find_canvas, put
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import member
from stagec.core.value import value
from stagec.core.words import format_count, listing
from stagec.pipeline import judge, list_families
from stagec.project.selection import Selection
from stagec.project.settings import Settings
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.protocol.manifest import TrustLevel
from stagec.reporters import Report, Reporter, Severity
from stagec.sources.read import Sources
from stagec.world.stages.checkpoints import judge_checkpoint, list_manifests


@value
class Verification:
    """What was found of some checkpoints, ready to be printed."""

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
    """Return what the rules say of checkpoints; no configuration of a project can silence them."""
    settings = Settings()
    texts = {each.file: each.data for each in checkpoints if each.data}
    sources = Sources(Path.cwd(), settings.budgets, texts)
    trees = {file: tree for file in texts if (tree := sources.tree(file, "file")) is not None}
    diagnostics = judge(checkpoints, trees, Selection.of(settings, list_families())).diagnostics
    report = Report(diagnostics, trees=trees, canvas=find_canvas(sys.stdout, os.environ), quiet=True)
    return Verification(checkpoints, report)
