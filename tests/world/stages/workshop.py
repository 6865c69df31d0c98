"""A project with the directory of a run, in which tests let stages run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from stagec.core.json import Json, object_of
from stagec.core.secrets import Redactor
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Process, ProcessInput, ProcessLimits
from stagec.ir.plan.document import Limits, Names
from stagec.ir.plan.gate import VerdictGate
from stagec.ir.plan.node import Node
from stagec.runtime.machine.exchange import Execute, Interrupt, Preserve, Publish
from stagec.runtime.world.stage_files import RunFolder
from stagec.runtime.world.stage_world import StageWorld, Surroundings
from stagec.runtime.world.supervised_program import Link

LONG = ProcessLimits(600_000, 600_000, 605_000, 608_000)
HEAD = """
import json, os, signal, subprocess, sys, time
from pathlib import Path
inputs, outputs = json.loads(os.environ["STAGEC_INPUTS"]), json.loads(os.environ["STAGEC_OUTPUTS"])
"""


class Workshop:
    """One run of a plan of processes; each stage is a Python program that knows its `inputs` and `outputs`."""

    def __init__(self, root: Path, stages: Mapping[str, Process], **needs: tuple[str, ...]) -> None:
        root.mkdir(exist_ok=True)
        self.root = root
        nodes = {name: Node(act, VerdictGate(), ()) for name, act in stages.items()}
        self.plan = Plan("wine", Names("stage", "status"), {}, nodes, {}, Limits(9))
        self.needs = {**dict.fromkeys(stages, ()), **needs}
        self.run = RunFolder(root, "wine-quality", "run-001")
        self.told: list[tuple[str, str]] = []
        self.world = self.open()

    def open(self) -> StageWorld:
        """Return the world, as a new process would have it."""
        return StageWorld(self.run, self.plan, self.needs, lambda *told: self.told.append(told))

    def key(self, stage: str, attempt: int = 1, index: int = 0) -> str:
        return f"run-001/{stage}#1/{attempt}.{index}"

    def execute(
        self, stage: str, attempt: int = 1, redactor: Redactor | None = None, **variables: str
    ) -> dict[str, Any]:
        """Run a stage, and return the answer."""
        act = self.plan.nodes[stage].act
        assert isinstance(act, Process)
        effect = Execute(self.key(stage, attempt), stage, act.words, act.inputs, act.outputs, act.limits)
        around = Surroundings(str(self.root), {"PATH": os.environ["PATH"], **variables})
        return dict(self.world.execute(effect, around, redactor or Redactor(), Link()))

    def publish(self, stage: str, outputs: Json, attempt: int = 1, *, checkpoint: bool = True) -> Mapping[str, Json]:
        return object_of(self.world.answer(Publish(self.key(stage, attempt, 1), stage, object_of(outputs), checkpoint)))

    def preserve(self, stage: str, reason: str = "error", attempt: int = 1) -> Mapping[str, Json]:
        return object_of(self.world.answer(Preserve(self.key(stage, attempt, 1), stage, reason)))

    def interrupt(self, stage: str, attempt: int = 1) -> Json:
        return self.world.answer(Interrupt(self.key(stage, attempt, 7), self.key(stage, attempt)))

    def complete(self, stage: str, attempt: int = 1) -> Mapping[str, Json]:
        """Run a stage that succeeds, and publish what it has made."""
        answer = self.execute(stage, attempt)
        assert is_success(answer), answer
        return self.publish(stage, answer["outputs"], attempt)

    def log(self) -> str:
        return Path(self.run.path, "run.log").read_text(encoding="utf-8")

    def path(self, *parts: str) -> Path:
        return Path(self.run.path, *parts)

    def manifest(self, checkpoint: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path("checkpoints", f"{checkpoint}.json").read_bytes())
        return found


def stage(
    program: str,
    outputs: Mapping[str, str] | None = None,
    inputs: Mapping[str, ProcessInput] | None = None,
    limits: ProcessLimits = LONG,
) -> Process:
    """Return a stage that is a Python program."""
    words = (sys.executable, "-c", HEAD + dedent(program))
    return Process("Do it.", limits, words, inputs or {}, outputs or {})


def writes(names: Sequence[str] = ("data",)) -> str:
    """Return a program that writes its outputs."""
    return "".join(f"Path(outputs[{name!r}]).write_text({name!r} * 1_000)\n" for name in names)


def is_success(answer: Mapping[str, Any]) -> bool:
    faults = (answer["interrupted"], answer["error"], answer["missing"], answer["changed"])
    return answer["exit"] == 0 and not any(faults) and answer["status"] in {None, "success"}
