"""Words that models use for intents: from a registry that validates to a run that follows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.cli.app import run
from stagec.runtime.machine.gate import ALIASES


def step(name: str, c2: str, **transitions: str | None) -> dict[str, object]:
    """Return a step whose schema allows exactly the intents of its transitions."""
    return {
        "stepId": name,
        "name": name,
        "stepKind": "closure" if c2 == "closure" else "work",
        "c2": c2,
        "c3": "issue",
        "edition": "default",
        "outputSchemaRef": {"file": "answers.json", "schema": c2},
        "structuredGate": {
            "allowedIntents": list(transitions),
            "intentSchemaRef": "#/properties/next_action/properties/action",
            "intentField": "next_action.action",
            "failFast": True,
        },
        "transitions": {intent: {"target": target} for intent, target in transitions.items()},
    }


def answer_schema(*intents: str) -> dict[str, object]:
    """Return the schema of answers with one of some intents."""
    action = {"type": "object", "required": ["action"], "properties": {"action": {"enum": list(intents)}}}
    return {"type": "object", "required": ["next_action"], "properties": {"next_action": action}}


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    steps = [
        step("initial.issue", "initial", next="continuation.issue", repeat="initial.issue"),
        step("continuation.issue", "continuation", next="continuation.issue", handoff="closure.issue"),
        step("closure.issue", "closure", closing=None, repeat="closure.issue"),
    ]
    registry = {
        "agentId": "worker",
        "version": "1.0.0",
        "c1": "steps",
        "entryStep": "initial.issue",
        "steps": {str(each["stepId"]): each for each in steps},
    }
    schemas = {
        "definitions": {
            "initial": answer_schema("next", "repeat"),
            "continuation": answer_schema("next", "handoff"),
            "closure": answer_schema("closing", "repeat"),
        }
    }
    (tmp_path / "schemas").mkdir()
    (tmp_path / "steps_registry.json").write_text(json.dumps(registry), encoding="utf-8")
    (tmp_path / "schemas/answers.json").write_text(json.dumps(schemas), encoding="utf-8")
    for c2 in ("initial", "continuation", "closure"):
        (folder := tmp_path / "prompts/steps" / c2 / "issue").mkdir(parents=True)
        (folder / "f_default.md").write_text(f"Do the {c2}.\n", encoding="utf-8")
    assert run(["validate", "."]) == 0
    assert run(["compile", ".", "-o", "p"]) == 0
    return tmp_path


WAYS = {
    "next": ("initial.issue", "next → continuation.issue"),
    "repeat": ("initial.issue", "repeat → initial.issue"),
    "closing": ("closure.issue", "closing → done"),
}
"""The step in which each intent is meant by another word, and where it leads."""


@pytest.mark.parametrize("change", [str, str.upper, str.title])
@pytest.mark.parametrize("word", sorted({*ALIASES, *WAYS}))
def test_a_word_for_an_intent_is_followed_at_once(
    plan: Path, word: str, change: type[str], capfd: pytest.CaptureFixture[str]
) -> None:
    place, leads = WAYS[ALIASES.get(word, word)]
    said = {"initial.issue": ["next"], "continuation.issue": ["handoff"], "closure.issue": ["closing"]}
    said[place] = [change(word), *said[place]]
    answers = {name: [{"next_action": {"action": each}} for each in words] for name, words in said.items()}
    (plan / "s.json").write_text(json.dumps({"answers": answers}), encoding="utf-8")
    capfd.readouterr()
    assert run(["run", "p", "--scenario", "s.json", "--run", "one"]) == 0
    lines = [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()]
    assert f"{place} {leads}" in lines
    run(["runs", "export", "one"])
    keys = [each["key"] for each in json.loads(capfd.readouterr().out)["events"][1:]]
    assert [key for key in keys if not key.endswith("/1.0")] == []  # nothing had to be asked twice


def test_a_word_for_an_intent_that_the_step_does_not_allow_is_told_to_the_model(
    plan: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = {"next_action": {"action": "done"}}
    (plan / "s.json").write_text(json.dumps({"answers": {"initial.issue": said}}), encoding="utf-8")
    assert run(["run", "p", "--scenario", "s.json"]) == 1
    assert (
        'initial.issue, attempt 2: no usable answer: /next_action/action: "done" is not one of'
        in capfd.readouterr().out
    )
