"""The page over runs in a database: the same as over those of a folder, and what it starts is submitted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from in_databases import ScriptedTestWorld, submission, submit, transitions, wait_for, wait_until, working
from msgspec.structs import force_setattr
from playable import judged, steps
from serve.asking import ACCESS, App, ask, post, serve_folder

from stagec.cli.app import run
from stagec.cli.databases.submission import open_served_runs
from stagec.ir.plan import dump
from stagec.runtime.drivers.dbos import Database, LiveRun, RunPhase, RunStore, list_briefs, migrate, open_database
from stagec.runtime.drivers.dbos.database import runs as table
from stagec.runtime.drivers.dbos.run_store import remove_old
from stagec.runtime.drivers.local import create
from stagec.runtime.drivers.messages import MessageKind, write_message
from stagec.runtime.serve.run_source import ServeSetup
from stagec.runtime.serve.server import make_application
from stagec.runtime.serve.watch import Watch

ENDED = (RunPhase.DONE, RunPhase.FAILED)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'runs.sqlite'}"
    found: str = request.getfixturevalue("database")
    return found


@pytest.fixture
def runs(url: str) -> Iterator[RunStore]:
    database = open_database(url, 8)
    migrate(database)
    RunStore(database).queues.prepare(None)
    yield RunStore(database)
    database.close()


class Page:
    """The page over a database, whose runs are looked at when a test says so."""

    def __init__(self, app: App, watch: Watch, said: list[str]) -> None:
        self.app, self.watch, self.said = app, watch, said

    def rows(self) -> dict[str, Any]:
        self.watch.look()
        return {each["name"]: each for each in ask(self.app, "/api/state").json["runs"]}

    def wait_for(self, run: str, status: str) -> Any:
        wait_for(lambda: self.rows().get(run, {}).get("status") == status)
        return self.rows()[run]


@pytest.fixture
def page(url: str, runs: RunStore, tmp_path: Path) -> Iterator[Page]:
    (tmp_path / "steps.plan.json").write_bytes(dump(steps()))
    said: list[str] = []
    with open_served_runs(url, said.append) as source:
        watch = Watch(source)
        setup = ServeSetup(source, (tmp_path / "steps.plan.json",), can_start=True)
        app, _ = make_application(setup, watch, ACCESS, said.append)
        yield Page(app, watch, said)
        watch.close()


class JudgedWorld(ScriptedTestWorld):
    """Answers models, and leaves questions to people."""

    def answer(self, effect: Any) -> Any:
        self.asked.append(effect.key)
        return {"answer": {"said": "fine"}}


def copy_run(runs: RunStore, run: str, folder: Path) -> Path:
    """Return a folder with the journal of a run."""
    folder.mkdir()
    history = runs.read_history(runs.find(run))
    with closing(create(folder / f"{run}.run", history.plan, history.digest)) as journal:
        for each, step_digest in zip(history.events, history.step_digests, strict=True):
            journal.append(each)
            journal.take_digest(step_digest)
        journal.seal()
    return folder


def test_a_run_is_shown_from_its_submission_to_its_end_as_one_of_a_folder_is(
    runs: RunStore, page: Page, tmp_path: Path
) -> None:
    submit(runs, submission("one"), submission("later", delay=3_600_000))
    assert {name: each["status"] for name, each in page.rows().items()} == {"one": "not begun", "later": "not begun"}
    assert ask(page.app, "/api/runs/one").json["row"]["status"] == "not begun"
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "one", *ENDED)
    row = page.wait_for("one", "done")
    shown = {name: ask(page.app, f"/api/runs/one{name}").json for name in ("", "/journal", "/node?node=draft")}
    app, watch = serve_folder(copy_run(runs, "one", tmp_path / "folder"))
    local = {name: ask(app, f"/api/runs/one{name}").json for name in shown}
    for each in (shown[""]["row"], local[""]["row"], row):
        del each["changed"]
    assert shown == local
    assert row == local[""]["row"], "the row without the history says the same as the one with it"
    watch.close()


def test_what_is_new_of_a_run_is_read_once(runs: RunStore, page: Page) -> None:
    submit(runs, submission("one"))
    live = LiveRun(runs, "one")
    assert (live.is_executed(), live.read_more().begins, live.read_more().events) == (True, True, ())
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "one", *ENDED)
    first, second = live.read_more(), live.read_more()
    assert (len(first.events), first.begins, len(first.times)) == (5, False, 5)
    assert second.events == ()
    assert not live.is_executed()
    submit(runs, submission("two"))
    assert page.rows()["two"]["status"] == "not begun"
    assert page.rows()["one"]["status"] == "done", "what has ended is listed, and not asked for again"


def test_a_question_is_answered_once_and_a_replayed_answer_is_refused(runs: RunStore, page: Page) -> None:
    submit(runs, submission("one", judged()))
    with working(runs.database, JudgedWorld()):
        row = page.wait_for("one", "waiting")
        told = ask(page.app, "/api/runs/one").json
        (question,) = told["questions"]
        assert (row["questions"], row["reason"], told["row"]["status"]) == (1, "waits for an answer", "waiting")
        given = {"key": question["key"], "answer": True}
        assert post(page.app, "/api/runs/one/answer", given).status == 200
        again = post(page.app, "/api/runs/one/answer", {**given, "answer": False})
        assert again.status == 409
        wait_until(runs, "one", *ENDED)
        page.wait_for("one", "done")
        assert post(page.app, "/api/runs/one/answer", given).status == 409
        assert post(page.app, "/api/runs/none/answer", given).status == 404
        assert post(page.app, "/api/runs/one/cancel", {}).json["error"] == "the run has ended"
    assert "the page has answered yes to run one" in page.said


def test_a_run_that_another_machine_has_run_differently_is_not_resumed(
    runs: RunStore, page: Page, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(runs, submission("one", judged()))
    with working(runs.database, JudgedWorld()):
        wait_until(runs, "one", RunPhase.WAITING)
        transitions(runs).send("one", write_message(MessageKind.PAUSE, "terminal"))
    with runs.database.transact() as connection:
        connection.execute(table.update().values(version="stagec.plan/0+machine.0", digest="0" * 32))
    page.wait_for("one", "interrupted")
    refused = post(page.app, "/api/runs/one/resume", {})
    assert "replays it differently" in refused.json["error"]
    assert run(["resume", "one", "--database", url]) == 2
    assert "replays it differently" in capsys.readouterr().err.replace("\n", " ")
    assert runs.find("one").phase is RunPhase.PAUSED


def test_a_run_is_paused_resumed_and_cancelled(runs: RunStore, page: Page) -> None:
    submit(runs, submission("one", judged()), submission("later", delay=3_600_000))
    page.wait_for("later", "not begun")
    assert post(page.app, "/api/runs/later/cancel", {}).status == 202
    with working(runs.database, JudgedWorld()):
        page.wait_for("later", "failed")
        page.wait_for("one", "waiting")
        assert post(page.app, "/api/runs/one/resume", {}).status == 409
        assert post(page.app, "/api/runs/one/pause", {}).status == 202
        row = page.wait_for("one", "interrupted")
        assert row["reason"] == "paused, by page"
        assert post(page.app, "/api/runs/one/pause", {}).json["error"] == "no process executes the run"
        assert post(page.app, "/api/runs/one/resume", {}).status == 202
        page.wait_for("one", "waiting")
        assert post(page.app, "/api/runs/one/cancel", {}).status == 202
        page.wait_for("one", "failed")


def test_a_run_is_submitted_from_the_page(runs: RunStore, page: Page) -> None:
    (plan,) = ask(page.app, "/api/state").json["plans"]
    given = {"plan": plan["digest"], "name": "mine", "inputs": {"topic": "cats"}}
    assert post(page.app, "/api/runs", {**given, "inputs": {}}).status == 422
    assert post(page.app, "/api/runs", {**given, "name": "../mine"}).status == 422
    assert post(page.app, "/api/runs", given).json == {"name": "mine"}
    assert post(page.app, "/api/runs", given).status == 409
    assert page.rows()["mine"]["status"] == "not begun"
    assert dict(runs.find("mine").started.inputs) == {"topic": "cats"}


def test_a_run_that_was_removed_is_gone(runs: RunStore, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stagec.runtime.serve.database_runs._WHOLE", 0)
    submit(runs, submission("one"))
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "one", *ENDED)
    assert ask(page.app, "/api/runs/one").status == 200
    assert list(page.rows()) == ["one"]
    assert remove_old(runs, 0) == 1
    assert page.rows() == {}
    assert ask(page.app, "/api/runs/one").status == 404


@pytest.mark.parametrize("name", ["none", "\0", "\ud800", "x" * 5000, "a/b", "%"])
def test_an_unknown_run_is_told(page: Page, name: str) -> None:
    assert page.watch.find(name) is None


def test_a_database_that_goes_away_is_told_and_comes_back(
    page: Page, runs: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(runs, submission("one"))
    assert list(page.rows()) == ["one"]
    engine = runs.database.engine
    broken = sa.create_engine("sqlite:////nowhere/at/all.sqlite")
    served: Database = page.watch.source._store.database  # type: ignore[attr-defined]
    kept = served.engine
    force_setattr(served, "engine", broken)
    assert list(page.rows()) == ["one"], "what was known is still shown"
    assert "cannot be used" in page.watch.trouble
    refused = ask(page.app, "/api/runs/one")
    assert (refused.status, "cannot be used" in refused.json["error"]) == (503, True)
    assert post(page.app, "/api/runs/one/cancel", {}).status == 503
    force_setattr(served, "engine", kept)
    assert page.rows()["one"]["status"] == "not begun"
    assert (page.watch.trouble, engine is broken) == ("", False)
    assert ask(page.app, "/api/runs/one").status == 200


def test_a_plan_that_cannot_be_used_is_told_and_harms_no_other_run(runs: RunStore, page: Page) -> None:
    submit(runs, submission("good"), submission("bad", judged()))
    with runs.database.transact() as connection:
        connection.execute(table.update().where(table.c.run == "bad").values(plan=runs.find("good").plan[:-1] + "x"))
    rows = page.rows()
    assert (rows["good"]["status"], rows["bad"]["status"]) == ("not begun", "unusable")
    assert ask(page.app, "/api/runs/bad/journal").status == 409
    assert ask(page.app, "/api/runs/good/journal").status == 200


def test_a_run_in_the_browser(
    chromium: Any, serving: Callable[..., Any], runs: RunStore, url: str, tmp_path: Path
) -> None:
    submit(runs, submission("one", judged()))
    served = serving(tmp_path, "--database", url)
    with working(runs.database, JudgedWorld()):
        chromium.visit(served.address)
        chromium.wait_for("document.querySelectorAll('#rows a').length === 1")
        chromium.click("#rows a")
        chromium.wait_for("document.querySelector('.question') !== null")
        chromium.wait_for("document.querySelector('.pill .status')?.textContent === 'waiting'")
        transitions(runs).send("one", write_message(MessageKind.CANCEL, "terminal"))
        chromium.wait_for("document.querySelector('.pill .status')?.textContent === 'failed'")
    assert chromium.complaints() == []


def test_many_runs_are_listed_without_their_histories(runs: RunStore, page: Page) -> None:
    submit(runs, *(submission(f"run-{number}") for number in range(50)))
    assert len(page.rows()) == 50
    assert all(each.view is None for each in page.watch._runs.values())
    assert [each.record.inputs for each in list_briefs(runs)] == ["{}"] * 50
    assert json.loads(runs.find("run-1").inputs) == {"topic": "cats"}
