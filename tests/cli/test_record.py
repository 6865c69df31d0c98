"""`stagec runs record`: a run that has ended, turned into a test that passes offline."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from orchestrated import answer_steps, write_orchestrator
from playable import STEPS, asking, steps

from stagec.cli.app import run
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.document import Input
from stagec.ir.plan.facts import facts
from stagec.ir.plan.node import Edge, Outcome, Stop
from stagec.runtime.drivers.local import create
from stagec.runtime.drivers.local.drive import play
from stagec.runtime.machine import Cancelled, Effect, Event, Started, StepResult, load

TOP = Path(__file__).parents[2]
Shown = pytest.CaptureFixture[str]
Json = Any
TESTS = "rec.flow-test.yaml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of an example with a repair loop."""
    shutil.copytree(TOP / "registries" / "docs-repair", tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path


class Lively:
    """Answers by a list, each kind of request in its own order."""

    def __init__(self, answers: dict[str, list[Json]]) -> None:
        self.answers = answers

    def answer(self, effect: Effect) -> Json:
        """Return the next answer to such a request."""
        return self.answers[type(effect).__name__.lower()].pop(0)


def keep(plan: Plan, world: Lively, inputs: dict[str, Json], *more: Event) -> None:
    """Keep a run of a plan under the name `one`."""
    Path(".stagec/runs").mkdir(parents=True)
    journal = create(Path(".stagec/runs/one.run"), dump(plan), load(dump(plan)).digest)
    started = Started("one", inputs=inputs)

    def observe(event: Event, _step: StepResult) -> None:
        journal.append(event)

    try:
        play(load(dump(plan)), world, started, observe)
    except IndexError:
        for each in more:
            journal.append(each)
    journal.close()


def record(capfd: Shown, status: int = 0) -> tuple[Json, str]:
    """Record the run, and return its test and what is said."""
    capfd.readouterr()
    assert run(["runs", "record", "one"]) == status
    shown = capfd.readouterr()
    tests = (yaml.safe_load(shown.out) or {}).get("tests", {"": {}})
    (test,) = tests.values()
    return test, shown.err


def test_a_run_becomes_a_test_that_passes(capfd: Shown) -> None:
    scenario = {
        "inputs": {"topic": "tides"},
        "conversations": {
            "write": [
                {
                    "say": "I look.",
                    "calls": [{"tool": "Read", "arguments": {"path": "a.md"}, "result": "é\x00😀\n" * 3}],
                },
                {"complete": {"page": "x" * 200_000}},
            ],
            "check": [
                [{"calls": [{"tool": "run_examples"}]}, {"complete": {"page": "a", "broken": True, "faults": ["2nd"]}}],
                [{"say": "Hm."}, {"complete": {"page": "a", "broken": False, "faults": []}}],
            ],
            "repair": [{"complete": {"page": "a"}}],
        },
        "tools": {"run_examples": {"error": "1 of 2 failed"}},
    }
    Path("s.json").write_text(json.dumps(scenario), encoding="utf-8")
    assert run(["compile", "-o", "x.plan.json"]) == 0
    assert run(["run", "x.plan.json", "--scenario", "s.json", "--run", "one"]) == 0
    capfd.readouterr()
    assert run(["runs", "record", "one", "-o", TESTS]) == 0
    assert "not in the test" not in capfd.readouterr().err
    assert run(["test", TESTS]) == 0
    assert "1 test: 1 passed" in capfd.readouterr().out
    test = record(capfd)[0]
    assert test["expect"]["path"] == ["write", "check", "repair", "check"]
    assert test["expect"]["calls"] == {"Read": 1, "run_examples": 1}
    assert test["scenario"]["conversations"]["write"][0][0]["calls"][0]["result"] == "é\x00😀\n" * 3
    assert test["expect"]["results"]["write"]["parsed"] == {"page": "x" * 200_000}
    assert run(["runs", "record", "one", "-o", TESTS]) == 2
    assert "nothing was written" in capfd.readouterr().err


def test_failures_retries_and_refusals_of_steps_survive(capfd: Shown) -> None:
    answers = [
        {"error": "overloaded"},
        {"answer": {"action": "next"}},
        {"answer": {"action": "closing"}, "text": "So."},
    ]
    more = [{"answer": {"action": "closing"}}, {"answer": {"action": "next"}}, {"answer": {"action": "closing"}}]
    refused = {"exit": 2, "stdout": "x", "stderr": ""}
    keep(
        steps(),
        Lively({"ask": [*answers, *more[1:]], "shell": [refused, {"exit": 0, "stdout": "", "stderr": ""}]}),
        {"topic": "t"},
    )
    test, told = record(capfd)
    assert "not in the test" not in told
    assert test["scenario"]["answers"]["draft"][0] == {"attempts": [{"failed": "overloaded"}, {"action": "next"}]}
    assert test["scenario"]["commands"] == {"exit 0": [{"exit": 2, "stdout": "x"}, {}]}
    assert test["expect"]["path"] == ["draft", "close", "draft", "close"]


def test_what_people_say_survives(capfd: Shown) -> None:
    call = {"id": "a", "tool": "Write", "arguments": {"path": "x"}}
    done = {"calls": [{"id": "z", "tool": "submit", "arguments": {"words": 3}}]}
    turns = [{"calls": [call]}, {"calls": [{**call, "id": "b"}]}, done, done, done]
    grants = [{"granted": True}, {"granted": False}]
    keep(
        asking(),
        Lively({"turn": turns, "grant": grants, "call": [{"value": 1}], "confirm": [{"yes": True}]}),
        {"busy": True},
    )
    test, told = record(capfd)
    assert "not in the test" not in told
    assert test["scenario"]["confirm"] == {"plan": [True]}
    first, second = (turn["calls"][0] for turn in test["scenario"]["conversations"]["plan"][0][:2])
    assert (first["granted"], first["result"], second["granted"]) == (True, 1, False)


def test_secrets_are_not_in_the_test(capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "very-secret-value")
    keep(
        steps(),
        Lively(
            {
                "ask": [{"answer": {"action": "next", "note": "very-secret-value"}}, {"answer": {"action": "closing"}}],
                "shell": [{"exit": 0, "stdout": "token=ghp_" + "a" * 36, "stderr": ""}],
            }
        ),
        {"topic": "very-secret-value"},
    )
    capfd.readouterr()
    assert run(["runs", "record", "one"]) == 0
    shown = capfd.readouterr()
    assert "very-secret-value" not in shown.out
    assert "ghp_" not in shown.out
    assert "secrets: they are [redacted]" in shown.err


def test_agents_inside_and_their_endings_survive(tmp_path: Path, capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    write_orchestrator(tmp_path / "o")
    monkeypatch.chdir(tmp_path / "o")
    (plan,) = (made for made in _compile(capfd) if "orchestrator" in made or "workflow" in made)
    reviewer = [{"verdict": "rejected"}, {"verdict": "approved"}]
    scenario = {"inputs": {"issue": 7}, "agents": {"builder": {"answers": answer_steps()}, "reviewer": reviewer}}
    Path("s.json").write_text(json.dumps({**scenario, "waits": "skip"}), encoding="utf-8")
    assert run(["run", plan, "--entry", "kind:build", "--scenario", "s.json", "--run", "one"]) == 0
    test, told = record(capfd)
    assert "not in the test" not in told
    assert test["scenario"]["agents"]["reviewer"] == [{"answer": each} for each in reviewer]
    assert test["expect"]["path"] == ["build", "review", "build", "review", "done"]


def _compile(capfd: Shown) -> list[str]:
    assert run(["compile", "-o", "plans/"]) == 0
    capfd.readouterr()
    return sorted(str(each) for each in Path("plans").glob("*.json"))


def test_stages_that_are_processes_survive(tmp_path: Path, capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TOP / "registries" / "wine-quality", tmp_path / "w")
    monkeypatch.chdir(tmp_path / "w")
    assert run(["compile", "-o", "x.plan.json"]) == 0
    Path("s.yaml").write_text("processes: {S03_split_data: {exit: 3, valid: false}}\n", encoding="utf-8")
    assert run(["run", "x.plan.json", "--scenario", "s.yaml", "--run", "one"]) == 1
    capfd.readouterr()
    assert run(["runs", "record", "one", "-o", TESTS]) == 0
    assert "not in the test" not in capfd.readouterr().err
    assert run(["test", TESTS]) == 0
    test = record(capfd)[0]
    assert test["scenario"]["processes"] == {"S03_split_data": [{"exit": 3, "valid": False}]}
    assert test["expect"]["outcome"] == "failed"


@pytest.fixture
def staged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep a run of stages of which the third fails, and one that is behind it is blocked."""
    shutil.copytree(TOP / "registries" / "wine-quality", tmp_path / "w")
    monkeypatch.chdir(tmp_path / "w")
    assert run(["compile", "-o", "x.plan.json"]) == 0
    Path("s.yaml").write_text("processes: {S03_split_data: {exit: 3, valid: false}}\n", encoding="utf-8")
    Path("t.yaml").write_text("processes: {S03_split_data: {seconds: 2.5}}\n", encoding="utf-8")
    assert run(["run", "x.plan.json", "--scenario", "s.yaml", "--run", "one"]) == 1
    return tmp_path


@pytest.mark.usefixtures("staged")
def test_a_reopened_run_of_stages_becomes_a_test_of_its_last_way(capfd: Shown) -> None:
    assert run(["resume", "one", "--scenario", "s.yaml"]) == 1
    assert run(["resume", "one", "--scenario", "t.yaml"]) == 0
    test, told = record(capfd)
    assert told.splitlines() == [
        "stagec: not in the test: what stages did before the run was resumed, unless it was kept"
    ]
    assert test["scenario"]["processes"] == {"S03_split_data": [{"seconds": 2.5}]}
    assert (test["expect"]["outcome"], len(test["expect"]["path"])) == ("done", test["expect"]["executions"])
    assert run(["runs", "record", "one", "-o", TESTS]) == 0
    assert run(["test", TESTS]) == 0


@pytest.mark.usefixtures("staged")
def test_a_reopened_run_that_fails_again_becomes_a_test_that_fails(capfd: Shown) -> None:
    Path("u.yaml").write_text("processes: {S03_split_data: {exit: 4, valid: true}}\n", encoding="utf-8")
    assert run(["resume", "one", "--scenario", "u.yaml"]) == 1
    test = record(capfd)[0]
    assert test["scenario"]["processes"] == {"S03_split_data": [{"exit": 4}]}
    assert test["expect"]["outcome"] == "failed"


def rewrite(plan: Plan, name: str, **fields: Any) -> None:
    made = replace(plan, **fields)
    Path(name).write_bytes(dump(replace(made, facts=facts(made))))


@pytest.fixture
def half() -> None:
    """Begin a run of steps that waits for the answer of `close`."""
    rewrite(steps(), "p", inputs={**steps().inputs, "old": Input()})
    rewrite(steps(), "new", inputs={**steps().inputs, "tone": Input(required=True)})
    Path("whole.yaml").write_text(STEPS, encoding="utf-8")
    Path("cut.yaml").write_text("inputs: {topic: winter, old: 1}\nanswers: {draft: {action: next}}\n", encoding="utf-8")
    assert run(["run", "p", "--scenario", "cut.yaml", "--run", "one"]) == 2


@pytest.mark.usefixtures("half")
@pytest.mark.parametrize("again", [(), ("--again", "close")])
def test_a_run_that_changed_its_plan_becomes_a_test_of_the_last_one(again: tuple[str, ...], capfd: Shown) -> None:
    change = ["resume", "one", "--plan", "new", "--input", "tone=brief", "--scenario", "whole.yaml", *again]
    assert run(change) == 0
    test, told = record(capfd)
    assert test["scenario"]["inputs"] == {"topic": "winter", "tone": "brief"}
    assert test["expect"]["path"] == ["draft", "close"]
    assert set(test["scenario"]["answers"]) == {"draft", "close"}
    assert "not in the test: the change of the plan: the test has only the last plan" in told
    assert ("not in the test: requests that were stopped when the plan changed" in told) == bool(again)


@pytest.mark.usefixtures("half")
def test_a_way_that_the_last_plan_does_not_have_is_refused(capfd: Shown) -> None:
    short = replace(steps().nodes["draft"], edges=tuple(to_the_end(each) for each in steps().nodes["draft"].edges))
    rewrite(steps(), "new", nodes={**steps().nodes, "draft": short})
    assert run(["resume", "one", "--plan", "new", "--scenario", "whole.yaml"]) == 0
    capfd.readouterr()
    assert run(["runs", "record", "one"]) == 1
    told = capfd.readouterr().err
    assert "no scenario repeats the run 'one': it ends as done by draft; " in told


def to_the_end(edge: Edge) -> Edge:
    return replace(edge, target=Stop(Outcome.DONE))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "has not ended: 'stagec resume one' continues it"),
        ((Cancelled(),), "was cancelled: a scenario cannot express"),
    ],
)
def test_a_run_of_which_there_can_be_no_test_is_refused(more: tuple[Event, ...], told: str, capfd: Shown) -> None:
    keep(steps(), Lively({"ask": [{"answer": {"action": "next"}}]}), {"topic": "t"}, *more)
    assert told in record(capfd, 2)[1]


def test_an_answer_that_no_scenario_can_say_is_named(capfd: Shown) -> None:
    call = {"id": "a", "tool": "Write", "arguments": {"path": "x"}}
    done = {"calls": [{"id": "z", "tool": "submit", "arguments": {"words": 3}}]}
    turns = [{"calls": [call]}, done, done, done]
    keep(asking(), Lively({"turn": turns, "grant": [{"granted": None}], "confirm": [{"yes": True}]}), {"busy": True})
    assert "not in the test: one/plan#1/1.2: grant is answered differently" in record(capfd)[1]


def test_a_program_of_which_nothing_is_said_counts_as_it_did(capfd: Shown) -> None:
    asked = [{"answer": {"action": each}} for each in ("next", "closing", "next", "closing")]
    keep(steps(), Lively({"ask": asked, "shell": ["odd", {"exit": 0}]}), {"topic": "t"})
    assert record(capfd)[0]["scenario"]["commands"] == {"exit 0": [{"exit": None}, {}]}
