"""One attempt of a stage, from its inputs to what it has left: what `Execute` asks for."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, value
from stagec.core.words import listing, quote
from stagec.ir.plan.act import ProcessLimits
from stagec.ir.protocol.markers import (
    Marker,
    MarkerParser,
    Status,
    format_stage_begin,
    format_stage_end,
    format_stage_progress,
)
from stagec.runtime.machine.exchange import Execute
from stagec.runtime.world.stages.stage_files import (
    ATTEMPTS,
    InputTroubleError,
    Published,
    RunFolder,
    StageInputs,
    collect_outputs,
    explain,
    find_changed,
    find_inputs,
    name_attempt,
    prepare_attempt,
)
from stagec.runtime.world.supervised_program import Alarm, Escalation, Job, Link, LogStream, RunLog, SupervisedProgram

_STATUSES = frozenset({"success", "failed", "interrupted"})
_WHOLE = 100
_MOST = 8
"""Other stages whose names are kept."""


Hear = Callable[[float, str], None]
"""Is told how many percent of its work a stage says that it has done, and what else it says."""


class MarkerEvidence:
    """Reads the standard output of a stage piece by piece.

    `status` is that of the last marker with which the stage says that it ends. `others` are the stages that are not
    this one, of which it prints markers all the same: these say nothing.
    """

    def __init__(self, stage: str, hear: Hear) -> None:
        self._stage, self._hear = stage, hear
        self._parser = MarkerParser()
        self.status: str | None = None
        self.others: list[str] = []

    def take(self, piece: bytes) -> None:
        """Take a further piece of the output."""
        self._judge(self._parser.feed(piece))

    def close(self) -> None:
        """Take the last line if nothing has ended it."""
        self._judge(self._parser.close())

    def _judge(self, markers: Iterable[Marker]) -> None:
        """Take the markers that have arrived together; of what they say about progress, the last counts."""
        progress = None
        for marker in markers:
            if marker.type != "STAGE":
                continue
            named, subtype = marker.stage, marker.subtype
            if named not in {None, self._stage} and not marker.is_of(self._stage):
                self._remember(str(named))
            elif subtype == "progress":
                progress = marker
            elif subtype == "end":
                status = marker.attributes.get("status")
                self.status = status if status in _STATUSES else None
        if progress is not None:
            self._tell_progress(progress)

    def _remember(self, other: str) -> None:
        if other not in self.others and len(self.others) < _MOST:
            self.others.append(other)

    def _tell_progress(self, marker: Marker) -> None:
        with suppress(ValueError):
            percent = float(marker.attributes.get("pct", ""))
            if 0 <= percent <= _WHOLE:
                self._hear(percent, marker.content or marker.attributes.get("msg", ""))


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


_LONGEST = 300
"""Characters of the last line of an error output that the journal keeps."""
Tell = Callable[[str, str], None]
"""Is told of a stage, by its id, what happens to it and changes nothing."""


@value
class Surroundings:
    """What the processes of stages start with: a folder, variables, and an open file that all of them hold.

    `executor` are the words of a stage that has none.
    """

    folder: str
    variables: Mapping[str, str] = NOTHING
    held: int | None = None
    executor: tuple[str, ...] = ()


class StageRun:
    """One attempt of a stage in a directory of its own."""

    def __init__(self, effect: Execute, run: RunFolder, log: RunLog, tell: Tell, published: Published) -> None:
        self._effect, self._run, self._log, self._tell = effect, run, log, tell
        self._published = published
        self._attempt = name_attempt(effect.key)
        self._path = os.path.join(run.path, ATTEMPTS, self._attempt)

    def execute(self, process: StageProcess, around: Surroundings, redactor: Redactor) -> Mapping[str, Json]:
        """Run the process, and return what has come of it."""
        effect = self._effect
        try:
            inputs = find_inputs(effect.inputs, self._run, self._published)
            with self._run.enter(ATTEMPTS, make=True) as attempts:
                prepare_attempt(attempts, self._attempt, effect.outputs.values())
        except InputTroubleError as error:
            return self._refuse(str(error))
        except OSError as error:
            return self._refuse(f"its attempt directory cannot be made: {explain(error)}")
        self._log.write(format_stage_begin(effect.node) + "\n")
        end = process.run(self._describe_job(inputs, around), self._log, redactor)
        return self._judge(end, inputs)

    def _describe_job(self, inputs: StageInputs, around: Surroundings) -> Job:
        effect = self._effect
        places = {
            "ATTEMPT_DIR": self._path,
            "INPUTS": inputs.places,
            "OUTPUTS": {name: os.path.join(self._path, path) for name, path in effect.outputs.items()},
        }
        told = describe_stage(effect.key, effect.node, self._run.run, places)
        return Job(effect.words or around.executor, {**around.variables, **told}, around.folder, around.held)

    def _judge(self, end: ProcessEnd, inputs: StageInputs) -> Mapping[str, Json]:
        """Look at what the process has left, once nothing of it runs any more."""
        effect = self._effect
        try:
            with self._run.enter(f"{ATTEMPTS}/{self._attempt}") as attempt:
                outputs, faults = collect_outputs(attempt, effect.outputs)
        except OSError as error:
            outputs, faults = {}, dict.fromkeys(effect.outputs, explain(error))
        changed = find_changed(effect.inputs, inputs, self._run)
        status = _choose_status(end, is_whole=not faults and not changed)
        said = end.last.strip()[:_LONGEST]
        if end.status != status:
            self._log.write(format_stage_end(effect.node, status, end.seconds) + "\n")
        for each in _explain(end, faults, changed):
            self._tell(effect.node, each)
        if self._log.trouble is not None:
            self._tell(effect.node, f"the log lacks some of its output: {explain(self._log.trouble)}")
        return {
            "exit": end.exit,
            "interrupted": end.interrupted,
            "status": end.status,
            "missing": sorted(faults),
            "changed": sorted(changed),
            "outputs": outputs,
            "error": end.error,
            "seconds": round(end.seconds, 3),
            **({"said": said} if status == "failed" and said else {}),
        }

    def _refuse(self, sentence: str) -> Mapping[str, Json]:
        """Return the answer for a process that never started."""
        end = ProcessEnd(None, None, None, (), 0.0, sentence)
        self._log.write(format_stage_begin(self._effect.node) + "\n")
        return self._judge(end, StageInputs({}, {}))


def _choose_status(end: ProcessEnd, *, is_whole: bool) -> Status:
    """Return what stagec itself says of the end of a stage; markers are evidence against success, never for it."""
    if end.interrupted is not None:
        return "interrupted"
    is_success = end.exit == 0 and end.error is None and is_whole and end.status in {None, "success"}
    return "success" if is_success else "failed"


def _explain(end: ProcessEnd, faults: Mapping[str, str], changed: Sequence[str]) -> list[str]:
    """Return what is to be told of an end besides its outcome."""
    told = [] if end.error is None else [end.error]
    if end.error is None and end.interrupted is None and end.exit == 0:
        told += [f"the output {quote(name)} is none: {words}" for name, words in sorted(faults.items())]
    told += [f"the input {quote(name)} has changed while the stage ran" for name in sorted(changed)]
    if end.others:
        told.append(f"prints markers of {listing(end.others)}, which say nothing about it")
    return told
