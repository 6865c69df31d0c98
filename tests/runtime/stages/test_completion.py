"""The completion channel: what counts as a result, and what is told of a response."""

from __future__ import annotations

import json

import pytest
from runtime.stages.talks import CONTENTS, Run, alone, calls, submit

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Outcome

ANYTHING = CONTENTS.add(json.dumps(True))


def lenient(turns: int = 3) -> Plan:
    """Return a pipeline of one stage whose schema allows anything."""
    plan = alone("Read", turns=turns)
    node = plan.nodes["a"]
    return replace(plan, contents=CONTENTS.texts, nodes={"a": replace(node, act=replace(node.act, schema=ANYTHING))})


@pytest.mark.parametrize("argument", ["text that cannot be read", 1, True, [], [{"n": 1}]], ids=str)
def test_a_result_is_an_object_whatever_the_schema_allows(argument: Json) -> None:
    run = Run(lenient())
    run.answer(calls(("1", "submit", argument)))
    answer = run.turn.transcript[-1]
    assert (answer.text, answer.call) == ("Not accepted: the argument is no object", "1")
    run.answer(submit(n="anything"))
    assert run.end == (Outcome.DONE, "completed")


def test_a_result_that_is_no_object_takes_a_turn_and_is_remembered() -> None:
    run = Run(replace(lenient(1), entry=""))
    run.answer(calls(("1", "submit", "no")))
    assert run.facts("StageAssertOutcome", "verdict", "capHit") == [["retry", True]]


def test_no_argument_is_the_empty_object() -> None:
    run = Run(lenient())
    run.answer({"calls": [{"id": "1", "tool": "submit"}]})
    assert run.end == (Outcome.DONE, "completed")


@pytest.mark.parametrize(("say", "streamed"), [("Thinking.", [1]), ("", [])])
def test_a_response_with_text_is_told_of_as_it_arrives(say: str, streamed: list[int]) -> None:
    run = Run(lenient())
    run.answer(calls(("1", "Read", {}), say=say))
    assert run.facts("ProviderTokensStreamed", "turn") == streamed
    provider = [name for name in run.names() if name.startswith("Provider")]
    told = ["ProviderTokensStreamed"] * len(streamed)
    assert provider == ["ProviderRequestStarted", *told, "ProviderRequestCompleted"]
    stages = iter(run.facts("StagePreFired", "stage"))
    begun = [next(stages) if name == "StagePreFired" else name for name in run.names()]
    assert begun.index("STREAM_RESPONSE") < begun.index("ProviderRequestCompleted")
