"""Spans and figures of runs, made of their events and the times beside them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from playable import stages, steps

from stagec.core.json import Json
from stagec.ir.plan import dump
from stagec.runtime.drivers.history import UNTIMED, EventTimes
from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.machine import Answered, Cancelled, Event, Program, Started, load
from stagec.runtime.telemetry.otlp import RunIdentity, split_spans
from stagec.runtime.telemetry.spans import (
    DURATION,
    ROOT,
    TOKENS,
    Figures,
    RunTracer,
    TraceSpan,
    describe_result,
    list_spans,
)

SECOND = 10**9
BEGUN = 1_763_850_000 * SECOND
USED = {"model": "openai-chat:gpt", "input": 100, "output": 5, "requests": 2, "cost": "0.01"}


def _answered(key: str, **answer: Json) -> Answered:
    return Answered(key, answer)


STEPS = (
    Started("one", None, {"topic": "winter"}),
    _answered("one/draft#1/1.0", answer={"action": "repeat"}, usage=USED),
    _answered("one/draft#2/1.0", answer={"action": "next"}, usage=USED),
    _answered("one/close#1/1.0", answer={"action": "closing"}, usage=USED),
    _answered("one/close#1/1.1", exit=0, stdout="", stderr=""),
)


def _times(count: int) -> list[EventTimes]:
    """Return times of events a second apart, each answer of which took a tenth of one."""
    return [EventTimes(BEGUN + n * SECOND, BEGUN + n * SECOND - SECOND // 10) for n in range(count)]


def _spans(
    events: tuple[Event, ...], times: list[EventTimes] | None = None, *, program: Program | None = None, **more: bool
) -> dict[str, TraceSpan]:
    known = program or load(dump(steps()))
    given = _times(len(events)) if times is None else times
    found = list(list_spans(RunTracer(known, **more), advance_through(known, events), given))
    assert len({each.key for each in found}) == len(found)
    return {each.key: each for each in found}


def _seconds(span: TraceSpan) -> tuple[float, float]:
    return (span.start - BEGUN) / SECOND, (span.end - BEGUN) / SECOND


def test_a_run_its_executions_and_their_requests_are_spans_inside_each_other() -> None:
    found = _spans(STEPS)
    assert {key: (each.name, each.parent) for key, each in found.items()} == {
        "one/draft#1/1.0": ("chat gpt", "one/draft#1"),
        "one/draft#1": ("invoke_agent draft", ROOT),
        "one/draft#2/1.0": ("chat gpt", "one/draft#2"),
        "one/draft#2": ("invoke_agent draft#2", ROOT),
        "one/close#1/1.0": ("chat gpt", "one/close#1"),
        "one/close#1/1.1": ("shell", "one/close#1"),
        "one/close#1": ("invoke_agent close", ROOT),
        ROOT: ("invoke_workflow writer", None),
    }
    assert list(found)[-1] == ROOT


def test_spans_have_the_times_of_the_journal() -> None:
    found = _spans(STEPS)
    assert _seconds(found[ROOT]) == (0, 4)
    assert _seconds(found["one/draft#2"]) == (1, 2)
    assert _seconds(found["one/draft#2/1.0"]) == (1.9, 2)


def test_the_run_says_which_plan_it_is_of_and_what_it_has_used() -> None:
    told = _spans(STEPS)[ROOT].attributes
    assert told["stagec.plan.digest"] == load(dump(steps())).digest
    assert (told["stagec.run.outcome"], told["stagec.usage.cost"], told["stagec.usage.requests"]) == ("done", "0.03", 6)


def test_what_was_said_is_told_on_request_alone() -> None:
    key = "one/draft#1/1.0"
    assert "winter" not in str([*_spans(STEPS).values()])
    told = _spans(STEPS, messages=True)[key].attributes
    assert "Draft winter" in str(told["gen_ai.input.messages"])
    assert "repeat" in str(told["gen_ai.output.messages"])


def test_a_run_that_has_not_ended_has_the_spans_that_have() -> None:
    found = _spans(STEPS[:2])
    assert [*found] == ["one/draft#1/1.0", "one/draft#1", ROOT]
    assert found[ROOT].attributes["stagec.run.outcome"] == "interrupted"


def test_what_a_cancelled_run_had_asked_is_void() -> None:
    found = _spans((*STEPS[:2], Cancelled("enough")))
    assert found["one/draft#2/1.0"].attributes["stagec.request.void"] is True
    assert found["one/draft#2"].attributes["stagec.outcome"] == "cancelled"
    assert (found[ROOT].error, found[ROOT].attributes["error.type"]) == ("cancelled", "cancelled")


def test_a_run_without_times_has_no_spans() -> None:
    assert _spans(STEPS, []) == {}


def test_of_a_journal_that_had_no_times_at_first_the_rest_has_spans() -> None:
    found = _spans(STEPS, [UNTIMED, UNTIMED, *_times(5)[2:]])
    assert next(iter(found)) == "one/draft#2/1.0"
    assert _seconds(found[ROOT]) == (2, 4)


def test_a_clock_that_is_set_back_makes_no_span_end_before_it_begins() -> None:
    found = _spans(STEPS, [EventTimes(BEGUN - n * SECOND, BEGUN) for n in range(5)])
    assert all(each.start <= each.end for each in found.values())


def test_a_call_of_a_tool_has_the_names_of_the_conventions() -> None:
    program = load(dump(stages()))
    call = {"id": "c", "tool": "Read", "arguments": {"path": "a"}}
    events = (
        Started("one"),
        _answered("one/plan#1/1.0", text="", calls=[call], usage=USED),
        _answered("one/plan#1/1.1", error={"class": "Tool", "code": "Failed", "message": "gone"}),
    )
    told = _spans(events, program=program)["one/plan#1/1.1"]
    wanted: Mapping[str, object] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "Read",
        "gen_ai.tool.call.id": "c",
        "gen_ai.tool.type": "function",
        "stagec.tool.origin": "bundled",
        "error.type": "Failed",
    }
    assert told.name == "execute_tool Read"
    assert {name: told.attributes[name] for name in wanted} == wanted
    full = _spans(events, program=program, messages=True)
    assert full["one/plan#1/1.1"].attributes["gen_ai.tool.call.arguments"] == '{"path": "a"}'
    assert "tool_call" in str(full["one/plan#1/1.0"].attributes["gen_ai.output.messages"])


def test_figures_count_what_models_have_used_by_model() -> None:
    figures = Figures()
    for each in _spans(STEPS).values():
        figures.take(each)
    found = {(each.name, each.attributes.get("gen_ai.token.type")): each for each in figures.list_histograms()}
    tokens, duration = found[TOKENS, "input"], found[DURATION, None]
    assert (tokens.total, sum(tokens.counts), tokens.attributes["gen_ai.provider.name"]) == (300, 3, "openai")
    assert (duration.unit, round(duration.total, 6), len(duration.counts)) == ("s", 0.3, len(duration.bounds) + 1)
    assert found[TOKENS, "output"].counts.index(3) == 2


def test_answers_that_no_model_gave_are_in_no_figure() -> None:
    figures = Figures()
    for each in _spans((STEPS[0], _answered("one/draft#1/1.0", answer={"action": "next"}))).values():
        figures.take(each)
    assert [*figures.list_histograms()] == []


def test_a_trace_has_the_same_ids_whenever_it_is_sent_and_no_other_run_has_them() -> None:
    one, again, later = (RunIdentity("one", "sha256:a", begun) for begun in (1, 1, 2))
    assert (one.trace, one.span("k")) == (again.trace, again.span("k"))
    assert len({one.trace, later.trace, RunIdentity("two", "sha256:a", 1).trace}) == 3
    assert one.span("k") != one.span("l") != later.span("l")
    assert 0 < one.trace < 1 << 128
    assert 0 < one.span("k") < 1 << 64


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [([], []), ([0] * 1100, [500, 500, 100]), ([600_000] * 3, [1, 1, 1]), ([5, 9_000_000, 5, 5], [1, 1, 2])],
    ids=["none", "many", "large", "one too large"],
)
def test_what_is_sent_at_once_is_what_a_collector_takes(sizes: list[int], parts: list[int]) -> None:
    spans = [TraceSpan("a", str(n), ROOT, 0, 0, {"told": "x" * size}) for n, size in enumerate(sizes)]
    found = [*split_spans(spans)]
    assert [len(each) for each in found] == parts
    assert [span for each in found for span in each] == spans


def test_what_is_no_answer_has_a_span_all_the_same() -> None:
    program = load(dump(steps()))
    _, step = next(iter(advance_through(program, STEPS[:1])))
    for answer in (None, 5, "x", [], {"error": 3}, {"usage": 5}, {"usage": {"model": 5}}, {"calls": [1], "text": 2}):
        told = describe_result(program.plan, step.effects[0], answer, messages=True)
        assert told.is_client
