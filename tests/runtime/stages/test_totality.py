"""Whatever the world answers, the machine goes on: it never raises, never asks the same twice, and an end is an end."""

from __future__ import annotations

from typing import Any

import pytest
from campaigns import choose
from handmade import steps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runtime.stages.talks import CONTENTS, FAILED, admission, hooked, pipeline, stage, to

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Hole
from stagec.ir.plan.document import Input, Limits, Plan
from stagec.ir.plan.gate import Among, Backoff, Check, Exists, Retry
from stagec.ir.plan.node import Chain, Edge, Fork, Outcome
from stagec.runtime.machine import Answered, Cancelled, Program, Started, State, StepResult, advance
from stagec.runtime.machine.acts.hooks import SLOTS
from stagec.runtime.machine.exchange import Ask, Call, Confirm, Effect, Grant, Hook, Judge, Run, Shell, Turn, Wait
from stagec.runtime.machine.program import program_of

HOOKS = {"setup": "m:setup", "gate": "m:gate", "assert": "m:assert", "exit": "m:exit"}
RETRIED = Retry(2, Backoff("fixed", 5))


def everything() -> Plan:
    """Make a pipeline with every policy, a fork in a fork, a chain, and hooks of every phase and at every slot."""
    checks = (Check("retry", (Among(("parsed", "n"), (3,)),), "not 3"), Check("fail", (Among(("parsed", "n"), (4,)),)))
    gate = admission("retry-later", "ask", defer=(Exists(("ctx", "busy"), present=True),))
    schema = CONTENTS.add('{"type":"object"}')
    plan = pipeline(
        a=stage("Read", edges=(Edge("ok", Fork(("x", "y"), "j")), Edge("fail", Chain(("x", "j")))), checks=checks),
        x=stage("Read", admission=gate, retry=RETRIED, edges=(Edge("ok", FAILED), Edge("fail", Fork(("p", "q"), "k")))),
        y=stage("Read", hooks=HOOKS, retry=RETRIED, admission=admission("skip", "fail")),
        p=stage(edges=to("k")),
        q=stage(prompt=(Hole(("ctx", "task", "deep")),)),
        k=stage(accepts=schema),
        j=stage(edges=to("a"), hooks=HOOKS),
    )
    return replace(plan, limits=Limits(12, Outcome.FAILED, 2))


def watched() -> Plan:
    """Make a pipeline of one stage with a hook of each kind at every slot that takes it."""
    attached = [f"{slot} {kind} {kind}" for slot, kinds in SLOTS.items() for kind in sorted(kinds)]
    plan = pipeline(a=stage("Read", turns=2, retry=RETRIED, hooks=HOOKS))
    return replace(plan, session=hooked(*attached, mode="yolo"))


def registry() -> Plan:
    """Make a plan of steps of every kind, with all that its prompts read."""
    plan = steps()
    return replace(plan, inputs={**plan.inputs, "agent_name": Input(default="solver")})


PLANS = {"everything": everything(), "busy": everything(), "watched": watched(), "steps": registry()}
PROGRAMS = {name: program_of(plan) for name, plan in PLANS.items()}

texts = st.text(max_size=5) | st.sampled_from(["ok", "fail", "defer", "block", "retry", "next", "closing", "\ud800"])
numbers = st.integers() | st.floats() | st.sampled_from([2**70, -(2**80), 10**400])
names = st.sampled_from(["value", "error", "calls", "text", "granted", "yes", "answer", "exit", "ctx", "verdict", "id"])
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | texts, inner, max_size=3),
    max_leaves=8,
)


def nested(depth: int) -> Json:
    """Return a list in a list in a list, to some depth."""
    found: Json = []
    for _ in range(depth):
        found = [found]
    return found


calls = st.fixed_dictionaries(
    {"tool": st.sampled_from(["Read", "Read", "Bash", "submit", ""])},
    optional={"id": texts, "arguments": anything | st.fixed_dictionaries({"n": st.integers(0, 5)})},
)


def fitting(effect: Effect) -> st.SearchStrategy[Any]:
    """Return answers to a request that its class foresees."""
    if isinstance(effect, Turn):
        handed = st.integers(0, 5).map(lambda n: {"calls": [{"tool": effect.completion, "arguments": {"n": n}}]})
        return handed | st.fixed_dictionaries({"text": texts, "calls": st.lists(calls, max_size=3)})
    return values(SAID.get(effect.phase, shown(effect))) if isinstance(effect, Hook) else FITTING[type(effect)]


def shown(hook: Hook) -> list[Json]:
    """Return what a hook of the message loop may return: a guard allows, all others leave what they see."""
    return (
        [True] if hook.given.get("kind") == "guard" else [hook.given[name] for name in SUBJECTS if name in hook.given]
    )


def values(given: list[Json]) -> st.SearchStrategy[Any]:
    return st.sampled_from([{"value": each} for each in given])


