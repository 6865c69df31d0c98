"""The driver `dbos` as the suite sees it, on a server of PostgreSQL or on a file of SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path

from conformance.port import RefusedError, Reply, Submission
from conformance.ports.dbos_worker import CLOCK, VERSION
from conformance.ports.processes import Process
from stagec.cli.databases.administration import import_run
from stagec.core.failure import Failure
from stagec.core.value import replace
from stagec.ir.plan.loader import PlanError
from stagec.runtime.drivers import dbos
from stagec.runtime.drivers.dbos.run_records import APPLICATION_VERSION
from stagec.runtime.drivers.history import History
from stagec.runtime.drivers.local import create
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, write_message
from stagec.runtime.machine import load

COMMAND = ("worker", "--world", "conformance.world:make", "--concurrency", "16", "--grace", "5", "--patience", "5")
"""The worker of the suite, which has less time than a service."""
_SHORT = "options=-c%20idle_in_transaction_session_timeout%3D8000"
"""Milliseconds after which a transaction ends whose worker was stopped in the middle of it: a service has a minute."""


class DbosDriver:
    """A database; whoever is dead for a few seconds loses its runs to the workers that live."""

    def __init__(self, folder: Path, url: str, options: tuple[str, ...] = ()) -> None:
        self._folder, self.url, self._options = folder, url, options
        self.takes_over = not url.startswith("sqlite")
        """Whoever is stopped while it writes to a file keeps all others from writing there."""
        self._database = dbos.open_database(url)
        dbos.migrate(self._database)
        self.store = dbos.RunStore(self._database)
        self.transitions = dbos.Transitions(self.store)

    def submit(self, submission: Submission, version: str = APPLICATION_VERSION) -> None:
        """Submit a run for workers of a version."""
        try:
            digest = load(submission.plan).digest
            given = dbos.Submission(submission.run, submission.plan, digest, submission.entry, submission.inputs)
            list(self.store.submit([replace(given, version=version)]))
        except (PlanError, Failure) as error:
            raise RefusedError(str(error)) from error

    def start_worker(self, world: Mapping[str, str]) -> Process:
        """Start a worker: the command, or what changes its clock or its version first."""
        module = "conformance.ports.dbos_worker" if {CLOCK, VERSION} & set(world) else "stagec"
        database = f"{self.url}?{_SHORT}" if self.takes_over else self.url
        around = {**world, "STAGEC_DATABASE": database}
        return Process(module, (*COMMAND, *self._options), around, self._folder / "said")

    def read(self, run: str) -> History | None:
        """Return what is kept of a run; of one that is under way, the last step digest is not known yet."""
        with suppress(Failure):
            record = self.store.find(run)
            found = self.store.read_history(record)
            digests = found.step_digests if record.ended_at is not None else (*found.step_digests[:-1], "")
            return replace(found, step_digests=digests)
        return None

    def answer(self, run: str, key: str, *, yes: bool) -> Reply:
        """Answer a question."""
        try:
            self.transitions.send_answer(run, key, yes=yes, by="suite")
        except OtherAnswerError:
            return Reply.TOO_LATE
        except Failure as error:
            raise RefusedError(str(error)) from error
        return Reply.COUNTS

    def cancel(self, run: str) -> None:
        """End a run for good."""
        self.transitions.send(run, write_message(MessageKind.CANCEL, "suite"))

    def pause(self, run: str) -> None:
        """Let no worker execute a run."""
        self.transitions.send(run, write_message(MessageKind.PAUSE, "suite"))

    def resume(self, run: str) -> None:
        """Let workers execute a run again."""
        self.transitions.resume(run)

    def save(self, run: str, path: Path) -> None:
        """Write a run as a journal of the local driver."""
        found = self.read(run)
        assert found is not None
        with closing(create(path, found.plan, found.digest)) as journal:
            for event, digest in zip(found.events, found.step_digests, strict=True):
                journal.append(event)
                journal.take_digest(digest)

    def load(self, _run: str, path: Path) -> None:
        """Take a run from a journal, as `stagec runs import` does."""
        import_run(path, self.url)

    def close(self) -> None:
        """Let go of all connections."""
        self._database.close()
