"""Small step flows made by hand, and answers to their steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.stages.talks import CONTENTS, Run, text

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Command, Hole, Prompt, Supply
from stagec.ir.plan.document import Input, JudgeDefinition, Limits, Names, Plan, Success, Validator
from stagec.ir.plan.gate import Condition, ExitGate, IntentGate, JudgeGate, Validation
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Stop
from stagec.runtime.machine.exchange import Ask, Shell

DONE, FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
INTENTS = ("next", "repeat", "jump", "handoff", "closing", "escalate")
AGAIN = (Edge("verdict", DONE), Edge("next", Go("a")))
"""The edges of a step that is repeated until the judge finds the work done."""


def goes(**targets: str) -> tuple[Edge, ...]:
    """Return edges by intent, each to a step."""
    return tuple(Edge(intent, Go(name)) for intent, name in targets.items())


def step(*edges: Edge, gate: IntentGate | JudgeGate | None = None, **members: Any) -> Node:
    """Return a step; `prompt`, `schema`, `variables` and the like are part of its act, `validation` of the node."""
    validation = members.pop("validation", None)
    given: dict[str, Any] = {"prompt": text("Do it."), **members}
    act = Prompt(**given)
    return Node(act, gate or intent_gate(), edges, validation=validation)


def intent_gate(**members: Any) -> IntentGate:
    """Return a gate that reads `action`; it allows every intent but `abort`, where nobody says which."""
    return IntentGate(**{"field": ("action",), "intents": INTENTS, **members})


def flow(
    *, judge: JudgeDefinition | None = None, validators: Mapping[str, Validator] | None = None, **nodes: Node
) -> Plan:
    """Return a flow that begins with the step `a`; its inputs may hold anything."""
    return Plan(
        id="flow",
        names=Names("step", "intent"),
        entries={"": "a"},
        nodes=nodes,
        contents=CONTENTS.texts,
        limits=Limits(20, Outcome.FAILED),
        entry="",
        inputs={name: Input() for name in ("who", "stdin", "iteration")},
        judge=judge,
        validators=validators or {},
    )


def judged(kind: str, **settings: Json) -> Plan:
    """Return a flow of one step that is repeated until a judge finds the work done."""
    return flow(judge=JudgeDefinition(kind, settings), a=step(*AGAIN, gate=JudgeGate()))


def closure(validation: Validation, *edges: Edge) -> Node:
    """Return a closure step that is guarded."""
    return step(Edge("closing", DONE), *edges, *goes(repeat="c"), validation=validation)


def guarded(action: str = "retry", success: Success | None = None, **members: Any) -> Plan:
    """Return a flow of a work step and a closure step, which a validator named `clean` guards.

    Members of the validator are `command`, `pattern` and `extract`, all others are those of the validation.
    """
    own = {name: members.pop(name) for name in ("command", "pattern", "extract") if name in members}
    validator = Validator(**{"command": "check", "success": success or Success("empty"), "pattern": "dirty", **own})
    validation = Validation(**{"conditions": (Condition("clean"),), "action": action, **members})
    return flow(validators={"clean": validator}, a=step(*goes(handoff="c")), c=closure(validation))


def program(*edges: Edge, words: tuple[str, ...] = ("make",)) -> Node:
    """Return a closure step that runs a program."""
    return Node(Command(tuple(map(text, words)), 1000), ExitGate(), edges or (Edge("closing", DONE), *goes(repeat="a")))


def says(action: Json, /, **more: Json) -> Json:
    """Return an answer of a model with an action."""
    return {"answer": {"action": action, **more}}


def output(stdout: str = "", stderr: str = "", status: Json = 0) -> Json:
    """Return what a command leaves behind."""
    return {"exit": status, "stdout": stdout, "stderr": stderr}


def asked(run: Run) -> Ask:
    """Return the request that waits, which asks a model."""
    assert isinstance(run.next, Ask)
    return run.next


def command(run: Run) -> str:
    """Return the command of a validator that waits for its answer."""
    assert isinstance(run.next, Shell)
    return run.next.command


def where(run: Run) -> str:
    """Return the step that is asked next, or how the run has ended."""
    return run.end[1] if run.end[0] is not None else run.next.key.partition("/")[2].partition("#")[0]


def reading(variables: Mapping[str, Supply], *needed: str) -> Node:
    """Return a step whose prompt is made of variables, a line for each."""
    prompt = tuple(piece for name in variables for piece in (Hole(("variable", name)), *text("\n")))
    return step(*goes(next="b"), prompt=prompt, variables=variables, needed=needed)


def at_most(plan: Plan, executions: int, reached: Outcome = Outcome.FAILED) -> Plan:
    """Return a plan with a bound."""
    return replace(plan, limits=Limits(executions, reached))
