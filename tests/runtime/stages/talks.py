"""Small pipelines made by hand, and a run of one that is answered request by request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Converse, Template, Text
from stagec.ir.plan.document import Contents, Input, Limits, LoopHook, Names, Plan, Session
from stagec.ir.plan.gate import Admission, Check, VerdictGate
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Stop
from stagec.runtime.machine import Answered, Cancelled, Event, Started, State, StepResult, advance
from stagec.runtime.machine.exchange import Call, Effect, Hook, Message, Request, Turn
from stagec.runtime.machine.failures import RunFailure
from stagec.runtime.machine.program import program_of

CONTENTS = Contents()
RESULT = CONTENTS.add(json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}}))
DONE, FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
END = (Edge("ok", DONE), Edge("fail", FAILED))
"""The edges of a stage that nothing follows."""


def text(given: str) -> Template:
    """Return the template of a text."""
    return (Text(CONTENTS.add(given)),)


def to(name: str) -> tuple[Edge, ...]:
    """Return the edges of a stage that another follows."""
    return (Edge("ok", Go(name)), Edge("fail", FAILED))


def stage(*tools: str, turns: int = 3, prompt: Template | None = None, **members: Any) -> Node:
    """Return a stage that may call some tools; `accepts` is part of its act, everything else of the node."""
    act = Converse(prompt or text("Work."), tools, "submit", RESULT, turns, members.pop("accepts", None))
    checks: Iterable[Check] = members.pop("checks", ())
    return Node(act, VerdictGate(tuple(checks)), members.pop("edges", END), **members)


def pipeline(entry: str = "a", /, **nodes: Node) -> Plan:
    """Return a pipeline of some stages; inputs that hold anything are `task` and `busy`."""
    return Plan(
        id="pipeline",
        names=Names("stage", "verdict"),
        entries={"": entry},
        nodes=nodes,
        contents=CONTENTS.texts,
        limits=Limits(20, Outcome.FAILED, 4),
        entry="",
        inputs={"task": Input(), "busy": Input()},
    )


def alone(*tools: str, session: Session | None = None, **members: Any) -> Plan:
    """Return a pipeline of one stage."""
    return replace(pipeline(a=stage(*tools, **members)), session=session)


def hooked(*hooks: str, mode: str | None = None) -> Session:
    """Return a session with hooks, each written `STAGE/when kind call`."""
    return Session(mode, tuple(_hook(each) for each in hooks))


def _hook(given: str) -> LoopHook:
    slot, kind, call = given.split()
    loop_stage, _, when = slot.partition("/")
    return LoopHook(loop_stage, when, kind, f"hooks:{call}")


def calls(*given: tuple[str, str, Json], say: str = "") -> dict[str, Json]:
    """Return a response that calls tools, each as id, name and arguments."""
    return {"text": say, "calls": [{"id": name, "tool": tool, "arguments": args} for name, tool, args in given]}


def submit(name: str = "s", **payload: Json) -> dict[str, Json]:
    """Return a response that hands a result in."""
    return calls((name, "submit", payload))


class Run:
    """A run that goes on when it is told something; `step` is what followed last."""

    def __init__(self, plan: Plan, **inputs: Json) -> None:
        self.program, self.told = program_of(plan), list[Any]()
        self.step = StepResult(State())
        self.event(Started("r", inputs=inputs))

    def event(self, event: Event) -> StepResult:
        """Tell the machine of an event."""
        self.step = advance(self.program, self.step.state, event)
        self.told += self.step.trace
        return self.step

    def answer(self, answer: Json, to: str | None = None) -> StepResult:
        """Answer a request, without a name the one that has waited longest."""
        return self.event(Answered(self.next.key if to is None else f"r/{to}", answer))

    def answers(self, *answers: Json) -> StepResult:
        """Answer one request after the other."""
        for each in answers:
            self.answer(each)
        return self.step

    def cancel(self) -> StepResult:
        """Say that somebody wants the run to end."""
        return self.event(Cancelled())

    @property
    def next(self) -> Effect:
        """The request that has waited longest."""
        return next(iter(self.step.state.pending.values()))

    @property
    def turn(self) -> Turn:
        """The next request, which is a turn of the model."""
        assert isinstance(self.next, Turn)
        return self.next

    @property
    def hook(self) -> Hook:
        """The next request, which calls a hook."""
        assert isinstance(self.next, Hook)
        return self.next

    @property
    def given(self) -> Mapping[str, Any]:
        """What the hook is given that is called next."""
        return self.hook.given

    @property
    def end(self) -> tuple[Outcome | None, str]:
        """How the run has ended, and why: of a failure, the node and the kind."""
        state = self.step.state
        return (
            state.ended,
            state.reason if state.failure is None else f"{state.failure.node or 'run'}: {state.failure.kind}",
        )

    @property
    def failure(self) -> RunFailure:
        """Why the run has failed."""
        assert self.step.state.failure is not None
        return self.step.state.failure

    def facts(self, name: str, *members: str) -> list[Any]:
        """Return members of the facts of the events of a name: a list of values, or of lists of values."""
        found = [each.facts for each in self.told if each.name == name]
        if len(members) == 1:
            return [facts.get(members[0]) for facts in found]
        return [[facts.get(member) for member in members] for facts in found]

    def names(self, *hidden: str) -> list[str]:
        """Return the names of the events so far, but for those that begin with something."""
        return [each.name for each in self.told if not each.name.startswith(hidden or ("\0",))]


def told(message: Message) -> Mapping[str, Json]:
    """Return the text of a tool's answer as JSON."""
    found: Mapping[str, Json] = json.loads(message.text)
    return found


def tool(name: str, answer: str) -> Message:
    """Return the answer to a call."""
    return Message("tool", answer, call=name)


def said(*given: tuple[str, str, Json], say: str = "") -> Message:
    """Return what a response leaves in the transcript."""
    return Message("assistant", say, tuple(Request(name, tool, args) for name, tool, args in given))


SYSTEM = Message("system", "Work.")


def keys(step: StepResult, kind: type = Call) -> list[str]:
    """Return the keys of the requests of one kind that a step makes."""
    return [each.key for each in step.effects if type(each) is kind]


def admission(on_defer: str = "fail", on_block: str = "fail", **terms: Any) -> Admission:
    """Return an admission with terms."""
    return Admission(on_defer, on_block, **terms)
