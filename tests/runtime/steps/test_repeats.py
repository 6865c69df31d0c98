"""How often a node repeats itself in a row, what it asks then, and what guards it before and after."""

from __future__ import annotations

from typing import Any

import pytest
from runtime.stages.talks import Run, text
from runtime.steps.flows import DONE, asked, at_most, flow, goes, intent_gate, output, says, step

from stagec.ir.plan.act import Given, Hole, Repeat
from stagec.ir.plan.document import Plan, Success, Validator
from stagec.ir.plan.gate import Condition, Validation
from stagec.ir.plan.node import Edge, Node, Outcome
from stagec.runtime.machine.exchange import Ask, Shell
from stagec.runtime.machine.failures import FailureKind

CHECKS = {name: Validator(f"is {name}", Success("empty"), f"not-{name}") for name in ("clean", "ready", "typed")}


def chain(*prompts: str) -> tuple[Repeat, ...]:
    return tuple(Repeat(text(each)) for each in prompts)


def repeating(*prompts: str, **members: Any) -> Node:
    """Return a step that can repeat itself as often as it has prompts for it."""
    gate = intent_gate(intents=("next", "repeat", "closing"))
    edges = (*goes(next="b", repeat="a"), Edge("closing", DONE))
    return step(*edges, gate=gate, prompt=text("First."), repeats=chain(*prompts), **members)


def around(first: Node) -> Plan:
    """Return a flow of a step and another one that leads back to it."""
    return flow(validators=CHECKS, a=first, b=step(*goes(next="a", repeat="b"), Edge("closing", DONE)))


def prompts(run: Run, *answers: str) -> list[str]:
    """Answer as told, and return what the model was asked each time and is asked then."""
    seen = [asked(run).prompt]
    for each in answers:
        run.answer(says(each))
        if run.end[0] is None:
            seen.append(asked(run).prompt)
    return seen


def failure_of(run: Run) -> tuple[FailureKind, str]:
    failure = run.step.state.failure
    assert failure is not None
    return failure.kind, failure.detail


def test_each_repeat_in_a_row_has_its_prompt() -> None:
    run = Run(around(repeating("Again.", "Harder.")))
    assert prompts(run, "repeat", "repeat", "closing") == ["First.", "Again.", "Harder."]
    assert run.end[0] is Outcome.DONE


@pytest.mark.parametrize("most", range(4))
def test_a_chain_of_so_many_allows_so_many_repeats_in_a_row(most: int) -> None:
    run = Run(around(repeating(*map(str, range(most)))))
    assert prompts(run, *["repeat"] * most) == ["First.", *map(str, range(most))]
    run.answer(says("repeat"))
    assert run.end[0] is Outcome.FAILED
    assert failure_of(run) == (FailureKind.CHAIN_EXHAUSTED, f"{most} repeat{'s' * (most != 1)} in a row")
    assert "AGENT_ADAPTATION_CHAIN_EXHAUSTED" in run.step.state.reason


def test_another_intent_of_the_step_begins_the_chain_anew() -> None:
    run = Run(around(repeating("Again.")))
    seen = prompts(run, "repeat", "next", "next", "repeat", "closing")
    assert seen == ["First.", "Again.", "Do it.", "First.", "Again."]
    assert run.end[0] is Outcome.DONE


def test_a_step_without_a_chain_repeats_until_the_limit() -> None:
    run = Run(at_most(around(step(*goes(repeat="a"), gate=intent_gate(intents=("repeat",)))), 5))
    assert prompts(run, *["repeat"] * 5) == ["Do it."] * 5
    assert failure_of(run)[0] is FailureKind.BOUND


def test_a_repeat_has_variables_of_its_own() -> None:
    again = Repeat((*text("For "), Hole(("variable", "who"))), {"who": Given("who")})
    first = step(*goes(repeat="a"), prompt=text("First."), repeats=(again,), gate=intent_gate(intents=("repeat",)))
    run = Run(around(first), who="Ada")
    assert prompts(run, "repeat") == ["First.", "For Ada"]
    run = Run(around(first))
    run.answer(says("repeat"))
    assert failure_of(run)[0] is FailureKind.UNSTARTABLE


def guarded(**members: Any) -> Plan:
    return around(repeating("Again.", validation=Validation(**members)))


def test_what_must_hold_before_is_checked_at_each_visit_before_the_model_is_asked() -> None:
    run = Run(guarded(preflight=(Condition("ready"), Condition("clean"))))
    assert run.next == Shell("r/a#1/1.0", "is ready")
    run.answers(output(), output())
    assert (asked(run).key, asked(run).prompt) == ("r/a#1/1.2", "First.")
    run.answer(says("repeat"))
    assert run.next == Shell("r/a#2/1.0", "is ready")
    run.answers(output(), output())
    assert asked(run).prompt == "Again."


@pytest.mark.parametrize("action", ["retry", "skip", "abort"])
@pytest.mark.parametrize("before", [0, 1])
def test_a_run_fails_where_that_does_not_hold_whatever_follows_failures(action: str, before: int) -> None:
    run = Run(guarded(preflight=(Condition("ready"), Condition("clean")), action=action, attempts=9))
    run.answers(*[output()] * before, output("M a.py\n"))
    name = ("ready", "clean")[before]
    assert run.end[0] is Outcome.FAILED
    assert failure_of(run) == (FailureKind.PREFLIGHT, f"not-{name} by 'is {name}', exit 0")
    assert "AGENT_VALIDATION_ABORT" in run.step.state.reason


def test_the_model_is_asked_once_more_without_another_check() -> None:
    run = Run(guarded(preflight=(Condition("ready"),)))
    run.answers(output(), {"answer": 3})
    assert isinstance(run.next, Ask)
    assert asked(run).key == "r/a#1/2.0"


@pytest.mark.parametrize(("every", "is_checked"), [(True, True), (False, False)])
def test_a_guard_of_every_outcome_is_asked_before_the_run_goes_on(*, every: bool, is_checked: bool) -> None:
    run = Run(guarded(conditions=(Condition("clean"),), every_outcome=every))
    run.answer(says("next"))
    assert isinstance(run.next, Shell) is is_checked


def test_a_repeat_is_not_guarded() -> None:
    run = Run(guarded(conditions=(Condition("clean"),), every_outcome=True))
    run.answer(says("repeat"))
    assert asked(run).prompt == "Again."


def test_a_step_that_is_refused_is_done_again_itself_and_its_chain_begins_anew() -> None:
    run = Run(guarded(conditions=(Condition("clean"),), every_outcome=True, attempts=2))
    run.answers(says("repeat"), says("next"), output("M a.py\n"))
    assert (asked(run).key, asked(run).prompt[:20]) == ("r/a#3/1.0", "The work was checked")
    run.answer(says("repeat"))
    assert asked(run).prompt == "Again."
    run.answers(says("next"), output("M a.py\n"))
    assert failure_of(run)[0] is FailureKind.VALIDATION


def test_a_guard_before_and_after() -> None:
    run = Run(guarded(preflight=(Condition("ready"),), conditions=(Condition("clean"),)))
    run.answers(output(), says("closing"))
    assert run.next == Shell("r/a#1/1.2", "is clean")
    run.answer(output())
    assert run.end[0] is Outcome.DONE
