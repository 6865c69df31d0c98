"""Runs of orchestrators as people start, kill, resume, cancel and look at them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaigns import choose
from orchestrated import answer_steps, write_orchestrator

from stagec.runtime.drivers.local import read_journal

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
Environment = Callable[..., dict[str, str]]


def scenario(**more: Any) -> dict[str, Any]:
    """Return a scenario in which agents are run: what is built is rejected once."""
    first, second = ({"run": {"answers": answer_steps(verdict)}} for verdict in ("rejected", "approved"))
    agents = {"builder": {"answers": answer_steps()}, "reviewer": [first, second]}
    return {"entry": "kind:build", "inputs": {"issue": 7}, "agents": agents, **more}


@pytest.fixture
def project(tmp_path: Path, run: Run) -> Path:
    """Compile an orchestrator, and write a scenario for it."""
    write_orchestrator(tmp_path)
    made = run("compile", ".agent", "-o", "plans")
    assert made.returncode == 0, made.stderr.decode()
    (tmp_path / "world.yaml").write_text(json.dumps(scenario(waits="skip")), encoding="utf-8")
    return tmp_path


PLAN = "plans/workflow.plan.json"
WHOLE = ("run", PLAN, "--scenario", "world.yaml")
MOVES = ["build     success → review", "review    rejected → build", "build#2   success → review"]


def test_agents_run_in_the_run_of_their_orchestrator(project: Path, run: Run) -> None:
    ended = run(*WHOLE, "--run", "one")
    told = ended.stdout.decode()
    assert ended.returncode == 0, ended.stderr.decode()
    assert all(each in told for each in (*MOVES, "review#2  approved → done", "  closure.issue"))
    assert told.splitlines()[-1].startswith("done: completed, 5 executions, ")
    assert run("runs", "replay", "one").stdout.decode().startswith("equal: ")
    shown = run("runs", "show", "one").stdout.decode()
    assert "reviewer#2: closure.issue" in shown
    assert "comment ## Rejected" in shown
    exported = json.loads(run("runs", "export", "one").stdout)
    assert (exported["status"], exported["failure"]) == ("done", None)
    assert any(each.get("key", "").startswith("one~reviewer~2/") for each in exported["events"])


def test_a_table_of_outcomes_simulates_an_orchestrator(project: Path, run: Run) -> None:
    table = {"builder": [{"verdict": "any"}, {"failed": "no time"}], "reviewer": [{"verdict": "rejected"}]}
    (project / "table.yaml").write_text(json.dumps(scenario(agents=table)), encoding="utf-8")
    for command in ("run", "simulate"):
        ended = run(command, PLAN, "--scenario", "table.yaml")
        assert ended.returncode == 1
        assert "blocked: stuck, attempt 1: the issue is blocked" in ended.stdout.decode()
    (listed,) = json.loads(run("runs", "list", "--format", "json").stdout)["runs"]
    assert listed["status"] == "blocked"


@pytest.mark.parametrize(
    ("agents", "told"),
    [
        ({"bilder": {"answers": {}}}, "there is no agent 'bilder'; did you mean 'builder'?"),
        ({"builder": {"answers": {"initial": {}}}}, "there is no step 'initial'"),
        ({"reviewer": [{"run": {"answers": {"nobody": {}}}}]}, "there is no step 'nobody'"),
    ],
)
def test_a_scenario_for_other_agents_is_refused(project: Path, run: Run, agents: Any, told: str) -> None:
    (project / "other.yaml").write_text(json.dumps({"agents": agents}), encoding="utf-8")
    ended = run("run", PLAN, "--scenario", "other.yaml", "--entry", "review", "--input", "issue=7")
    assert ended.returncode == 2
    assert told in ended.stderr.decode()


def test_other_commands_know_plans_of_orchestrators(project: Path, run: Run) -> None:
    assert run("verify", PLAN, "--against", ".agent").returncode == 0
    bounds = json.loads(run("bounds", PLAN, "--format", "json").stdout)
    shown = run("plan", PLAN, "--node", "review").stdout.decode()
    assert "agent: the plan of reviewer is run" in shown
    assert "480" in json.dumps(bounds)  # six transitions, each with an agent of forty executions that ask twice


def test_a_run_without_answers_stops_and_is_resumed_in_the_middle_of_an_agent(project: Path, run: Run) -> None:
    answers = answer_steps()
    del answers["closure.issue"]
    (project / "part.yaml").write_text(json.dumps(scenario(agents={"builder": {"answers": answers}})), encoding="utf-8")
    ended = run("run", PLAN, "--scenario", "part.yaml", "--run", "one")
    assert ended.returncode == 2
    assert "one~builder~1/closure.issue#1/1.0" in ended.stderr.decode()
    resumed = run("resume", "one", "--scenario", "world.yaml")
    assert resumed.returncode == 0, resumed.stderr.decode()
    assert "initial.issue" not in resumed.stdout.decode().splitlines()[0]
    assert run("runs", "replay", "one").returncode == 0


def compile_narrower(project: Path, run: Run, agent: str) -> str:
    """Compile the orchestrator with an agent whose closing step cannot be repeated, and return the plan."""
    registry = project / ".agent" / agent / "steps_registry.json"
    found = json.loads(registry.read_text(encoding="utf-8"))
    found["steps"]["closure.issue"]["structuredGate"]["allowedIntents"] = ["closing"]
    found["steps"]["closure.issue"]["transitions"].pop("repeat")
    registry.write_text(json.dumps(found), encoding="utf-8")
    schema = project / ".agent" / agent / "schemas" / "issue.schema.json"
    text = schema.read_text(encoding="utf-8")
    schema.write_text(text.replace('"enum": ["closing", "repeat"]', '"enum": ["closing"]'), encoding="utf-8")
    made = run("compile", ".agent", "-o", "new")
    assert made.returncode == 0, made.stderr.decode()
    return "new/workflow.plan.json"


@pytest.mark.parametrize(("agent", "taken"), [("reviewer", True), ("builder", False)])
def test_a_run_goes_on_under_another_plan_in_the_middle_of_an_agent(
    project: Path, run: Run, agent: str, *, taken: bool
) -> None:
    answers = answer_steps()
    del answers["closure.issue"]
    (project / "part.yaml").write_text(json.dumps(scenario(agents={"builder": {"answers": answers}})), encoding="utf-8")
    assert run("run", PLAN, "--scenario", "part.yaml", "--run", "one").returncode == 2
    change = ("resume", "one", "--scenario", "world.yaml", "--plan", compile_narrower(project, run, agent))
    ended = run(*change)
    told = ended.stderr.decode()
    assert ended.returncode == (0 if taken else 2), told
    assert taken or "agent 'builder': node 'closure.issue'" in told
    assert run(*change, *(() if taken else ("--again", "build"))).returncode == 0
    assert run("runs", "replay", "one").returncode == 0


def test_a_run_that_is_interrupted_in_an_agent_can_be_cancelled(project: Path, run: Run) -> None:
    (project / "part.yaml").write_text(json.dumps(scenario(agents={"builder": {"answers": {}}})), encoding="utf-8")
    run("run", PLAN, "--scenario", "part.yaml", "--run", "one")
    assert run("runs", "cancel", "one").returncode in {0, 1}
    (listed,) = json.loads(run("runs", "list", "--format", "json").stdout)["runs"]
    assert (listed["status"], listed["reason"]) == ("failed", "build, attempt 1: cancelled")


KILLS = choose(4, whole=40)


def _has_begun(path: Path) -> bool:
    """Tell whether a run has an event: one that was killed before is started again."""
    return path.exists() and bool(read_journal(path).events)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_run_that_is_killed_anywhere_ends_as_if_nothing_was(
    project: Path, run: Run, environment: Environment
) -> None:
    (project / "slow.yaml").write_text(json.dumps(scenario(pace=15)), encoding="utf-8")
    assert run(*WHOLE, "--run", "whole").returncode == 0
    whole = json.loads(run("runs", "export", "whole").stdout)
    arguments = ["run", PLAN, "--scenario", "slow.yaml", "--run", "killed"]
    for number in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "stagec", *arguments],
            cwd=project,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.25 + 0.35 * number / KILLS)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        if _has_begun(project / ".stagec" / "runs" / "killed.run"):
            arguments = ["resume", "killed"]
    last = run(*arguments)
    again = json.loads(run("runs", "export", "killed").stdout)
    assert last.returncode == 0 or again["status"] == "done", last.stderr.decode()
    renamed = json.loads(json.dumps(whole["events"]).replace("whole", "killed"))
    assert again["events"] == renamed
    assert run("runs", "replay", "killed").stdout.decode().startswith("equal: ")
