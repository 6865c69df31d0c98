"""The world of stages: attempts from their inputs to what they leave, published, preserved and interrupted."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock

from stagec.core.failure import Failure
from stagec.core.json import Json, object_of
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, value
from stagec.core.words import listing, quote
from stagec.ir.plan.act import Process, ProcessLimits
from stagec.ir.plan.document import Plan
from stagec.ir.protocol.checkpoint import ManifestError, name_checkpoint
from stagec.ir.protocol.markers import (
    Marker,
    MarkerParser,
    Reason,
    Status,
    format_checkpoint_emergency,
    format_checkpoint_saved,
    format_rehydrated,
    format_stage_begin,
    format_stage_end,
    format_stage_progress,
)
from stagec.runtime.machine.exchange import Effect, Execute, Interrupt, Preserve, Publish
from stagec.runtime.world.checkpoints import Publication, judge_checkpoint, preserve, publish
from stagec.runtime.world.stage_files import (
    ATTEMPTS,
    CHECKPOINTS,
    LOG,
    InputTroubleError,
    Published,
    RunFolder,
    StageInputs,
    collect_outputs,
    explain,
    find_changed,
    find_inputs,
    name_attempt,
    number_attempt,
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

    `status` is that of the last marker by which the stage ends. `others` are the stages that are not this one, of which
    it prints markers all the same: these say nothing.
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
    """Return the actions of a watchdog: it warns, interrupts, terminates, kills."""
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
    """The end of a stage's process.

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
    """The environment of stages' processes: a folder, variables, and an open file that all of them hold.

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
    """Return stagec's own status for the end of a stage; markers are evidence against success, never for it."""
    if end.interrupted is not None:
        return "interrupted"
    is_success = end.exit == 0 and end.error is None and is_whole and end.status in {None, "success"}
    return "success" if is_success else "failed"


def _explain(end: ProcessEnd, faults: Mapping[str, str], changed: Sequence[str]) -> list[str]:
    """Return the explanation of an end besides its outcome."""
    told = [] if end.error is None else [end.error]
    if end.error is None and end.interrupted is None and end.exit == 0:
        told += [f"the output {quote(name)} is none: {words}" for name, words in sorted(faults.items())]
    told += [f"the input {quote(name)} has changed while the stage ran" for name in sorted(changed)]
    if end.others:
        told.append(f"prints markers of {listing(end.others)}, which say nothing about it")
    return told


_REASONS: Mapping[str, Reason] = {"timeout": "timeout", "abort": "abort"}


def _tell_nobody(_stage: str, _sentence: str) -> None:
    return


def _show_nobody(_stage: str, _percent: float, _text: str) -> None:
    return


Show = Callable[[str, float, str], None]
"""Is told how many percent of its work a stage says that it has done, and what else it says."""


