"""The local driver as the suite sees it: `stagec run` and `resume`, by processes that look for work in a folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from conformance.port import RefusedError, Reply, Submission
from conformance.ports.processes import Process
from stagec.cli.commands.runs import COMMAND
from stagec.core.failure import Failure
from stagec.ir.plan import PlanError
from stagec.runtime.drivers.local import History, JournalError, Reason, read_journal
from stagec.runtime.drivers.local.live_journal import read_stored
from stagec.runtime.drivers.local.mailbox import send_answer, send_request
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError
from stagec.runtime.machine import load


class LocalDriver:
    """Journals in a folder; who executes a run holds its journal, so nobody else can take it over."""

    takes_over = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("submitted", "paused", "runs"):
            (folder / name).mkdir()

    def _path(self, run: str) -> Path:
        return self.folder / "runs" / f"{run}.run"

    def submit(self, submission: Submission) -> None:
        """Write a submission; the folder of one appears at once or not at all."""
        try:
            load(submission.plan)
        except PlanError as error:
            raise RefusedError(str(error)) from error
        told = {"plan.json": submission.plan}
        told |= {"inputs.json": json.dumps(dict(submission.inputs)).encode()} if submission.inputs else {}
        told |= {"entry": submission.entry.encode()} if submission.entry is not None else {}
        final, made = self.folder / "submitted" / submission.run, self.folder / f".{submission.run}"
        if not final.exists():
            made.mkdir()
            for name, data in told.items():
                (made / name).write_bytes(data)
            with suppress(OSError):
                made.rename(final)
            shutil.rmtree(made, ignore_errors=True)
        if {each.name: each.read_bytes() for each in final.iterdir()} != told:
            raise RefusedError(f"there is another run {submission.run}")

    def start_worker(self, world: Mapping[str, str]) -> Process:
        """Start a worker."""
        return Process("conformance.ports.local_worker", (str(self.folder),), world, self.folder / "said")

    def read(self, run: str) -> History | None:
        """Return what is kept of a run."""
        try:
            found = read_stored(self._path(run)).history
        except JournalError as error:
            if error.reason is Reason.MISSING:
                return None
            raise
        return found if found.events else None

    def answer(self, run: str, key: str, *, yes: bool) -> Reply:
        """Answer a question of a run."""
        try:
            send_answer(self._path(run), key, yes=yes, by="suite")
        except OtherAnswerError:
            return Reply.TOO_LATE
        except (Failure, JournalError) as error:
            raise RefusedError(str(error)) from error
        return Reply.COUNTS

    def cancel(self, run: str) -> None:
        """End a run for good."""
        (self.folder / "paused" / run).touch()
        callback = COMMAND.commands["cancel"].callback
        assert callback is not None
        callback(run, self.folder / "runs", None)

    def pause(self, run: str) -> None:
        """Let no worker execute a run any more."""
        (self.folder / "paused" / run).touch()
        with suppress(JournalError):
            send_request(self._path(run), MessageKind.PAUSE, "suite")

    def resume(self, run: str) -> None:
        """Let workers execute a run again."""
        (self.folder / "paused" / run).unlink()

    def save(self, run: str, path: Path) -> None:
        """Write a run as a journal."""
        shutil.copyfile(self._path(run), path)

    def load(self, run: str, path: Path) -> None:
        """Take a run from a journal."""
        plan = read_journal(path).plan
        submitted = self.folder / "submitted" / run
        shutil.copyfile(path, self._path(run))
        submitted.mkdir()
        (submitted / "plan.json").write_bytes(plan)

    def close(self) -> None:
        """Nothing is open."""