SAID: dict[str, list[Json]] = {
    "setup": [None, {"task": {"deep": 1}}],
    "gate": [None, "proceed", "proceed", "defer", "block"],
    "assert": [None, "ok", "ok", "retry", "fail"],
    "exit": [None, {"digest": "d"}],
}
"""What callables of the phases may return."""
printed = st.fixed_dictionaries({"exit": st.integers(0, 1), "stdout": texts, "stderr": texts})
actions = st.sampled_from(["next", "next", "jump", "repeat", "closing"])
FITTING: dict[type, st.SearchStrategy[Any]] = {
    Call: st.fixed_dictionaries({"value": anything}) | st.fixed_dictionaries({"error": anything}),
    Grant: st.fixed_dictionaries({"granted": st.booleans()}),
    Confirm: st.fixed_dictionaries({"yes": st.booleans()}),
    Wait: st.just({}),
    Run: printed,
    Shell: printed,
    Judge: st.fixed_dictionaries({"done": st.booleans()}),
    Ask: st.fixed_dictionaries({"answer": st.fixed_dictionaries({"action": actions, "to": texts})}),
}

SUBJECTS = ("input", "request", "response", "text", "arguments", "payload", "result")
"""Under which names hooks are given what they may change."""
INPUTS: dict[str, dict[str, Json]] = {
    "everything": {"task": {"deep": "t"}},
    "busy": {"task": {"deep": "t"}, "busy": True},
    "watched": {},
    "steps": {"issue": 7},
}


class History:
    """A run, and all that has ever been asked in it."""

    def __init__(self, program: Program, started: Started) -> None:
        self.program, self.asked, self.told = program, set[str](), 0
        self.step = StepResult(State())
        self.event(started)

    def event(self, event: Started | Answered | Cancelled) -> None:
        """Tell the machine of an event, and hold what follows against what must be."""
        before, step = self.step.state, advance(self.program, self.step.state, event)
        made = [each.key for each in step.effects]
        assert not self.asked.intersection(made)
        assert len(set(made)) == len(made)
        assert set(step.void) <= before.pending.keys()
        assert step.state.pending.keys() == (
            before.pending.keys() - {getattr(event, "key", "")} - set(step.void)
        ) | set(made)
        assert {key.rpartition("/")[0] for key in step.state.pending} == step.state.active.keys()
        assert [each.facts["seq"] for each in step.trace] == list(range(self.told + 1, step.state.traced + 1))
        self.asked.update(made)
        self.step, self.told = step, step.state.traced


@pytest.mark.parametrize("name", PROGRAMS)
@settings(deadline=None, max_examples=choose(20, whole=80), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_answer_to_any_request_is_followed_by_something(name: str, data: st.DataObject) -> None:
    history = History(PROGRAMS[name], Started("r", "", INPUTS[name]))
    for _ in range(60):
        state = history.step.state
        if state.ended is not None:
            break
        effect = data.draw(st.sampled_from(list(state.pending.values())))
        fits = data.draw(st.integers(0, 30)) < 30
        history.event(Answered(effect.key, data.draw(fitting(effect) if fits else anything)))
    ended(history)


@settings(deadline=None)
@given(inputs=st.dictionaries(st.sampled_from(["task", "busy"]), anything))
def test_any_input_is_taken_or_refused(inputs: dict[str, Json]) -> None:
    ended(History(PROGRAMS["everything"], Started("r", "", inputs)))


def ended(history: History) -> None:
    """Hold a run against what must be true of its end, which nothing changes."""
    if history.step.state.ended is None:
        history.event(Cancelled())
    state = history.step.state
    assert (state.active, state.pending, state.scopes, tuple(state.waiting)) == ({}, {}, {}, ())
    for event in (Cancelled(), Started("s"), *(Answered(key, {"value": True}) for key in history.asked)):
        assert advance(history.program, state, event) == StepResult(state)


@pytest.mark.parametrize("depth", [100, 2_000])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_answer_may_be_nested_as_deeply_as_it_likes(name: str, depth: int) -> None:
    history = History(
        PROGRAMS[name], Started("r", inputs={"task": "t", "issue": 1} if name == "steps" else {"task": "t"})
    )
    history = history if history.step.state.ended is None else History(PROGRAMS[name], Started("r"))
    for _ in range(20):
        pending = list(history.step.state.pending.values())
        if not pending:
            break
        key = pending[0].key
        history.event(Answered(key, {"value": nested(depth), "text": "x", "answer": nested(depth)}))
    ended(history)


@pytest.mark.parametrize("inputs", [{"task": float("nan")}, {"task": "\ud800"}, {"task": nested(2_000)}, {"\ud800": 1}])
def test_inputs_that_cannot_be_read_are_refused(inputs: dict[str, Json]) -> None:
    history = History(PROGRAMS["everything"], Started("r", inputs=inputs))
    assert history.step.state.ended is Outcome.FAILED
    assert history.step.state.executions == 0


def test_a_run_without_an_id_does_not_begin() -> None:
    history = History(PROGRAMS["everything"], Started(""))
    assert history.step.state.reason == "the run cannot begin: the run has no id"
