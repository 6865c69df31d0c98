"""Every question of § 3 of the format is answered by the file of a plan, alone in an empty folder."""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pytest
from plan_vectors.files import read
from plan_vectors.forms import PAGE
from plan_vectors.references import targets
from plan_vectors.runner import Run
from properties.random_world import World

Plan = Mapping[str, Any]

PLANS = Path(__file__).parents[1] / "plan_vectors"
EXAMPLES = ("code-review", "docs-repair", "issue-solver", "project-lead")
INPUTS: Mapping[str, Mapping[str, Any]] = {
    "code-review": {"branch": "fix-login", "task": "Mend the login."},
    "docs-repair": {"topic": "limits"},
    "issue-solver": {"issue": 12},
    "project-lead": {"project": 3},
}
FIRST = {
    "code-review": "plan",
    "docs-repair": "write",
    "issue-solver": "initial.issue",
    "project-lead": "initial.project.preparation",
}
OUTCOMES = {"verdict": {"ok", "fail"}, "judge": {"verdict", "next"}, "exit": {"closing", "repeat"}}
ELSEWHERE = {
    "3.14": "What may hooks do?",  # the examples have none
    "3.17": "What is the status of a stage, and how does a run go on?",  # `plan_vectors/stages` shows it
    "3.18": "How do phases and agents run?",  # tests/runtime/phases shows it
    "3.19": "How does a run continue with another plan?",  # tests/comparison shows it
    "3.15": "Which trace events does a run have?",  # nothing depends on them, and a runner may have none
}


