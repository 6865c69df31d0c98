"""Requests as JSON objects: complete, and of the published form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import jsonschema_rs
import pytest
from misleading import ask

from stagec.core.json import Json, object_of
from stagec.ir.plan.document import Plan
from stagec.runtime.machine import Answered, Cancelled, Effect, Event, Started, State, advance
from stagec.runtime.machine.exchange import Close, Comment, Dispatch, Hook, Relabel, Shell, Wait
from stagec.runtime.machine.program import load
from stagec.runtime.world.request_json import KINDS, ToolDefinition, dump_request

TOP = Path(__file__).parents[2]
VECTORS = TOP / "tests" / "plan_vectors"
MESSAGES = jsonschema_rs.validator_for(json.loads((TOP / "schemas" / "world.schema.json").read_text()))
TRACES = sorted(VECTORS.glob("*/*.trace.json"))


def _read_event(given: dict[str, Json]) -> Event:
    match given["is"]:
        case "start":
            return Started(str(given["run"]), given.get("entry"), object_of(given.get("inputs")))  # type: ignore[arg-type]
        case "answer":
            return Answered(str(given["to"]), given["answer"])
        case _:
            return Cancelled()


def _list_requests(trace: Path) -> Iterator[tuple[Plan, Effect]]:
    program, state = load((trace.parent / "plan.json").read_bytes()), State()
    for each in json.loads(trace.read_text()):
        step = advance(program, state, _read_event(each["event"]))
        state = step.state
        yield from ((program.plan, effect) for effect in step.effects)


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_every_request_of_the_example_plans_has_the_published_form(trace: Path) -> None:
    for plan, effect in _list_requests(trace):
        MESSAGES.validate(json.loads(json.dumps(dump_request(plan, effect))))


def test_the_examples_show_every_kind_of_request_but_hooks_shell_commands_and_those_of_phases() -> None:
    seen = {type(effect) for trace in TRACES for _, effect in _list_requests(trace)}
    assert KINDS.keys() - seen <= {Hook, Shell, Dispatch, Relabel, Comment, Close}


PLAN = load((VECTORS / "code-review" / "plan.json").read_bytes()).plan


@pytest.mark.parametrize(
    "effect",
    [
        Hook("r/a#1/1.0", "m:f", "setup", {"ctx": {}}),
        Shell("r/a#1/1.0", "ls"),
        Wait("r/a#1/1.0", 5),
        Dispatch("r/a#1/1.0", "builder", "r~builder~1", {"issue": 7}),
        Relabel("r/a#1/1.1", "done", ("done",), ("kind:build",)),
        Comment("r/a#1/1.2", "Done"),
        Close("r/a#1/1.3"),
    ],
)
def test_other_requests_have_the_published_form(effect: Effect) -> None:
    MESSAGES.validate(json.loads(json.dumps(dump_request(PLAN, effect))))


def test_a_question_about_a_call_has_all_of_its_arguments() -> None:
    effect = ask("Bash", {"command": "true " * 9_000, "timeout": 5})
    told = dump_request(PLAN, effect)
    MESSAGES.validate(json.loads(json.dumps(told)))
    assert told["arguments"] == effect.arguments


def test_a_schema_stands_in_a_request_in_full() -> None:
    turns = [
        dump_request(plan, effect) for plan, effect in _list_requests(VECTORS / "code-review" / "straight.trace.json")
    ]
    completion = object_of(turns[0]["completion"])
    assert object_of(completion["schema"])["type"] == "object"
    assert turns[0]["opening"] == f"Begin. Call {completion['name']} alone when you are done."


def test_tools_are_told_by_what_knows_them() -> None:
    class Known:
        def define(self, names: Iterable[str]) -> tuple[ToolDefinition, ...]:
            assert next(iter(names)) == "Read"
            return (ToolDefinition("grep", "Find lines", {"type": "object"}, "read", "bundled"),)

    (first, *_) = _list_requests(VECTORS / "code-review" / "straight.trace.json")
    told = dump_request(*first, Known())
    assert told["tools"] == [
        {
            "name": "grep",
            "description": "Find lines",
            "schema": {"type": "object"},
            "effects": "read",
            "origin": "bundled",
        }
    ]