class StageWorld:
    """Runs the stages of one run below its directory; it may be asked in several threads.

    `needs` are the stages that each stage needs. In any thread, `tell` hears what happens to stages, and `show`, which
    may be set before the first of them, how far they are.
    """

    def __init__(
        self, run: RunFolder, plan: Plan, needs: Mapping[str, tuple[str, ...]], tell: Tell = _tell_nobody
    ) -> None:
        run.make()
        self._run, self._plan, self._needs, self._tell = run, plan, needs, tell
        self._published: dict[str, Mapping[str, Json]] = {}
        self._processes: dict[str, StageProcess] = {}
        self._aborted: set[str] = set()
        self._lock = Lock()
        self._log = _open_log(run)
        self.show: Show = _show_nobody

    def close(self) -> None:
        """Let go of the log."""
        self._log.close()

    def take_kept(self, published: Mapping[str, Mapping[str, Json]], checkpoint: str | None) -> None:
        """Remember the outputs of stages that do not run again, and the checkpoint from which the run continues."""
        self._published.update(published)
        if checkpoint is not None:
            self._log.write(format_rehydrated(checkpoint) + "\n")

    def finish(self, pending: Iterable[Effect]) -> Published:
        """Finish the publications that an earlier process has begun or would have begun; return what is published.

        So a stage whose process has succeeded does not run again because of a crash that came soon after.
        """
        asked = {each.node: each for each in pending if isinstance(each, Publish)}
        return {stage: each.outputs for stage, each in asked.items() if "error" not in object_of(self._publish(each))}

    def execute(self, effect: Execute, around: Surroundings, redactor: Redactor, link: Link) -> Mapping[str, Json]:
        """Run the process of a stage; raise `Failure` for one that nobody has said how to run."""
        with closing(link):
            if not effect.words and not around.executor:
                raise Failure(f"the stage {quote(effect.node)} has no 'run': an executor has to carry out its goal")
            process = StageProcess(
                effect.node, effect.limits, link, partial(self._tell, effect.node), partial(self.show, effect.node)
            )
            with self._while_running(effect.key, process):
                attempt = StageRun(effect, self._run, self._log, self._tell, self._published)
                return attempt.execute(process, around, redactor)

    @contextmanager
    def _while_running(self, key: str, process: StageProcess) -> Iterator[None]:
        """Let a process be aborted while the body runs it."""
        with self._lock:
            self._processes[key] = process
            if key in self._aborted:
                process.abort()
        try:
            yield
        finally:
            with self._lock:
                del self._processes[key]

    def answer(self, effect: Publish | Preserve | Interrupt) -> Json:
        """Return the answer to a request that starts nothing."""
        match effect:
            case Publish():
                return self._publish(effect)
            case Preserve():
                return self._preserve(effect)
            case Interrupt():
                return self._interrupt(effect.request)

    def _publish(self, effect: Publish) -> Json:
        given = _describe(effect, effect.outputs)
        try:
            checkpoint = publish(self._run, given, checkpoint=effect.checkpoint)
        except (OSError, ManifestError) as error:
            return {"error": self._explain(effect.node, "its outputs cannot be published", error)}
        self._published[effect.node] = effect.outputs
        if checkpoint is not None:
            manifest = f"{CHECKPOINTS}/{checkpoint}.json"
            self._log.write(format_checkpoint_saved(checkpoint, effect.node, manifest) + "\n")
        return {"checkpoint": checkpoint}

    def _preserve(self, effect: Preserve) -> Json:
        act = self._plan.nodes[effect.node].act
        reason = _REASONS.get(effect.reason, "error")
        checkpoint = None
        try:
            outputs = act.outputs if isinstance(act, Process) else {}
            checkpoint = preserve(self._run, _describe(effect, outputs), reason)
        except (OSError, ManifestError) as error:
            self._explain(effect.node, "no emergency checkpoint can be written", error)
        if checkpoint is not None:
            self._log.write(format_checkpoint_emergency(checkpoint, effect.node, reason) + "\n")
        return {"checkpoint": checkpoint, "valid": self._can_start(effect.node)}

    def _explain(self, stage: str, sentence: str, error: OSError | ManifestError) -> str:
        told = f"{sentence}: {explain(error) if isinstance(error, OSError) else error}"
        self._tell(stage, told)
        return told

    def _can_start(self, stage: str) -> bool:
        """Tell whether valid checkpoints vouch for all that a stage needs, directly or not."""
        todo, seen = list(self._needs.get(stage, ())), set[str]()
        while todo:
            each = todo.pop()
            if each in seen:
                continue
            seen.add(each)
            if not self._is_vouched(each):
                return False
            todo.extend(self._needs.get(each, ()))
        return True

    def _is_vouched(self, stage: str) -> bool:
        """Tell whether a stage has a valid checkpoint of what it has published; its outputs alone are none."""
        published = self._published.get(stage)
        if published is None:
            return False
        judged = judge_checkpoint(Path(self._run.path, CHECKPOINTS, f"{name_checkpoint(stage)}.json"))
        manifest = judged.manifest
        if manifest is None or not (judged.is_valid and manifest.is_done):
            return False
        listed = {(each.path, each.sha256.lower(), each.size) for each in manifest.artifacts}
        outputs = map(object_of, published.values())
        return all((f"{stage}/{each['path']}", each["sha256"], each["sizeBytes"]) in listed for each in outputs)

    def _interrupt(self, request: str) -> Json:
        with self._lock:
            self._aborted.add(request)
            process = self._processes.get(request)
        if process is not None:
            process.abort()
        return {}


def _open_log(run: RunFolder) -> RunLog:
    try:
        with run.enter() as folder:
            return RunLog(folder.append(LOG))
    except OSError as error:
        raise Failure(f"cannot write {quote(f'{run.path}/{LOG}')}: {explain(error)}") from error


def _describe(effect: Publish | Preserve, outputs: Mapping[str, Json]) -> Publication:
    return Publication(effect.node, name_attempt(effect.key), number_attempt(effect.key), outputs)
