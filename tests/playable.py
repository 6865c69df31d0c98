"""Small plans made by hand that can be run, and a project's worth of what running them needs."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Command, Converse, Given, Hole, Prompt, Text
from stagec.ir.plan.document import Contents, Input, JudgeDefinition, Limits, Names, Success, Tool, Validator
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import (
    Admission,
    Among,
    Backoff,
    Condition,
    ExitGate,
    IntentGate,
    JudgeGate,
    Retry,
    Validation,
    VerdictGate,
)
from stagec.ir.plan.node import Edge, Fork, Go, Node, Outcome, Stop
from stagec.runtime.machine import Effect
from stagec.runtime.machine.exchange import Ask, Shell, read_key

_DONE, _FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
_STEP = '{"type":"object","required":["action"],"properties":{"action":{"enum":["next","repeat","closing","abort"]}}}'
_WORDS = '{"type":"object","required":["words"],"properties":{"words":{"type":"integer"}}}'


def _completed(plan: Plan) -> Plan:
    return replace(plan, facts=facts(plan))


def steps(command: str = "exit 0", limit: int = 20, schema: str = _STEP) -> Plan:
    """Make two steps: `draft` is repeated or leads to `close`, which the command must let pass."""
    contents = Contents()
    asked = contents.add(schema)

    def step(text: str) -> Prompt:
        prompt = (Text(contents.add(text)), Hole(("variable", "topic")))
        return Prompt(prompt, variables={"topic": Given("topic")}, schema=asked)

    return _completed(
        Plan(
            id="writer",
            names=Names("step", "intent"),
            entries={"": "draft", "late": "close"},
            entry="",
            contents=contents.texts,
            limits=Limits(limit),
            nodes={
                "draft": Node(
                    step("Draft "),
                    IntentGate(("action",), ("next", "repeat")),
                    (Edge("next", Go("close")), Edge("repeat", Go("draft"))),
                ),
                "close": Node(
                    step("Close "),
                    IntentGate(("action",), ("closing", "repeat")),
                    (Edge("closing", _DONE), Edge("repeat", Go("draft"))),
                    validation=Validation((Condition("checked"),), attempts=3),
                ),
            },
            inputs={"topic": Input(required=True, schema=contents.add('{"type":["string","integer"]}'))},
            validators={"checked": Validator(command, Success("exit", "0"), "unfinished")},
        )
    )


def stages(hooks: Mapping[str, str] = NOTHING, admission: Admission | None = None) -> Plan:
    """Make three stages: `plan` leads to `count` and `spell` together; only `spell` is tried again when it fails."""
    contents = Contents()
    schema = contents.add(_WORDS)

    def stage(text: str) -> Converse:
        return Converse((Text(contents.add(text)),), ("Read",), "submit", schema, 3)

    ends = (Edge("ok", _DONE), Edge("fail", _FAILED))
    retry = Retry(2, Backoff("fixed", 60_000))
    return _completed(
        Plan(
            id="reader",
            names=Names("stage", "verdict"),
            entries={"": "plan"},
            entry="",
            contents=contents.texts,
            limits=Limits(20, parallel=2),
            nodes={
                "plan": Node(
                    stage("Plan.\n"),
                    VerdictGate(),
                    (Edge("ok", Fork(("count", "spell"))), Edge("fail", _FAILED)),
                    hooks=hooks,
                    admission=admission,
                ),
                "count": Node(stage("Count.\n"), VerdictGate(), ends),
                "spell": Node(stage("Spell.\n"), VerdictGate(), ends, retry=retry),
            },
            tools={"Read": Tool("bundled", "read")},
            inputs={"busy": Input(default=False, schema=contents.add('{"type":"boolean"}'))},
        )
    )


def asking() -> Plan:
    """Make stages of which the first asks people when the run is said to be busy."""
    return stages(admission=Admission("ask", "fail", defer=(Among(("ctx", "busy"), (True,)),)))


def command(*words: str, milliseconds: int = 60_000) -> Plan:
    """Make one step that runs a program until it ends with 0, three times at most."""
    contents = Contents()
    templates = tuple((Text(contents.add(word)),) for word in words)
    node = Node(Command(templates, milliseconds), ExitGate(), (Edge("closing", _DONE), Edge("repeat", Go("work"))))
    return _completed(
        Plan("worker", Names("step", "intent"), {"": "work"}, {"work": node}, contents.texts, Limits(3), entry="")
    )


def judged() -> Plan:
    """Make one step that goes on until the world says that the work is done."""
    contents = Contents()
    node = Node(
        Prompt((Text(contents.add("Go on.\n")),)), JudgeGate(), (Edge("verdict", _DONE), Edge("next", Go("work")))
    )
    return _completed(
        Plan(
            "judged",
            Names("step", "intent"),
            {"": "work"},
            {"work": node},
            contents.texts,
            Limits(9),
            entry="",
            judge=JudgeDefinition("poll:state"),
        )
    )


STEPS = """\
inputs: {topic: winter}
answers:
  draft: [{action: repeat}, {action: next}]
  close: [{action: closing}]
"""
"""A scenario for `steps`."""
STAGES = """\
conversations:
  plan:
    - {say: I look., calls: [{tool: Read, arguments: {path: a.md}}]}
    - {complete: {words: 3}}
  count: [{complete: {words: 1}}]
  spell: [{complete: {words: 2}}]
tools: {Read: one two three}
"""
"""A scenario for `stages`."""


class Answers:
    """A world for `steps`: drafts twice, then closes; stops at a request if it is told to."""

    def __init__(self, stop: str | None = None) -> None:
        self.asked: list[str] = []
        self._stop = stop

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        self.asked.append(effect.key)
        if effect.key == self._stop:
            raise InterruptedError
        if isinstance(effect, Shell):
            return {"exit": 0, "stdout": "", "stderr": ""}
        assert isinstance(effect, Ask)
        key = read_key(effect.key)
        return {"answer": {"action": _ANSWERS[key.node, key.visit]}}


_ANSWERS = {("draft", 1): "repeat", ("draft", 2): "next", ("close", 1): "closing"}


HOOKS = """
def gate(given):
    return 'proceed'
"""
"""A module that `stages(hooks={"gate": "own_hooks:gate"})` names."""
