"""Large plans, and what it costs to do something with one, starting and reading the file not counted."""

from __future__ import annotations

import sys
from pathlib import Path

from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.act import Given, Hole, Prompt, Text
from stagec.ir.plan.document import Contents, Input, Limits, Names, Plan, Tool
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Stop
from stagec_dev.cost import MeasuredProgram

_TIMES = 20
_PROGRAM = """
import json, sys
from stagec.ir.plan import dump, load
with open(sys.argv[1], "rb") as file:
    data = file.read()
plan, value = load(data).plan, json.loads(data)
for _ in range({times}):
    {work}
"""


def written(folder: Path, steps: int) -> Path:
    """Write the plan of so many steps, dense: each has a prompt of one line and a schema of its own, about 1,000 bytes.

    It is harder on a reader than plans of people, in which most bytes are prompts.
    """
    contents = Contents()
    plan = Plan(
        "dense",
        Names("step", "intent"),
        {"": "step.0"},
        {f"step.{at}": _step(contents, at, steps) for at in range(steps)},
        contents.texts,
        Limits(500),
        inputs={"issue": Input(required=True)},
        tools={"Read": Tool("bundled", "read"), "Write": Tool("bundled", "mutating")},
    )
    path = folder / f"of-{steps}.plan.json"
    path.write_bytes(dump(replace(plan, facts=facts(plan))))
    return path


def _step(contents: Contents, at: int, steps: int) -> Node:
    intents = ("next", "repeat", "handoff")
    schema = f'{{"type":"object","title":"{at}","properties":{{"next_action":{{"enum":["next","repeat","handoff"]}}}}}}'
    act = Prompt(
        (Text(contents.add(f"Work on part {at} of issue ")), Hole(("variable", "issue"))),
        variables={"issue": Given("issue")},
        needed=("issue",),
        schema=contents.add(schema),
        tools=("Read", "Write"),
        permission="acceptEdits",
    )
    edges = (
        Edge("next", Go(f"step.{(at + 1) % steps}")),
        Edge("repeat", Go(f"step.{at}")),
        Edge("handoff", Stop(Outcome.DONE)),
    )
    gate = IntentGate(("next_action",), intents, handoff=(("analysis", "understanding"), ("issue",)))
    return Node(act, gate, edges, kind="work", title=f"Step {at}")


def seconds(path: Path, work: str) -> float:
    """Return the processor time of doing something once with a file's `data`, its `plan`, or its JSON as a `value`."""
    many, none = (
        MeasuredProgram(
            (sys.executable, "-c", _PROGRAM.format(times=times, work=work), str(path)), path.parent
        ).seconds()
        for times in (_TIMES, 0)
    )
    return (many - none) / _TIMES
