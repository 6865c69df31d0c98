"""The corpus: the released agents of climpt 1.14 compile, repeat as often as they may, and go on after a cut."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.cli.app import run
from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.crosscheck import CrossCheck
from stagec.ir.graph.usage import Assumed
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Prompt
from stagec.ir.plan.gate import IntentGate
from stagec.runtime.machine import Program
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.samples import RequiredValue, make_sample
from stagec.sources.project.settings import Settings


def find_plans() -> Mapping[str, Plan]:
    """Return the plans of the released agents without errors, by the name of their folder."""
    if "STAGEC_CORPUS" not in os.environ:
        return {}
    found: dict[str, Plan] = {}
    for folder in sorted(Path(os.environ["STAGEC_CORPUS"], "agents").resolve().glob("*-56d4a60")):
        compiled = compile_project(Project(folder, (folder,), Settings()))
        if all(each.severity is not Severity.ERROR for each in compiled.diagnostics):
            (meaning,) = compiled.meanings
            found[folder.name] = meaning.plan()
    return found


PLANS = find_plans()
every_agent = pytest.mark.parametrize("name", PLANS)


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_most_released_agents_compile() -> None:
    assert len(PLANS) >= 5


@every_agent
def test_networkx_agrees_about_the_plan(name: str) -> None:
    assert [*CrossCheck(PLANS[name]).contradictions()] == []


@every_agent
def test_repeats_are_bounded_where_the_gate_allows_them_and_nowhere_else(name: str) -> None:
    for node in PLANS[name].nodes.values():
        may_repeat = isinstance(node.gate, IntentGate) and "repeat" in node.gate.intents
        assert isinstance(node.act, Prompt)
        assert (node.act.repeats is not None) == may_repeat
        assert all(each.prompt for each in node.act.repeats or ())


@every_agent
def test_the_bounds_count_repeats(name: str) -> None:
    plan = PLANS[name]
    for entry in bound(plan, Assumed(None)).entries:
        most = entry.executions.most
        assert most is not None
        assert most <= 2 * len(plan.nodes)  # no agent declares a chain: each step repeats once


WISHES = {
    "closure.detail.compose-and-post": [RequiredValue(("spec_comment_url",), "https://example.com/1")],
    "triage": [RequiredValue(("issue", "labels", "add"), ["kind:impl"])],
}
"""What nobody can make up simply."""


def answer(program: Program, node: str, intent: str) -> Json:
    """Return an answer of a step with an intent."""
    act, gate = program.plan.nodes[node].act, program.plan.nodes[node].gate
    assert isinstance(act, Prompt)
    assert isinstance(gate, IntentGate)
    made = make_sample(program, act.schema, [RequiredValue(gate.field, intent), *WISHES.get(node, ())])
    assert made is not None
    return made


def tell(plan: Plan, *, repeats: int) -> dict[str, Any]:
    """Return a scenario in which the first step repeats itself so often, and each then goes on."""
    program, node = program_of(plan), str(plan.entries[str(plan.entry)])
    answers: dict[str, list[Json]] = {}
    first = node
    while True:
        gate = plan.nodes[node].gate
        assert isinstance(gate, IntentGate)
        onward = next(each for each in ("closing", "next", "handoff") if each in gate.intents)
        again = [answer(program, node, "repeat") for _ in range(repeats if node == first else 0)]
        answers[node] = [*again, answer(program, node, onward)]
        edge = next(edge for edge in plan.nodes[node].edges if edge.on == onward)
        node = getattr(edge.target, "node", "")
        if not node or node in answers:
            numbers = {
                name for name, each in plan.inputs.items() if "number" in plan.contents.get(each.schema or "", "")
            }
            return {"inputs": {name: 7 if name in numbers else "x" for name in plan.inputs}, "answers": answers}


def prepare(name: str, folder: Path, *, repeats: int) -> dict[str, Any]:
    (folder / "agent.plan.json").write_bytes(dump(PLANS[name]))
    told = tell(PLANS[name], repeats=repeats)
    (folder / "all.json").write_text(json.dumps(told))
    return told


@every_agent
def test_a_released_agent_runs_is_replayed_and_resumed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    told = prepare(name, tmp_path, repeats=1)
    whole = run(["run", "agent.plan.json", "--scenario", "all.json", "--run", "whole"])
    shown = capfd.readouterr().out
    assert "#2" in shown
    assert run(["runs", "replay", "whole"]) == 0
    # the same run without the answers of its last step, and then with them
    last = [*told["answers"]][-1]
    short = {**told, "answers": {step: each for step, each in told["answers"].items() if step != last}}
    (tmp_path / "short.json").write_text(json.dumps(short))
    assert run(["run", "agent.plan.json", "--scenario", "short.json", "--run", "cut"]) == 2
    assert run(["resume", "cut", "--scenario", "all.json"]) == whole
    assert capfd.readouterr().out.splitlines()[-1].partition(",")[0] == shown.splitlines()[-1].partition(",")[0]
    assert run(["runs", "replay", "cut"]) == 0


@every_agent
def test_one_repeat_too_many_ends_the_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(name, tmp_path, repeats=2)
    assert run(["run", "agent.plan.json", "--scenario", "all.json", "--run", "long"]) == 1
    out, err = capfd.readouterr()
    assert "AGENT_ADAPTATION_CHAIN_EXHAUSTED" in out + err
