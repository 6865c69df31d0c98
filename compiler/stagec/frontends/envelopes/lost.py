"""Names of stages and outputs that dependencies and inputs mention and nothing has."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.guess import Guess, guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import quote
from stagec.frontends.envelopes.document import DependencyKind, Envelope, InputKind, StagePlan
from stagec.frontends.envelopes.ids import find_meant_stage, find_repeated_ids, list_suspects
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.protocol.artifact_paths import PathCheck, find_path_fault


@value
class LostStage:
    """An id that no stage has: the dependencies and inputs that mention it, and what may explain that."""

    name: str
    dependencies: tuple[Place, ...]
    inputs: tuple[Place, ...]
    meant: str | None
    causes: tuple[Place, ...]

    @property
    def hint(self) -> str:
        """The end of a sentence that says what was most likely meant."""
        return f"; did you mean {quote(self.meant)}?" if self.meant is not None else ""

    @property
    def guess(self) -> Guess | None:
        """What was most likely meant, wherever it is mentioned."""
        _, *others = (*self.dependencies, *self.inputs)
        return Guess(self.name, self.meant, tuple(others)) if self.meant is not None else None


@value
class LostOutput:
    """What inputs read from a stage that has no such output; `ats` are these inputs."""

    stage: Envelope
    path: str
    ats: tuple[Place, ...]
    hint: str
    guess: Guess | None
    causes: tuple[Place, ...]


def find_lost_stages(plan: StagePlan) -> tuple[LostStage, ...]:
    """Return every id that no stage has, in the order in which they are mentioned.

    Where a stage cannot be read or has no id, only an id that is near another is told to be wrong.
    """
    return plan.memo.once("lost stages", lambda: tuple(_list_lost_stages(plan)))


def find_lost_outputs(plan: StagePlan) -> tuple[LostOutput, ...]:
    """Return what inputs read that no output is; of a stage without outputs all that is read of it is one."""
    return plan.memo.once("lost outputs", lambda: tuple(_list_lost_outputs(plan)))


def _list_lost_stages(plan: StagePlan) -> Iterator[LostStage]:
    named: dict[str, tuple[list[Place], list[Place]]] = {}
    for stage in plan.envelopes:
        for odd in stage.oddities:
            if odd.kind is DependencyKind.UNKNOWN:
                named.setdefault(odd.name, ([], []))[0].append(odd.at)
    for stage, given in list_inputs(plan, InputKind.UNKNOWN_STAGE):
        named.setdefault(str(given.producer), ([], []))[1].append(stage.place_input(given.name))
    is_certain = plan.is_whole or bool(find_repeated_ids(plan))
    for name, (dependencies, inputs) in named.items():
        if is_certain or plan.names.slip(name) is not None:
            meant, causes = find_meant_stage(plan, name), list_suspects(plan, name)
            yield LostStage(name, tuple(dependencies), tuple(inputs), meant, causes)


def _list_lost_outputs(plan: StagePlan) -> Iterator[LostOutput]:
    asked: dict[tuple[str, str], list[Place]] = {}
    for stage, given in list_inputs(plan, InputKind.UNKNOWN_OUTPUT):
        fault = find_path_fault(given.text)
        if fault is not None and fault.check is not PathCheck.PORTABILITY:
            continue  # which is told of the path
        producer = str(given.producer)
        known = plan.by_id[producer].outputs
        asked.setdefault((producer, given.path if known else ""), []).append(stage.place_input(given.name))
    paths: dict[str, NameIndex] = {}
    for (producer, path), ats in asked.items():
        stage = plan.by_id[producer]
        names = paths.setdefault(producer, NameIndex(stage.outputs.values()))
        # what may explain that a stage has no output of a name: wrong paths, and outputs that are no texts
        said = stage.members.get("outputs")
        keys = [name for name in said if name not in stage.outputs] if isinstance(said, dict) else None
        alike = (stage.place_output(name) for name, written in stage.outputs.items() if path in written or not written)
        at = stage.at / "outputs"
        unread = ats[0], *alike, *([at] if keys is None else [at / name for name in keys])
        yield LostOutput(
            stage, path, tuple(ats), hint(path, names) if path else "", guess(path, names, *ats[1:]), unread
        )
