"""Stages whose processes are as small as can be, run and published one after the other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from stagec.core.secrets import Redactor
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Process, ProcessInput, ProcessLimits
from stagec.ir.plan.document import Limits, Names
from stagec.ir.plan.gate import VerdictGate
from stagec.ir.plan.node import Node
from stagec.runtime.machine.exchange import Execute, Publish
from stagec.runtime.world.stage_files import RunFolder
from stagec.runtime.world.stage_world import StageWorld, Surroundings
from stagec.runtime.world.supervised_program import Link

OUTPUTS = {"a": "a", "b": "b", "c": "deep/c"}
SYNCS = len(OUTPUTS) + 2 + 2 + 2
"""What a publication waits for: each output, two folders of the attempt; both folders of the rename; the checkpoint."""
_WORDS = ("sh", "-c", 'cd "$STAGEC_ATTEMPT_DIR"; echo 1 > a; echo 2 > b; echo 3 > deep/c')


def run_stages(folder: Path, count: int) -> Iterator[Callable[[], object]]:
    """Run so many stages, and yield for each the function that publishes it."""
    (folder / "input").write_bytes(bytes(1_000))
    act = Process("Copy.", ProcessLimits(60_000, 90_000, 95_000, 98_000), _WORDS, outputs=OUTPUTS)
    inputs = {"input": ProcessInput(path="input")}
    names = [f"S{number:02}_copy_data" for number in range(count)]
    plan = Plan(
        "copies",
        Names("stage", "status"),
        {},
        {name: Node(act, VerdictGate(), ()) for name in names},
        {},
        Limits(count),
    )
    around, redactor = Surroundings(str(folder), {"PATH": os.environ["PATH"]}), Redactor(os.environ)
    with closing(StageWorld(RunFolder(folder, "copies", "run-001"), plan, {})) as world:
        for name in names:
            key = f"run-001/{name}#1/1.0"
            answer = world.execute(Execute(key, name, act.words, inputs, OUTPUTS, act.limits), around, redactor, Link())
            outputs = answer["outputs"]
            if not isinstance(outputs, dict) or len(outputs) < len(OUTPUTS):
                raise RuntimeError(answer)
            request = Publish(f"run-001/{name}#1/1.1", name, outputs, checkpoint=True)
            yield lambda request=request: world.answer(request)


def synchronise(folder: Path, count: int) -> float:
    """Return how long so many small writes take that each reach the disk."""
    begun = time.perf_counter()
    with (folder / "file").open("wb", buffering=0) as file:
        for _ in range(count):
            file.write(bytes(100))
            os.fsync(file.fileno())
    return time.perf_counter() - begun
