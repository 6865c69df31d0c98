"""The published schema of the file of a plan: what plans satisfy, and what does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from plan.examples import FILES

from stagec.cli.app import run

PATH = Path(__file__).parents[2] / "schemas" / "plan.schema.json"
SCHEMA: Any = json.loads(PATH.read_bytes())


def described(given: Any) -> Iterator[tuple[str, Any]]:
    """Yield every member of every object that a schema describes."""
    if isinstance(given, dict):
        yield from given.get("properties", {}).items()
        for each in given.values():
            yield from described(each)
    elif isinstance(given, list):
        for each in given:
            yield from described(each)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_says_where_it_is_published() -> None:
    assert SCHEMA["$id"] == "urn:stagec:schema:plan"


def test_the_schema_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "plan"]) == 0
    assert capfd.readouterr() == (PATH.read_text(encoding="utf-8"), "")


def test_every_member_has_a_description() -> None:
    assert [name for name, member in described(SCHEMA) if not member.get("description", "").endswith(".")] == []


def test_the_schema_refers_to_itself_only() -> None:
    text = json.dumps(SCHEMA)
    assert text.count('"$ref"') == text.count('"$ref": "#/$defs/')


def test_defaults_are_given_where_they_do_not_go_without_saying() -> None:
    found = {
        f"{name}.{member}": each["default"]
        for name, defined in SCHEMA["$defs"].items()
        for member, each in defined["properties"].items()
        if "default" in each
    }
    assert found == {
        "Delegate.closes": False,
        "ForEach.collect": False,
        "AgentGate.otherwise": "otherwise",
        "AgentGate.verdicts": False,
        "Backoff.kind": "none",
        "Backoff.milliseconds": 0,
        "Carried.required": True,
        "Edge.wait": 0,
        "Input.required": False,
        "IntentGate.failFast": True,
        "Converse.deadline": 0,
        "Limits.deadline": 0,
        "Limits.parallel": 1,
        "Limits.reached": "failed",
        "Phases.pause": 0,
        "Phases.row": 0,
        "Process.checkpoint": True,
        "Process.retryable": True,
        "Validation.action": "retry",
        "Validation.attempts": 3,
        "Validation.everyOutcome": False,
    }


@pytest.mark.parametrize("name", FILES)
def test_plans_satisfy_the_schema(name: str) -> None:
    assert list(Draft202012Validator(SCHEMA).iter_errors(json.loads(FILES[name]))) == []


def _without_id(given: Any) -> None:
    del given["plan"]["id"]


def _with_more(given: Any) -> None:
    given["plan"]["nodes"]["plan"]["colour"] = "red"


def _with_a_short_digest(given: Any) -> None:
    given["digest"] = given["digest"][:-1]


def _with_more_around(given: Any) -> None:
    given["at"] = 1


def _with_another_format(given: Any) -> None:
    given["plan"]["is"] = "stagec.plan/2"


def _with_another_target(given: Any) -> None:
    given["plan"]["nodes"]["lint"]["edges"][0]["target"] = {"is": "leap", "node": "plan"}


def _with_no_room(given: Any) -> None:
    given["plan"]["limits"]["parallel"] = 0


def _with_a_path_of_truth(given: Any) -> None:
    given["plan"]["nodes"]["plan"]["act"]["prompt"][1]["path"] = ["ctx", True]


@pytest.mark.parametrize(
    "damage",
    [
        _without_id,
        _with_more,
        _with_a_short_digest,
        _with_more_around,
        _with_another_format,
        _with_another_target,
        _with_no_room,
        _with_a_path_of_truth,
    ],
)
def test_a_damaged_plan_does_not_satisfy_the_schema(damage: Callable[[Any], None]) -> None:
    given = json.loads(FILES["by hand: stages"])
    damage(given)
    assert not Draft202012Validator(SCHEMA).is_valid(given)
