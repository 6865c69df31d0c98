"""The process of a stage: its input, its watchdog, and where its output goes."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping

from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.plan.act import ProcessLimits
from stagec.protocol.emission import format_stage_progress
from stagec.world.escalation import Alarm, Escalation
from stagec.world.program_log import LogStream, RunLog
from stagec.world.stages.marker_evidence import Hear, MarkerEvidence
from stagec.world.supervised_program import SupervisedProgram
from stagec.world.supervisor_link import Job, Link


def ignore_progress(_percent: float, _text: str) -> None:
    """Hear nothing."""


def list_alarms(limits: ProcessLimits) -> tuple[Alarm, ...]:
    """Return what a watchdog does: it warns, interrupts, terminates, kills."""
    return (
        Alarm(limits.warn),
        Alarm(limits.interrupt, signal.SIGINT),
        Alarm(limits.terminate, signal.SIGTERM),
        Alarm(limits.kill, signal.SIGKILL),
    )


def describe_stage(key: str, stage: str, run: str, places: Mapping[str, object]) -> dict[str, str]:
    """Return the variables that tell a stage about itself; `places` has its attempt directory, inputs and outputs."""
    told = {name: each if isinstance(each, str) else json.dumps(each) for name, each in places.items()}
    return {
        "PYTHONUNBUFFERED": "1",
        **{f"STAGEC_{name}": each for name, each in told.items()},
        "STAGEC_RUN_ID": run,
        "STAGEC_STAGE_ID": stage,
        "STAGEC_IDEMPOTENCY_KEY": key,
    }


@value
class ProcessEnd:
    """How the process of a stage ended.

    `exit` is None for one that was killed or could not be started; `interrupted` is why it was sent signals, `timeout`
    or `abort`; `status` is that of its last end marker; `others` are the stages of which it printed markers, too.
    `last` is the last line of its error output.
    """

    exit: int | None
    interrupted: str | None
    status: str | None
    others: tuple[str, ...]
    seconds: float
    error: str | None = None
    last: str = ""


class StageProcess:
    """The process of one stage, which somebody can abort in another thread.

    `tell` hears what happens to it, `hear` how far it says that it is.
    """

    def __init__(
        self, stage: str, limits: ProcessLimits, link: Link, tell: Callable[[str], None], hear: Hear = ignore_progress
    ) -> None:
        self._stage, self._limits, self._link, self._tell, self._hear = stage, limits, link, tell, hear
        self._log: RunLog | None = None
        self._escalation = Escalation(list_alarms(limits))
        self._supervision = SupervisedProgram(link, self._escalation, self._warn)

    def abort(self) -> None:
        """End the process as its watchdog would; in any thread, and at any time."""
        self._supervision.abort()

    def run(self, job: Job, log: RunLog, redactor: Redactor) -> ProcessEnd:
        """Run the process to its end, with all that it has started; its output goes to the log."""
        self._log = log
        evidence = MarkerEvidence(self._stage, lambda percent, text: self._hear(percent, redactor.redact_output(text)))
        out, err = LogStream(log, redactor), LogStream(log, redactor)

        def take(piece: bytes) -> None:
            evidence.take(piece)
            out.take(piece)

        error = None
        try:
            self._supervision.attend(job, (take, err.take))
        except (OSError, ValueError) as trouble:  # a word with NUL in it is a `ValueError`
            error = f"it could not be started: {trouble}".encode(errors="replace").decode()
        for each in (evidence, out, err):
            each.close()
        status = self._link.status
        return ProcessEnd(
            status if status is not None and status >= 0 else None,
            self._escalation.reason,
            evidence.status,
            tuple(evidence.others),
            self._escalation.seconds,
            error,
            err.last,
        )

    def _warn(self) -> None:
        """Say that the soft limit is over, and go on."""
        seconds = self._limits.warn / 1000
        if self._log is not None:
            percent = 100 * self._limits.warn / (self._limits.interrupt or 1)
            self._log.write(format_stage_progress(self._stage, percent, f"over {seconds:g} s") + "\n")
        self._tell(f"takes longer than {seconds:g} s")
