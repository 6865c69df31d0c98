"""What a registry of 1.14 is in a plan: repeats with their prompts, guards of any step, tools of the settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Prompt
from stagec.ir.plan.gate import Validation
from stagec.sources.project.settings import Settings

HERE = ".agent/a"


def step(name: str, kind: str, **more: Any) -> dict[str, Any]:
    """Return a step that leads on to the closure, or closes."""
    onward = "closing" if kind == "closure" else "handoff"
    gate = {"allowedIntents": [onward, "repeat"], "intentField": "action", "intentSchemaRef": "#/properties/action"}
    return {
        "stepId": name,
        "name": name,
        "kind": kind,
        "address": {"c1": "steps", "c2": name.partition(".")[0], "c3": "a", "edition": "default"},
        "uvVariables": [],
        "usesStdin": False,
        "outputSchemaRef": {"file": "s.json", "schema": onward},
        "structuredGate": gate,
        "transitions": {onward: {"target": None if kind == "closure" else "closure.a"}, "repeat": {"target": name}},
        **more,
    }


def write(folder: Path, *, settings: Any = None, **members: Any) -> Plan:
    """Write an agent of two steps, and return its plan."""
    more = {key: members.pop(key) for key in ("adaptationChain",) if key in members}
    steps = {"initial.a": step("initial.a", "work", **more), "closure.a": step("closure.a", "closure")}
    registry = {"agentId": "a", "version": "1.0.0", "c1": "steps", "steps": steps}
    pair = {"initial": "initial.a", "continuation": "closure.a"}
    files: dict[str, Any] = {
        f"{HERE}/steps_registry.json": {**registry, "entryStepMapping": {"count:iteration": pair}, **members},
        f"{HERE}/agent.json": {
            "name": "a",
            "version": "1.0.0",
            "displayName": "A",
            "description": "A",
            "runner": {
                "flow": {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}},
                "verdict": {"type": "count:iteration", "config": {"maxIterations": 9}},
            },
        },
        f"{HERE}/schemas/s.json": {
            each: {
                "type": "object",
                "required": ["action"],
                "properties": {"action": {"enum": [each, "repeat"]}},
            }
            for each in ("handoff", "closing")
        },
    }
    if settings is not None:
        files[".agent/climpt/config/claude.settings.climpt.agents.a.json"] = settings
    for name, given in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(given))
    for name in ("system.md", "steps/initial/a/f_default.md", "steps/closure/a/f_default.md"):
        path = folder / HERE / "prompts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
    (meaning,) = compile_project(Project(folder, (), Settings())).meanings
    return meaning.plan()


def prompts(plan: Plan, name: str) -> list[str]:
    """Return the texts of the repeats of a step."""
    made = json.loads(dump(plan))["plan"]
    repeats = made["nodes"][name]["act"]["repeats"]
    return ["".join(made["contents"][piece["content"]] for piece in each["prompt"]) for each in repeats]


def adapt(folder: Path, *names: str) -> None:
    path = folder / HERE / "prompts/steps/initial/a"
    path.mkdir(parents=True)
    for name in names:
        (path / f"f_default_{name}.md").write_text(f"{name}!\n")


def test_each_element_of_a_chain_is_a_prompt_its_own_or_that_of_the_step(tmp_path: Path) -> None:
    adapt(tmp_path, "hard")
    plan = write(tmp_path, adaptationChain=["default", "hard", "lost", "hard"])
    usual = "steps/initial/a/f_default.md\n"
    assert prompts(plan, "initial.a") == [usual, "hard!\n", usual, "hard!\n"]


@pytest.mark.parametrize(("chain", "most"), [({}, 1), ({"adaptationChain": []}, 0), ({"adaptationChain": ["a"]}, 1)])
def test_a_chain_of_so_many_is_so_many_repeats_and_none_is_one(tmp_path: Path, chain: Any, most: int) -> None:
    assert len(prompts(write(tmp_path, **chain), "initial.a")) == most


def test_both_steps_of_a_pair_are_entries(tmp_path: Path) -> None:
    plan = write(tmp_path)
    assert plan.entries == {"count:iteration": "initial.a", "count:iteration (continuation)": "closure.a"}
    assert plan.entry == "count:iteration"


def guards(plan: Plan) -> dict[str, Validation | None]:
    return {name: node.validation for name, node in plan.nodes.items()}


def test_validation_steps_guard_the_step_of_the_same_id_of_any_kind(tmp_path: Path) -> None:
    validators = {
        name: {
            "type": "command",
            "command": name,
            "successWhen": "empty",
            "failurePattern": "p",
            "extractParams": {},
            "phase": phase,
        }
        for name, phase in (("ready", "preflight"), ("clean", "postllm"))
    }
    address = {"c1": "steps", "c2": "retry", "c3": "a", "edition": "default"}
    lists = {"preflightConditions": [{"validator": "ready"}], "postLLMConditions": [{"validator": "clean"}]}
    validations = {
        name: {"stepId": name, "name": name, "address": address, **lists} for name in ("initial.a", "closure.a")
    }
    patterns = {"p": {"edition": "failed"}}
    plan = write(tmp_path, validationSteps=validations, validators=validators, failurePatterns=patterns)
    for name, guard in guards(plan).items():
        assert guard is not None
        assert [each.validator for each in guard.preflight] == ["ready"]
        assert [each.validator for each in guard.conditions] == ["clean"]
        assert guard.every_outcome is (name == "initial.a")


@pytest.mark.parametrize(
    ("settings", "tools"),
    [
        (None, ()),
        ({"permissions": {}}, ()),
        ({"permissions": {"allow": ["Read", "Bash(git:*)", "Bash(ls)"]}}, ("Read", "Bash")),
        ({"permissions": {"allow": ["githubIssueClose"]}}, ("githubIssueClose",)),
    ],
)
def test_the_settings_say_which_tools_all_kinds_of_steps_may_call(
    tmp_path: Path, settings: Any, tools: tuple[str, ...]
) -> None:
    for node in write(tmp_path, settings=settings).nodes.values():
        assert isinstance(node.act, Prompt)
        assert node.act.tools == tools
