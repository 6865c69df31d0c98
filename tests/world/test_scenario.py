"""Scenarios: what a document means, and what its schema says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.runtime.world.scenario import Scenario, parse_scenario
from stagec.sources.read import Sources
from stagec.sources.shape import judge
from stagec.sources.shape.faults import topic_of

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "scenario.schema.json").read_text(encoding="utf-8"))


def described(given: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(given, dict):
        for key, member in given.items():
            yield from member.items() if key in {"properties", "patternProperties"} else ()
            yield from described(member)
    elif isinstance(given, list):
        for each in given:
            yield from described(each)


def judged(given: Json) -> list[tuple[str, str]]:
    text = json.dumps(given).encode()
    tree = Sources(Path(), Budgets(), {"s.json": text}).tree("s.json", "scenario")
    assert tree is not None
    return [(fault.topic, "/".join(map(str, fault.at.pointer))) for fault in judge(tree, "scenario").faults]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_member_has_a_title_and_a_description() -> None:
    assert [name for name, member in described(SCHEMA) if not {"title", "description"} <= set(member)] == []


def test_every_member_of_the_schema_is_read() -> None:
    members = {"entry", "inputs", "answers", "conversations", "tools", "grants", "judge", "confirm", "hooks"}
    assert set(SCHEMA["properties"]) == {*members, "commands", "processes", "waits", "pace", "agents", "issue"}


def test_what_is_wrong_is_told_by_a_rule() -> None:
    assert topic_of(SCHEMA, ("properties", "entry", "type"))[0] == "wrong-type"
    assert topic_of(SCHEMA, ("$defs", "call", "required"))[0] == "missing-key"


def test_a_document_says_what_the_world_answers() -> None:
    told: Json = {
        "entry": "late",
        "inputs": {"topic": "winter"},
        "answers": {"draft": []},
        "conversations": {"plan": []},
        "tools": {"Read": "x"},
        "grants": ["Bash"],
        "judge": [True],
        "confirm": {"plan": True},
        "hooks": {"a:b": 1},
        "commands": {"ls": {"exit": 1}},
        "waits": "skip",
        "pace": 20,
    }
    assert parse_scenario(told, "s.yaml") == Scenario(
        "s.yaml",
        "late",
        {"topic": "winter"},
        {"draft": []},
        {"plan": []},
        {"Read": "x"},
        ["Bash"],
        [True],
        {"plan": True},
        {"a:b": 1},
        {"ls": {"exit": 1}},
        skips_waits=True,
        pace=20,
    )


@pytest.mark.parametrize("given", [None, [], "x", {"inputs": 1, "answers": [], "waits": "real", "pace": True}])
def test_what_is_none_says_nothing(given: Json) -> None:
    assert parse_scenario(given, "s.yaml") == Scenario("s.yaml")


SOUND: dict[str, Json] = {
    "nothing": {},
    "a remark": {"$schema": "x", "x-note": 1, "_a": 2},
    "turns": {"conversations": {"plan": [{"say": "x"}, {"calls": [{"tool": "Read"}], "complete": {}}]}},
    "turns of each visit": {"conversations": {"plan": [[{"say": "x"}], [{"complete": 1}], {"complete": 2}]}},
    "results beside calls": {"conversations": {"plan": [{"calls": [{"tool": "a", "arguments": "b", "error": "c"}]}]}},
    "grants of all": {"grants": True},
    "grants by name": {"grants": {"Bash": False}},
    "a judge for each visit": {"judge": [False, True]},
    "a judge for each step": {"judge": {"work": [False, True], "other": True}},
    "commands": {"commands": {"ls": {"exit": None, "stdout": "x", "stderr": "y"}, "rm": [{}, {"exit": 2}]}},
}


@pytest.mark.parametrize("given", SOUND.values(), ids=SOUND)
def test_what_may_be_written_may_be_written(given: Json) -> None:
    assert judged(given) == []


FAULTY: dict[str, tuple[Json, list[tuple[str, str]]]] = {
    "an unknown member": ({"answer": {}}, [("unknown-key", "answer")]),
    "answers in a list": ({"answers": []}, [("wrong-type", "answers")]),
    "no turns": ({"conversations": {"plan": []}}, [("empty-value", "conversations/plan")]),
    "no turns of a visit": ({"conversations": {"plan": [[]]}}, [("empty-value", "conversations/plan/0")]),
    "a turn that is none": ({"conversations": {"plan": ["x"]}}, [("wrong-type", "conversations/plan/0")]),
    "an unknown member of a turn": (
        {"conversations": {"plan": [[{"does": 1}]]}},
        [("unknown-key", "conversations/plan/0/0/does")],
    ),
    "a call of nothing": (
        {"conversations": {"plan": [{"calls": [{"arguments": {}}]}]}},
        [("missing-key", "conversations/plan/0/calls/0/tool")],
    ),
    "a grant that is none": ({"grants": {"Bash": "yes"}}, [("wrong-type", "grants/Bash")]),
    "a judge that says no more": ({"judge": []}, [("empty-value", "judge")]),
    "an exit status in words": ({"commands": {"ls": {"exit": "0"}}}, [("wrong-type", "commands/ls/exit")]),
    "a pace that nobody can keep": ({"pace": -1}, [("value-out-of-range", "pace")]),
    "waits of another kind": ({"waits": "never"}, [("unknown-value", "waits")]),
}


@pytest.mark.parametrize(("given", "faults"), FAULTY.values(), ids=FAULTY)
def test_what_may_not_be_written_is_told(given: Json, faults: list[tuple[str, str]]) -> None:
    assert judged(given) == faults
