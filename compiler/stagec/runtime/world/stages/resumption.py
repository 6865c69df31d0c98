"""What of a run is still there when it is resumed: stages whose results somebody vouches for, verified again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of
from stagec.core.value import value
from stagec.ir.plan.act import Process
from stagec.ir.plan.document import Plan
from stagec.ir.protocol.checkpoint import JudgedCheckpoint, Manifest, TrustLevel, find_newest
from stagec.runtime.machine.exchange import Answered, Effect, Event, Execute, Interrupt, Preserve, Publish
from stagec.runtime.machine.state import State, StepResult
from stagec.runtime.world.stages.checkpoints import discard, judge_checkpoint, list_manifests
from stagec.runtime.world.stages.stage_files import CHECKPOINTS, RunFolder, find_other_outputs

_ANSWERS: Mapping[type[Effect], Mapping[str, Json]] = {
    Execute: {"exit": None, "interrupted": "abort"},
    Publish: {"error": "the run was cancelled"},
    Preserve: {"checkpoint": None, "valid": False},
    Interrupt: {},
}


class InterruptedStages:
    """Answers what is asked about stages as if all of them were interrupted."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether a request is about a stage."""
        return type(effect) in _ANSWERS

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return _ANSWERS[type(effect)]

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that nothing takes time."""
        return False

    def cancel(self, key: str) -> None:
        """Stop nothing."""

    def close(self) -> None:
        """Hold nothing open, and so let go of nothing."""


Outputs = Mapping[str, Json]
"""What a stage has published, by name: `{"path", "sha256", "sizeBytes"}`."""


@value
class Resumption:
    """What a run goes on with: what its complete stages have published, and the newest checkpoint among theirs.

    `warnings` are the checkpoints that are not this machine's own, `refused` the stages whose results do not count,
    with the reason.
    """

    published: Mapping[str, Outputs]
    checkpoint: str | None
    warnings: tuple[str, ...]
    refused: Mapping[str, str]


def list_published(steps: Iterable[tuple[Event, StepResult]]) -> Mapping[str, Outputs]:
    """Return what stages have published by the journal of a run, the last time that they did."""
    before, found = State(), dict[str, Outputs]()
    for event, step in steps:
        effect = before.pending.get(event.key) if isinstance(event, Answered) else None
        if isinstance(event, Answered) and isinstance(effect, Publish) and "error" not in object_of(event.answer):
            found[effect.node] = effect.outputs
        before = step.state
    return found


class Verifier:
    """Verifies what the stages of a run have left, at the trust that somebody has in checkpoints from elsewhere."""

    def __init__(self, run: RunFolder, plan: Plan, trust: TrustLevel) -> None:
        self._run, self._plan, self._trust = run, plan, trust
        self._refused: dict[str, str] = {}
        self._warnings: list[str] = []
        self._manifests: dict[str, Manifest] = {}

    def verify(self, needs: Mapping[str, tuple[str, ...]], recorded: Mapping[str, Outputs]) -> Resumption:
        """Return what a run goes on with, and remove what other stages have published.

        `recorded` is what the journal says of stages without checkpoints. A valid checkpoint that is trusted less than
        allowed is a `Failure`.
        """
        found = dict(self._list_vouched())
        for stage, outputs in recorded.items():
            act = self._plan.nodes[stage].act
            if isinstance(act, Process) and not act.checkpoint and self._is_there(stage, outputs):
                found[stage] = outputs
        kept = _close(found, needs)
        for stage in needs:
            if stage not in kept:
                discard(self._run, stage)
        newest = find_newest(self._manifests[each] for each in kept if each in self._manifests)
        checkpoint = None if newest is None else newest.checkpoint
        return Resumption(kept, checkpoint, tuple(self._warnings), self._refused)

    def _list_vouched(self) -> Iterator[tuple[str, Outputs]]:
        """Yield the stages with a valid checkpoint, and what that says of their outputs."""
        for path in list_manifests(Path(self._run.path) / CHECKPOINTS):
            judged = judge_checkpoint(path)
            manifest = judged.manifest
            if manifest is None or not manifest.is_done or manifest.stage not in self._plan.nodes:
                continue
            why = self._find_fault(judged, manifest)
            if why is not None:
                self._refused[manifest.stage] = why
                continue
            if judged.trust is not TrustLevel.LOCAL:
                self._warnings.append(f"{manifest.checkpoint} is {judged.trust}: it was not written by this run")
            self._manifests[manifest.stage] = manifest
            yield manifest.stage, self._describe(manifest)

    def _find_fault(self, judged: JudgedCheckpoint, manifest: Manifest) -> str | None:
        """Return why a checkpoint does not count, or nothing."""
        if not judged.is_valid:
            return f"{manifest.checkpoint} is not valid: 'stagec checkpoint verify' says why"
        if judged.trust.tighten(self._trust) is not self._trust:  # nothing has been removed so far
            told = f"--trust {judged.trust} accepts it; if you remove its file, the stage runs again"
            raise Failure(f"{manifest.checkpoint} is {judged.trust}: {told}")
        act = self._plan.nodes[manifest.stage].act
        outputs = act.outputs.values() if isinstance(act, Process) else ()
        named = {each.path for each in manifest.artifacts}
        missing = [path for path in outputs if f"{manifest.stage}/{path}" not in named]
        return f"{manifest.checkpoint} does not list {missing[0]}" if missing else None

    def _describe(self, manifest: Manifest) -> Outputs:
        """Return what a manifest says of the outputs of its stage, by the names that the plan gives them."""
        act = self._plan.nodes[manifest.stage].act
        outputs = act.outputs if isinstance(act, Process) else {}
        entries = {each.path: each for each in manifest.artifacts}
        own = {name: (path, entries[f"{manifest.stage}/{path}"]) for name, path in outputs.items()}
        found: dict[str, Object] = {}
        for name, (path, each) in own.items():
            found[name] = {"path": path, "sha256": each.sha256.lower(), "sizeBytes": each.size}
        return found

    def _is_there(self, stage: str, outputs: Outputs) -> bool:
        try:
            with self._run.enter(stage) as folder:
                return not find_other_outputs(folder, outputs)
        except OSError:
            return False


def _close(found: Mapping[str, Outputs], needs: Mapping[str, tuple[str, ...]]) -> Mapping[str, Outputs]:
    """Return the stages among some whose needs are all among them, directly or not."""
    dependents: dict[str, list[str]] = {}
    for stage, needed in needs.items():
        for each in needed:
            dependents.setdefault(each, []).append(stage)
    lost = [stage for stage in needs if stage not in found]
    seen = set(lost)
    while lost:
        for each in dependents.get(lost.pop(), ()):
            if each not in seen:
                seen.add(each)
                lost.append(each)
    return {stage: found[stage] for stage in needs if stage not in seen}
