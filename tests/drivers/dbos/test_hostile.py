"""Hostile input: what cannot be is refused, what is there stays, and runs go on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from campaigns import choose
from in_databases import ScriptedTestWorld, submission, submit, transitions, wait_until, working
from playable import judged, steps

from stagec.cli.app import run
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.ir.plan import dump
from stagec.runtime.drivers.dbos import RunPhase, RunStore
from stagec.runtime.drivers.dbos.database import messages
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, write_message
from stagec.runtime.machine import Effect

ENDED = (RunPhase.DONE, RunPhase.FAILED, RunPhase.INTERRUPTED)
LARGE = choose(2_000_000, whole=50_000_000)
LINES = choose(500, whole=5_000)
PLAN = dump(steps())


@pytest.fixture
def place(runs: RunStore, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a plan the current one, and name the database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STAGEC_DATABASE", url)
    Path("steps.plan.json").write_bytes(PLAN)
    return tmp_path


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)  # it is refused before any database is asked
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        PLAN[:-200],
        PLAN.replace(b"writer", b"wryter"),
        PLAN.replace(b"stagec.plan/1", b"stagec.plan/9"),
        b"[" * 1_000_000,
        b"\xff\x00" * 1_000_000,
    ],
    ids=["empty", "array", "cut", "altered", "newer", "deep", "bytes"],
)
def test_a_wrong_plan_is_refused(runs: RunStore, place: Path, data: bytes) -> None:
    Path("steps.plan.json").write_bytes(data)
    assert run(["submit", "steps.plan.json", "--input", "topic=cats", "--run", "one"]) == 2
    assert runs.list_records() == []


@pytest.mark.parametrize("last", ["{", "[" * 100_000, '{"run": "x", "inputs": {"topic": 1e999}}', "\x00", '"\\ud800"'])
def test_of_thousands_of_jobs_none_is_submitted_if_one_is_wrong(runs: RunStore, place: Path, last: str) -> None:
    lines = [json.dumps({"run": f"job-{each}", "inputs": {"topic": "\0"}}) for each in range(LINES)]
    words = ["submit", "steps.plan.json", "--jobs", "jobs.jsonl"]
    Path("jobs.jsonl").write_text("\n".join([*lines, last]), encoding="utf-8")
    assert run(words) == 2
    assert runs.list_records() == []
    if last == "{":
        Path("jobs.jsonl").write_text("\n".join(lines), encoding="utf-8")
        assert run(words) == 0
        assert len(runs.list_records()) == LINES


@pytest.mark.parametrize(
    "command", ["runs pause", "runs cancel", "resume", "runs replay", "runs show", "runs questions"]
)
def test_a_run_that_is_not_there_is_refused(
    runs: RunStore, place: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    submit(runs, submission("one"))
    assert run([*command.split(), "other"]) == 2
    assert "no run is called 'other'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["one\0", "\ud800", "x" * 70_000, "one' OR ''='", "one/0", "../one"])
def test_no_name_is_too_strange_to_be_refused(
    runs: RunStore, place: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    submit(runs, submission("one"))
    for command in (["runs", "cancel"], ["runs", "show"]):
        assert run([*command, name]) == 2
        assert "no run is called" in capsys.readouterr().err


def test_a_run_of_somebody_else_is_another_run(runs: RunStore) -> None:
    submit(runs, submission("one", tenant="acme"))
    with pytest.raises(Failure, match="with another tenant"):
        submit(runs, submission("one", tenant="other"))
    assert runs.find("one").tenant == "acme"


def test_an_answer_counts_once_however_often_it_is_sent(runs: RunStore) -> None:
    submit(runs, submission("one", judged()), submission("two", judged()))
    with working(runs.database, ScriptedTestWorld()):
        for each in ("one", "two"):
            wait_until(runs, each, RunPhase.WAITING)
        (key,) = runs.fold(runs.find("one"))[1].pending
        sent = transitions(runs).send_answer("one", key, yes=True, by="somebody")
        for _ in range(3):
            with pytest.raises((OtherAnswerError, Failure)):
                transitions(runs).send("one", sent)
        with pytest.raises(Failure, match="no question has the key"):
            transitions(runs).send_answer("two", key, yes=True, by="somebody")
        wait_until(runs, "one", *ENDED)
        with pytest.raises(Failure, match="has ended"):
            transitions(runs).send("one", sent)
    assert runs.find("two").phase is RunPhase.WAITING


def test_signals_that_are_none_change_nothing(runs: RunStore) -> None:
    bodies = ("", "{", "[]", '{"kind": "cancel"}', "[" * 50_000, "x" * 1_000_000)
    submit(runs, submission("one", judged()))
    with runs.database.transact() as connection:
        rows = [
            {"run": "one", "name": f"{number} {each}", "body": body, "sent_at": 0}
            for number, body in enumerate(bodies)
            for each in range(5)
        ]
        connection.execute(messages.insert(), rows)
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "one", RunPhase.WAITING)
        transitions(runs).send("one", write_message(MessageKind.CANCEL, "somebody"))
        wait_until(runs, "one", RunPhase.BLOCKED, *ENDED)


class Saying(ScriptedTestWorld):
    """Says more in its first answer than anybody wants."""

    def __init__(self, said: str) -> None:
        super().__init__()
        self._said = said

    def answer(self, effect: Effect) -> Json:
        found = super().answer(effect)
        if len(self.asked) == 1 and isinstance(found, dict):
            return {**found, "text": self._said}
        return found


def test_a_very_large_answer_is_kept_or_refused_and_nothing_is_lost(runs: RunStore) -> None:
    submit(runs, submission("large"), submission("small"))
    with working(runs.database, Saying("x" * LARGE)):
        found = [wait_until(runs, each, *ENDED) for each in ("large", "small")]
    for record in found:
        assert record.phase is not RunPhase.INTERRUPTED or record.reason
        assert len(runs.read_history(record).events) > 1 or record.phase is RunPhase.INTERRUPTED
    assert RunPhase.DONE in {each.phase for each in found}


def test_a_failure_that_no_database_takes_is_kept_as_it_can_be_shown(runs: RunStore) -> None:
    class Failing(ScriptedTestWorld):
        def answer(self, _effect: Effect) -> Json:
            raise Failure("it said \0 and \ud800 and\nmore")

    submit(runs, submission("one"))
    with working(runs.database, Failing()):
        record = wait_until(runs, "one", *ENDED)
    assert record.phase is RunPhase.INTERRUPTED
    assert record.reason == "it said \\x00 and \\ud800 and\nmore"
