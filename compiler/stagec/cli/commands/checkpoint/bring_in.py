"""Bring a checkpoint from elsewhere into a run of this project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from stagec import reporters
from stagec.cli.commands.checkpoint.verify import report_checkpoints
from stagec.cli.running.runs import SUFFIX, open_run
from stagec.cli.streams import put, say
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import member
from stagec.core.value import value
from stagec.core.words import format_count, quote
from stagec.protocol.manifest import ManifestError, TrustLevel
from stagec.reporters import Reporter
from stagec.world.stages.foreign_checkpoint import import_checkpoint, judge_import
from stagec.world.stages.run_folder import RunFolder


@value
class ImportRequest:
    """What to bring in, from how far, and into which run of which project."""

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
            raise Failure(f"--run names a report and a run, as in 'wine-quality/run-001', not {quote(self.run)}")
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
