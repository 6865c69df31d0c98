"""Every documented variable of prompts has its value in a run: from the files of an agent to the request."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from stagec.core.diagnostic import Severity
from stagec.core.json import Json, Object
from stagec.runtime.machine import Answered, Started, State, advance
from stagec.runtime.machine.exchange import Ask
from stagec.runtime.machine.program import program_of
from stagec_dev.checkout import diagnostics, plans

EXAMPLE = Path(__file__).parents[3] / "registries" / "project-flow"
AGENT = Path(".agent/project-lead")
SECOND = "continuation.project.preparation"
PROMPT = AGENT / "prompts/steps/continuation/project/f_preparation.md"
FIRST_ANSWER: Json = {
    "stepId": "initial.project.preparation",
    "plan": {"goal": "All items are done", "order": []},
    "next_action": {"action": "next", "reason": "there is more"},
}
ROUNDS: Object = {"type": "count:iteration", "config": {"maxIterations": 60}}
CHECKS: Object = {"type": "count:check", "config": {"maxChecks": 4}}
KEYWORD: Object = {"type": "detect:keyword", "config": {"verdictKeyword": "ALL DONE", "maxIterations": 9}}


def _write_agent(
    root: Path, verdict: Object, declared: tuple[str, ...], prompt: str, system: str = "You work."
) -> None:
    """Copy the example, with another verdict, and with other texts for its second step and for its system prompt."""
    shutil.copytree(EXAMPLE, root, dirs_exist_ok=True)
    definition, registry = root / AGENT / "agent.json", root / AGENT / "steps_registry.json"
    agent = json.loads(definition.read_text())
    agent["runner"]["verdict"] = verdict
    definition.write_text(json.dumps(agent))
    whole = json.loads(registry.read_text())
    whole["entryStepMapping"] = {verdict["type"]: "initial.project.preparation"}
    whole["steps"][SECOND]["uvVariables"] = list(declared)
    registry.write_text(json.dumps(whole))
    names = ", ".join(declared)
    (root / PROMPT).write_text(f"---\nstepId: {SECOND}\nname: Work\nuvVariables: [{names}]\n---\n{prompt}\n")
    (root / AGENT / "prompts/system.md").write_text(system)


def _ask_second(root: Path) -> Ask:
    """Run the agent up to the request of its second step."""
    (plan,) = plans(root)
    program = program_of(plan)
    step = advance(program, State(), Started("r", None, {"project": 7}))
    (first,) = step.effects
    step = advance(program, step.state, Answered(first.key, {"answer": FIRST_ANSWER, "text": "I have read it all."}))
    (second,) = step.effects
    assert isinstance(second, Ask)
    return second


@pytest.mark.parametrize(
    ("name", "verdict", "wanted"),
    [
        ("iteration", ROUNDS, "2"),
        ("completed_iterations", ROUNDS, "1"),
        ("max_iterations", ROUNDS, "60"),
        ("remaining", ROUNDS, "59"),
        ("previous_summary", ROUNDS, "I have read it all."),
        ("completion_keyword", KEYWORD, "ALL DONE"),
        ("max_checks", CHECKS, "4"),
        ("check_count", CHECKS, "0"),
        ("project", ROUNDS, "7"),
        ("owner", ROUNDS, "@me"),
    ],
)
def test_a_documented_variable_has_its_value_in_a_prompt(
    name: str, verdict: Object, wanted: str, tmp_path: Path
) -> None:
    _write_agent(tmp_path, verdict, (name,), f"<{{uv-{name}}}>")
    assert [each.code for each in diagnostics(tmp_path) if each.severity is Severity.ERROR] == []
    assert _ask_second(tmp_path).prompt.strip() == f"<{wanted}>"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("agent_name", "project-lead"),
        ("verdict_criteria", "The work is judged by count:iteration (maxIterations: 60)."),
    ],
)
def test_a_documented_variable_has_its_value_in_the_system_prompt(name: str, wanted: str, tmp_path: Path) -> None:
    _write_agent(tmp_path, ROUNDS, (), "Work.", f"<{{uv-{name}}}>")
    assert _ask_second(tmp_path).system == f"<{wanted}>"


def test_the_repository_is_an_input_of_a_run_that_polls_it(tmp_path: Path) -> None:
    verdict: Object = {"type": "poll:state", "config": {"resourceType": "github-project", "targetState": {}}}
    _write_agent(tmp_path, verdict, ("repository",), "<{uv-repository}>")
    (plan,) = plans(tmp_path)
    assert "repository" in plan.inputs
