"""Runs in a database, by the commands: submitted, executed by a worker process, shown, steered and moved."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from in_databases import end_worker, start_worker
from playable import STEPS, judged, steps

from stagec.cli.app import run
from stagec.plan import dump

PATIENCE = 60


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with two plans, a scenario and a prepared database the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STAGEC_DATABASE", "sqlite:///runs.sqlite")
    Path("steps.plan.json").write_bytes(dump(steps()))
    Path("judged.plan.json").write_bytes(dump(judged()))
    Path("steps.yaml").write_text(f"{STEPS}commands: {{exit 0: {{exit: 0}}}}\n", encoding="utf-8")
    Path("judged.yaml").write_text("answers: {work: {said: fine}}\n", encoding="utf-8")
    assert run(["database", "migrate"]) == 0
    return tmp_path


def submit(*words: str) -> int:
    return run(["submit", "steps.plan.json", "--scenario", "steps.yaml", "--input", "topic=cats", *words])


def standing(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(["runs", "list", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    return {each["run"]: each["status"] for each in rows}[name]


def wait_until(name: str, status: str, capsys: pytest.CaptureFixture[str]) -> None:
    end = time.monotonic() + PATIENCE
    while standing(name, capsys) != status:
        assert time.monotonic() < end
        time.sleep(0.1)


def test_runs_are_submitted_executed_answered_and_moved(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert submit("--run", "one") == submit("--run", "one") == 0
    assert run(["submit", "judged.plan.json", "--scenario", "judged.yaml", "--run", "two"]) == 0
    assert standing("one", capsys) == "not begun"
    worker = start_worker()
    wait_until("one", "done", capsys)
    wait_until("two", "waiting", capsys)
    assert run(["questions", "two"]) == 0
    assert "is the work of step 'work' done?" in capsys.readouterr().out
    assert run(["pause", "two"]) == 0
    assert standing("two", capsys) == "interrupted"
    assert run(["answer", "two", "yes"]) == 0
    assert run(["resume", "two"]) == 0
    wait_until("two", "done", capsys)
    assert "has handed on what was under way" in end_worker(worker)
    assert run(["replay", "two"]) == 0
    assert run(["answer", "two", "yes"]) == 2


def test_a_journal_of_one_driver_replays_equal_under_the_other(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit("--run", "one")
    worker = start_worker()
    wait_until("one", "done", capsys)
    end_worker(worker)
    assert run(["runs", "export", "one"]) == 0
    stored = capsys.readouterr().out
    assert run(["runs", "export", "one", "--journal", "here/one.run"]) == 0
    assert run(["replay", "one", "--runs", "here"]) == 0
    capsys.readouterr()
    assert run(["runs", "export", "one", "--runs", "here"]) == 0
    assert capsys.readouterr().out == stored


def test_a_run_of_a_folder_goes_on_in_a_database(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "judged.plan.json", "--scenario", "judged.yaml", "--run", "three", "--runs", "here"]
    assert run([*words, "--no-stream"]) == 2  # nobody judges, so the run is interrupted
    assert run(["runs", "import", "here/three.run"]) == 0
    assert standing("three", capsys) == "not begun"
    worker = start_worker()
    wait_until("three", "waiting", capsys)
    assert run(["answer", "three", "yes"]) == 0
    wait_until("three", "done", capsys)
    end_worker(worker)
    assert run(["replay", "three"]) == 0


def test_jobs_are_submitted_together_or_not_at_all(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"run": f"job-{each}", "inputs": {"topic": "cats"}, "priority": 5} for each in range(40)]
    Path("jobs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    words = ["submit", "steps.plan.json", "--jobs", "jobs.jsonl"]
    assert run(words) == 0
    assert capsys.readouterr().out.endswith("40 runs submitted, 0 were there already\n")
    assert run(words) == 0
    assert capsys.readouterr().out == "0 runs submitted, 40 were there already\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[]", "it is no job: an object is expected"),
        ("{", "it is no JSON"),
        ("{}", "a job has no 'run'"),
        ('{"run": "a", "inputs": 3}', "'inputs' is not what it should be"),
        ('{"run": "a", "inputs": {"other": 1}}', "there is no input 'other'"),
        ('{"run": "a", "inputs": {"topic": "x"}, "priority": 0}', "0 is no priority"),
        ('{"run": "a", "inputs": {"topic": "x"}, "at": "soon"}', "'soon' is no time"),
        ('{"run": "../a", "inputs": {"topic": "x"}}', "cannot name a run"),
        ('{"run": "a", "colour": 3}', "a job has no 'colour'"),
        ('{"run": "one", "inputs": {"topic": "x"}}', "there are two runs 'one'"),
    ],
)
def test_a_wrong_job_is_refused(place: Path, capsys: pytest.CaptureFixture[str], line: str, told: str) -> None:
    Path("jobs.jsonl").write_text(f'{{"run": "one", "inputs": {{"topic": "x"}}}}\n{line}\n', encoding="utf-8")
    assert run(["submit", "steps.plan.json", "--jobs", "jobs.jsonl"]) == 2
    errors = capsys.readouterr().err
    assert "jobs.jsonl:2: " in errors
    assert told in errors
    assert run(["runs", "list"]) == 0
    assert "0 runs" in capsys.readouterr().out


@pytest.mark.parametrize(
    "url", ["mysql://a:hidden@x/y", "postgresql://a:hidden@127.0.0.1:1/y", "hidden", "sqlite://x/y"]
)
def test_no_password_is_shown(place: Path, capsys: pytest.CaptureFixture[str], url: str) -> None:
    assert run(["database", "check", "--database", url]) == 2
    assert "hidden" not in capsys.readouterr().err


def test_an_altered_plan_is_not_submitted(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("steps.plan.json").write_bytes(dump(steps()).replace(b"writer", b"wryter"))
    assert submit() == 2
    assert "it was changed" in capsys.readouterr().err


def test_limits_are_set_listed_and_removed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["database", "limit", "--provider", "openai", "--concurrency", "8", "--rate", "60/60s"]) == 0
    assert run(["database", "limit", "--tenant", "acme", "--concurrency", "2"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["provider", "openai", "8", "at", "once", "60", "in", "60", "s"] in lines
    assert ["tenant", "acme", "2", "at", "once"] in lines
    assert run(["database", "limit", "--provider", "openai"]) == 0
    assert "openai" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--provider", "openai:gpt-5.4", "--concurrency", "1"], "is a model: a limit holds for all models of"),
        (["--provider", "openai", "--tenant", "acme"], "are limits of their own"),
        (["--provider", "", "--concurrency", "1"], "names no provider"),
        (["--concurrency", "1"], "--tenant says whose runs are limited, --provider whose requests"),
        (["--provider", "openai", "--rate", "0/60s"], "is no rate"),
    ],
)
def test_what_is_no_limit_is_refused(
    place: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["database", "limit", *words]) == 2
    assert told in capsys.readouterr().err.replace("\n", " ")
