"""Runs in a database, by the commands: submitted, executed by a worker process, shown, steered and moved."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from handmade import completed
from in_databases import end_worker, start_worker
from playable import STEPS, judged, steps
from telemetry.collector import collect

from stagec.cli.app import run
from stagec.cli.running.runs import read_run
from stagec.cli.signatures import SIGNATURE
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Text
from stagec.ir.plan.document import Contents
from stagec.runtime.drivers.dbos.run_records import APPLICATION_VERSION
from stagec.runtime.drivers.local import create
from stagec.runtime.machine import Started, load

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
    assert run(["runs", "questions", "two"]) == 0
    assert "is the work of step 'work' done?" in capsys.readouterr().out
    assert run(["runs", "pause", "two"]) == 0
    assert standing("two", capsys) == "interrupted"
    assert run(["runs", "answer", "two", "yes"]) == 0
    assert run(["resume", "two"]) == 0
    wait_until("two", "done", capsys)
    assert "has returned its runs" in end_worker(worker)
    assert run(["runs", "replay", "two"]) == 0
    assert run(["runs", "answer", "two", "yes"]) == 2


def test_a_journal_of_one_driver_replays_equal_under_the_other(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit("--run", "one")
    worker = start_worker()
    wait_until("one", "done", capsys)
    end_worker(worker)
    assert run(["runs", "export", "one"]) == 0
    stored = capsys.readouterr().out
    assert run(["runs", "export", "one", "--journal", "here/one.run"]) == 0
    assert run(["runs", "replay", "one", "--runs", "here"]) == 0
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
    assert run(["runs", "answer", "three", "yes"]) == 0
    wait_until("three", "done", capsys)
    end_worker(worker)
    assert run(["runs", "replay", "three"]) == 0


def test_jobs_are_submitted_together_or_not_at_all(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"run": f"job-{each}", "inputs": {"topic": "cats"}, "priority": 5} for each in range(40)]
    Path("jobs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    words = ["submit", "steps.plan.json", "--jobs", "jobs.jsonl"]
    assert run(words) == 0
    assert capsys.readouterr().out.endswith("40 runs submitted, 0 already in the database\n")
    assert run(words) == 0
    assert capsys.readouterr().out == "0 runs submitted, 40 already in the database\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[]", "it is not a job: expected an object"),
        ("{", "it is not JSON"),
        ("{}", "a job has no 'run'"),
        ('{"run": "a", "inputs": 3}', "'inputs' has the wrong type"),
        ('{"run": "a", "inputs": {}, "priority": true}', "'priority' has the wrong type"),
        ('{"run": "a", "inputs": {"topic": "x", "topic": "y"}}', "there are two members 'topic'"),
        ('{"run": "a", "inputs": {"other": 1}}', "there is no input 'other'"),
        ('{"run": "a", "inputs": {"topic": "x"}, "priority": 0}', "0 is not a priority"),
        ('{"run": "a", "inputs": {"topic": "x"}, "at": "soon"}', "'soon' is not a time"),
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
        (["--provider", "openai:gpt-5.4", "--concurrency", "1"], "is a model: limits are for all models of"),
        (["--provider", "openai", "--tenant", "acme"], "exclude each other"),
        (["--provider", "", "--concurrency", "1"], "--provider is empty: name a provider"),
        (["--tenant", "", "--concurrency", "1"], "--tenant is empty: name a tenant"),
        (["--tenant", "\ud800", "--concurrency", "1"], "cannot name a tenant"),
        (["--provider", "a\0", "--concurrency", "1"], "is not a provider"),
        (["--tenant", "a", "--concurrency", "10000000000"], "is not in the range"),
        (["--concurrency", "1"], "name what is limited: --tenant for runs, --provider for requests"),
        (["--provider", "openai", "--rate", "0/60s"], "is not a rate"),
    ],
)
def test_what_is_no_limit_is_refused(
    place: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["database", "limit", *words]) == 2
    assert told in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("number", ["nan", "inf", "1e300", "-1"])
@pytest.mark.parametrize(
    "words", [["database", "prune", "--older-than"], ["worker", "--grace"], ["worker", "--keep-days"]]
)
def test_what_is_no_number_is_refused(
    place: Path, words: list[str], number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, number]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_who_asks_twice_is_told_so(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit("--run", "one")
    for command in ("pause", "cancel"):
        assert run(["runs", command, "one"]) == run(["runs", command, "one"]) == 0
        assert f"were asked to {command} run 'one' before, by terminal" in capsys.readouterr().err.replace("\n", " ")


def test_a_run_whose_plan_is_gone_hides_no_questions(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["submit", "judged.plan.json", "--scenario", "judged.yaml", "--run", "two"]) == 0
    worker = start_worker()
    wait_until("two", "waiting", capsys)
    end_worker(worker)
    submit("--run", "again")
    with closing(sqlite3.connect("runs.sqlite")) as database, database:
        database.execute("DELETE FROM documents WHERE digest = (SELECT plan FROM runs WHERE run = 'again')")
    capsys.readouterr()
    assert run(["runs", "questions"]) == 0
    told = capsys.readouterr()
    assert "is the work of step 'work' done?" in told.out
    assert "warning" in told.err
    assert run(["runs", "questions", "again"]) == 2


def test_a_journal_keeps_signature_scenario_and_times(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "judged.plan.json", "--scenario", "judged.yaml", "--run", "three", "--runs", "here"]
    assert run([*words, "--no-stream"]) == 2
    begun = read_run(Path("here/three.run")).history
    assert run(["runs", "import", "here/three.run"]) == 0
    with closing(sqlite3.connect("runs.sqlite")) as database, database:
        (scenario,) = database.execute("SELECT body FROM documents JOIN runs ON scenario = documents.digest").fetchone()
        database.execute("UPDATE runs SET signature = 'vouched', phase = 'interrupted'")
    assert json.loads(scenario) == {"answers": {"work": {"said": "fine"}}}
    assert run(["runs", "export", "three", "--journal", "back.run"]) == 0
    back = read_run(Path("back.run")).history
    assert (back.events, back.times[1:]) == (begun.events, begun.times[1:])
    assert back.facts[SIGNATURE] == "vouched"
    Path("judged.yaml").unlink()
    Path("here/three.run").rename("four.run")
    assert run(["runs", "import", "four.run"]) == 2
    told = capsys.readouterr().err.replace("\n", " ")
    assert "no longer exists: workers ask without it" in told
    assert "already has a run 'three'" in told


def test_a_journal_of_a_run_without_a_proper_name_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = Path("steps.plan.json").read_bytes()
    with closing(create(Path("bad.run"), data, load(data).digest)) as journal:
        journal.append(Started("../bad", None, {"topic": "cats"}))
    assert run(["runs", "import", "bad.run"]) == 2
    assert "'../bad' cannot name a run" in capsys.readouterr().err


def close_differently(text: str) -> Plan:
    """Return the plan of `playable.steps` in which the last step has another prompt."""
    contents = Contents()
    for each in steps().contents.values():
        contents.add(each)
    act: Any = steps().nodes["close"].act
    node = replace(steps().nodes["close"], act=replace(act, prompt=(Text(contents.add(text)),)))
    return completed(replace(steps(), contents=contents.texts, nodes={**steps().nodes, "close": node}))


def submit_half() -> None:
    """Submit a run that is interrupted where nobody answers `close`."""
    Path("half.yaml").write_text("inputs: {topic: winter}\nanswers:\n  draft: {action: next}\n", encoding="utf-8")
    assert run(["submit", "steps.plan.json", "--scenario", "half.yaml", "--run", "one"]) == 0


def interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    """Let a worker execute the run until nobody answers."""
    worker = start_worker()
    wait_until("one", "interrupted", capsys)
    end_worker(worker)


def test_a_run_goes_on_under_another_plan_which_workers_know(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit_half()
    Path("new.json").write_bytes(dump(close_differently("Close well.")))
    digest = load(Path("new.json").read_bytes()).digest
    interrupt(capsys)
    assert run(["resume", "one", "--plan", "new.json", "--dry-run"]) == 0
    assert f"would continue with {digest[:19]}" in capsys.readouterr().out
    assert run(["resume", "one", "--plan", "new.json"]) == 0
    interrupt(capsys)  # the scenario of the run does not answer
    assert run(["runs", "list", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["digest"] == digest
    assert run(["runs", "replay", "one"]) == 0
    assert run(["runs", "export", "one"]) == 0
    assert capsys.readouterr().out.count('"is": "replanned"') == 1
    assert run(["runs", "export", "one", "--journal", "copy.run"]) == 0
    assert run(["runs", "replay", "copy.run", "--runs", "."]) == 0
    Path("whole.yaml").write_text(STEPS, encoding="utf-8")
    assert run(["resume", "copy.run", "--runs", ".", "--scenario", "whole.yaml"]) == 0
    assert run(["runs", "replay", "copy.run", "--runs", "."]) == 0


def test_what_is_wrong_with_another_plan_changes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit_half()
    assert run(["resume", "one", "--plan", "judged.plan.json"]) == 2
    assert "run 'one' is active: there is nothing to resume" in capsys.readouterr().err
    assert run(["runs", "pause", "one"]) == 0
    interrupt(capsys)
    assert run(["resume", "one", "--plan", "judged.plan.json", "--dry-run"]) == 1
    assert run(["resume", "one", "--plan", "judged.plan.json"]) == 2
    assert run(["resume", "one", "--plan", "steps.yaml"]) == 2
    assert run(["resume", "one", "--allow", "CHG101"]) == 2
    assert run(["resume", "one", "--plan", "steps.plan.json", "--model", "openai:x"]) == 2
    assert "--model has no meaning for a run in a database" in capsys.readouterr().err
    assert standing("one", capsys) == "interrupted"


def test_a_journal_with_a_change_of_the_plan_is_taken_over(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("half.yaml").write_text("inputs: {topic: winter}\nanswers:\n  draft: {action: next}\n", encoding="utf-8")
    Path("new.json").write_bytes(dump(close_differently("Close well.")))
    local = ["--runs", "."]
    assert run(["run", "steps.plan.json", "--scenario", "half.yaml", "--run", "two", *local]) == 2
    assert run(["resume", "two", "--plan", "new.json", *local]) == 2
    assert run(["runs", "import", "two.run"]) == 0
    worker = start_worker()
    wait_until("two", "interrupted", capsys)
    end_worker(worker)
    assert run(["runs", "replay", "two"]) == 0
    assert run(["runs", "show", "two"]) == 0
    assert load(Path("new.json").read_bytes()).digest[:19] in capsys.readouterr().out


def test_workers_send_each_span_of_a_run_once_whoever_executes_it(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["submit", "judged.plan.json", "--scenario", "judged.yaml", "--run", "two"]) == 0
    with collect() as live, collect() as later:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", live.url)
        worker = start_worker()
        wait_until("two", "waiting", capsys)
        end_worker(worker)
        first = len(live.spans)
        assert run(["runs", "answer", "two", "yes"]) == 0
        worker = start_worker()
        wait_until("two", "done", capsys)
        end_worker(worker)
        assert run(["runs", "export", "two", "--otlp", later.url]) == 0
    assert 0 < first < len(live.spans)
    assert len({each.span_id for each in live.spans}) == len(live.spans)
    assert live.spans == later.spans


@pytest.mark.parametrize("name", ["submission", "database"])
def test_json_is_as_its_schema_says(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {
        "submission": ["submit", "steps.plan.json", "--input", "topic=cats", "--format", "json"],
        "database": ["database", "check", "--format", "json"],
    }
    assert submit("--run", "one") == 0
    capsys.readouterr()
    assert run(words[name]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.get("open") == ({APPLICATION_VERSION: 1} if name == "database" else None)
    schema = Path(__file__).parents[2] / "schemas" / f"{name}.schema.json"
    jsonschema.validate(told, json.loads(schema.read_bytes()))
