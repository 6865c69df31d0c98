"""The world of stages: answers the requests of the machine to execute, publish, preserve and interrupt them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Lock

from stagec.core.failure import Failure
from stagec.core.json import Json, object_of
from stagec.core.secrets import Redactor
from stagec.core.words import quote
from stagec.ir.plan.act import Process
from stagec.ir.plan.document import Plan
from stagec.ir.protocol.checkpoint import ManifestError, name_checkpoint
from stagec.ir.protocol.markers import Reason, format_checkpoint_emergency, format_checkpoint_saved, format_rehydrated
from stagec.runtime.machine.exchange import Effect, Execute, Interrupt, Preserve, Publish
from stagec.runtime.world.stages.checkpoints import Publication, judge_checkpoint, preserve, publish
from stagec.runtime.world.stages.stage_files import (
    CHECKPOINTS,
    LOG,
    Published,
    RunFolder,
    explain,
    name_attempt,
    number_attempt,
)
from stagec.runtime.world.stages.stage_run import StageProcess, StageRun, Surroundings, Tell
from stagec.runtime.world.supervised_program import Link, RunLog

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