@pytest.fixture(params=EXAMPLES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def plan(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Return a plan that was read where there is nothing else, and nobody can be asked."""
    shutil.copy(PLANS / name / "plan.json", tmp_path / "plan.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "socket", _refuse)
    return read(Path("plan.json").read_bytes())[1]


def _refuse(*_: object) -> NoReturn:
    raise AssertionError("somebody was asked over the network")


def started(plan: Plan, inputs: Mapping[str, Any], **more: str) -> Run:
    run = Run(plan)
    run.tell({"is": "start", "run": "run", "inputs": inputs, **more})
    return run


def at(plan: Plan, node: str, inputs: Mapping[str, Any]) -> Run:
    """Return a run that begins with some node."""
    return started({**plan, "entries": {"here": node}}, inputs, entry="here")


def nodes(plan: Plan, act: str) -> dict[str, Any]:
    return {name: node for name, node in plan["nodes"].items() if node["act"]["is"] == act}


def outcomes(node: Mapping[str, Any]) -> set[str]:
    gate = node["gate"]
    return {*gate["intents"]} if gate["is"] == "intent" else OUTCOMES[gate["is"]]


def test_every_question_of_the_page_is_answered_here() -> None:
    asked = dict(re.findall(r"^### (3\.\d+) (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    here = {each.removeprefix("test_3_").partition("_")[0] for each in globals() if each.startswith("test_3_")}
    assert {*asked} == {f"3.{each}" for each in here} | {*ELSEWHERE}
    assert {number: asked[number] for number in ELSEWHERE} == ELSEWHERE


def test_3_1_a_run_is_given_what_the_plan_names_and_nothing_else(plan: Plan, name: str) -> None:
    assert started(plan, INPUTS[name]).state()["ended"] is None
    for wrong in ({}, {**INPUTS[name], "unheard of": 1}):
        state = started(plan, wrong).state()
        assert (state["ended"], state["reason"], state["executions"]) == ("refused", "inputs", 0)
    assert started(plan, INPUTS[name], entry="nowhere").state()["reason"] == "entry"


def test_3_2_the_plan_says_which_node_runs_first_and_how_many_may(plan: Plan, name: str) -> None:
    (first,) = started(plan, INPUTS[name]).state()["active"]
    assert first["execution"] == f"{FIRST[name]}#1"
    assert plan["limits"]["executions"] > 0


@pytest.mark.parametrize("seed", range(8))
def test_3_3_every_run_ends_within_what_is_proved(plan: Plan, name: str, seed: int) -> None:
    random = Random(seed)  # noqa: S311
    run, world = started(plan, INPUTS[name]), World(plan, random)
    turns = 0
    while run.state()["ended"] is None:
        request = random.choice([*run.requests()])
        turns += request["is"] in {"ask", "turn"}
        run.tell({"is": "answer", "to": request["key"], "answer": world.answer(request)})
    assert run.state()["ended"] in {"done", "failed"}
    assert run.state()["executions"] <= plan["facts"]["executions"]
    assert turns <= plan["facts"]["turns"]


def test_3_4_every_prompt_becomes_a_text_with_what_was_given(plan: Plan, name: str) -> None:
    (request,) = started(plan, INPUTS[name]).requests()
    text = request["prompt"] if request["is"] == "ask" else request["told"][0]["text"]
    assert all(str(value) in text for value in INPUTS[name].values())
    assert not re.search(r"\{\{|\$\{|sha256:", text)


def test_3_5_a_node_may_act_once_its_variables_are_there(plan: Plan, name: str) -> None:
    empty = {each: "" for each, declared in plan["inputs"].items() if "schema" not in declared or each == "owner"}
    for node in plan["nodes"].values():
        assert {*node["act"].get("needed", ())} <= {*node["act"].get("variables", ())}
    judged = [plan["contents"][plan["inputs"][each]["schema"]] for each in empty if "schema" in plan["inputs"][each]]
    if nodes(plan, "prompt") and empty:
        reason = "inputs" if any('"minLength"' in each for each in judged) else "cannot-start"
        assert started(plan, {**INPUTS[name], **empty}).state()["reason"] == reason


def test_3_6_every_act_asks_for_what_the_plan_says(plan: Plan, name: str) -> None:
    for node, told in plan["nodes"].items():
        for request in at(plan, node, INPUTS[name]).requests():
            assert request["is"] == {"prompt": "ask", "converse": "turn", "command": "run"}[told["act"]["is"]]
            assert plan["contents"][request["schema"]].startswith('{"type":"object"')
            assert request.get("completion") == told["act"].get("completion")


def test_3_7_every_result_has_one_of_the_outcomes_of_its_gate(plan: Plan) -> None:
    pairs = {(node["act"]["is"], node["gate"]["is"]) for node in plan["nodes"].values()}
    assert pairs <= {("prompt", "intent"), ("prompt", "judge"), ("converse", "verdict"), ("command", "exit")}
    assert all(outcomes(node) for node in plan["nodes"].values())


def test_3_8_every_outcome_has_an_edge_that_needs_no_luck(plan: Plan) -> None:
    for node in plan["nodes"].values():
        assert outcomes(node) - {"abort"} <= {edge["on"] for edge in node["edges"]}


def test_3_9_every_edge_leads_to_a_node_or_to_an_end(plan: Plan, name: str) -> None:
    reached, todo = {*plan["entries"].values()}, [*plan["entries"].values()]
    while todo:
        found = {each for edge in plan["nodes"][todo.pop()]["edges"] for each in targets(edge["target"])} - reached
        reached |= found
        todo += found
    assert reached == {*plan["nodes"]}
    ends = [
        edge["target"] for node in plan["nodes"].values() for edge in node["edges"] if not [*targets(edge["target"])]
    ]
    assert {end["is"] for end in ends} == {"stop"}


def test_3_10_what_a_node_knows_of_others_is_in_its_template_and_its_variables(plan: Plan) -> None:
    for node in nodes(plan, "converse").values():
        paths = [piece["path"] for piece in node["act"]["prompt"] if piece["is"] == "hole"]
        known = {"upstream", "workflowRunId", "stageExecutionId", *plan["inputs"]}
        assert all(path[0] == "ctx" and path[1] in known for path in paths)
    for node in nodes(plan, "prompt").values():
        carried = [each for each in node["act"]["variables"].values() if each["is"] == "carried"]
        assert all(each["key"] in _handed(plan["nodes"][each["node"]]) for each in carried)


def _handed(node: Mapping[str, Any]) -> set[str]:
    return {path[-1] for path in node["gate"].get("handoff", ())}


def test_3_11_the_end_is_validated_by_commands_that_the_plan_has(plan: Plan) -> None:
    validated = [node["validation"] for node in plan["nodes"].values() if "validation" in node]
    assert bool(validated) == (plan["id"] == "issue-solver")
    for validation in validated:
        named = [plan["validators"][condition["validator"]] for condition in validation["conditions"]]
        assert [each["command"] for each in named] == ["git status --porcelain", "npx tsc --noEmit"]
        assert {each["pattern"] for each in named} == {*validation["prompts"]}


def test_3_12_the_plan_says_which_tools_may_be_called(plan: Plan, name: str) -> None:
    for node, told in nodes(plan, "converse").items():
        run = at({**plan, "nodes": {**plan["nodes"], node: _plain(told)}}, node, INPUTS[name])
        (turn,) = run.requests()
        assert turn["tools"] == told["act"]["tools"]
        for tool, kind in ((turn["tools"][0], "call"), ("Unheard", "grant")):
            again = at({**plan, "nodes": {**plan["nodes"], node: _plain(told)}}, node, INPUTS[name])
            answer = {"calls": [{"id": "1", "tool": tool, "arguments": {}}]}
            again.tell({"is": "answer", "to": turn["key"], "answer": answer})
            (request,) = again.requests()
            assert (request["is"], request["tool"]) == (kind, tool)


def _plain(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a node that needs no result of others."""
    pieces = [piece for piece in node["act"]["prompt"] if piece["is"] == "text"]
    return {**node, "act": {**node["act"], "prompt": pieces}}


def test_3_13_what_the_runner_provides_is_named_by_the_page(plan: Plan) -> None:
    section = PAGE.read_text(encoding="utf-8").partition("### 3.13 ")[2].partition("\n### ")[0]
    named = {*re.findall(r"`([\w:]+)`", section)}
    holders = [*(node["act"] for node in plan["nodes"].values()), plan.get("system", {})]
    variables = [each for holder in holders for each in holder.get("variables", {}).values()]
    assert {each["name"] for each in variables if each["is"] == "provided"} <= named
    assert "judge" not in plan or plan["judge"]["kind"] in named


def test_3_16_every_request_has_a_key_and_a_kind_of_the_page(plan: Plan, name: str) -> None:
    (request,) = started(plan, INPUTS[name]).requests()
    assert request["key"] == f"run/{FIRST[name]}#1/1.0"
    assert f"| `{request['is']}` |" in PAGE.read_text(encoding="utf-8")
