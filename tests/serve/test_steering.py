"""What is done to runs from the page: one answer counts, and nothing is done to a run that cannot take it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from serve.asking import App, ask, folder_of, make_asking, make_program, make_stages, post, run_plan, serve_folder

from stagec.cli.running.runs import Runs
from stagec.cli.running.serve_request import _name_run
from stagec.ir.plan import dump
from stagec.runtime.drivers.local import Journal, create
from stagec.runtime.drivers.local.mailbox import Mailbox
from stagec.runtime.drivers.messages import MessageKind, name_answer
from stagec.runtime.machine import Started, State, advance, load
from stagec.runtime.serve.watch import Watch

KEY = "one/plan#1/1.0"


class Waiting(NamedTuple):
    """A run that asks whether a stage may act, executed by this process."""

    app: App
    watch: Watch
    journal: Journal
    key: str
    said: list[str]

    def read(self, kind: MessageKind = MessageKind.ANSWER) -> Any:
        mailbox = Mailbox(folder_of(self.watch) / "one.run")
        names = (name_answer(self.key), MessageKind.PAUSE, MessageKind.CANCEL)
        return [each for name, each in mailbox.look(names).items() if name.startswith(kind)]


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Waiting]:
    data = dump(make_asking())
    program = load(data)
    journal = create(tmp_path / "one.run", data, program.digest)
    started = Started("one", None, {"task": "everything"})
    journal.append(started)
    (key,) = advance(program, State(), started).state.pending
    said: list[str] = []
    app, watch = serve_folder(tmp_path, said)
    yield Waiting(app, watch, journal, key, said)
    watch.close()
    journal.close()


def test_a_question_is_shown_in_words(waiting: Waiting) -> None:
    told = ask(waiting.app, "/api/runs/one").json
    assert told["row"]["status"] == "waiting"
    assert told["row"]["questions"] == 1
    (question,) = told["questions"]
    assert (question["key"], question["kind"], question["who"]) == (waiting.key, "confirm", "plan")
    assert "plan" in question["sentence"]
    assert set(question["consequences"]) == {"yes", "no"}
    assert [each["status"] for each in told["flow"]["nodes"] if each["node"] == "plan"] == ["waiting"]


@pytest.mark.parametrize("yes", [True, False])
def test_the_first_answer_counts_and_the_other_is_told(waiting: Waiting, *, yes: bool) -> None:
    assert post(waiting.app, "/api/runs/one/answer", {"key": waiting.key, "answer": yes}).status == 200
    (message,) = waiting.read()
    assert (message.key, message.answer, message.by) == (waiting.key, {"yes": yes}, "page")
    second = post(waiting.app, "/api/runs/one/answer", {"key": waiting.key, "answer": not yes})
    word = "yes" if yes else "no"
    assert (second.status, second.json["answer"], second.json["by"]) == (409, word, "page")
    assert second.json["error"] == f"the question is already answered: {word}, by page"
    assert waiting.read() == [message]
    assert waiting.said == [f"the page has answered {word} to run one"]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 400),
        ([], 400),
        ({"key": KEY}, 400),
        ({"key": KEY, "answer": "yes"}, 400),
        ({"key": KEY, "answer": None}, 400),
        ({"key": 1, "answer": True}, 400),
        ({"key": "one/other#1/1.0", "answer": True}, 409),
        ({"key": "", "answer": True}, 409),
        ({"key": "../../x", "answer": True}, 409),
        ({"key": "\ud800", "answer": True}, 400),
        ({"key": KEY, "answer": float("nan")}, 400),
    ],
)
def test_what_is_no_answer_is_refused(waiting: Waiting, given: object, status: int) -> None:
    refused = post(waiting.app, "/api/runs/one/answer", given)
    assert refused.status == status
    assert refused.json["error"]
    assert waiting.read() == []


@pytest.mark.parametrize("body", [b"", b"x", b"[" * 100_000, b'{"key": "', b"\xff"])
def test_what_is_no_json_is_refused(waiting: Waiting, body: bytes) -> None:
    assert ask(waiting.app, "/api/runs/one/answer", body).status == 400


@pytest.mark.parametrize("kind", [MessageKind.PAUSE, MessageKind.CANCEL])
def test_who_executes_a_run_is_asked_to_end(waiting: Waiting, kind: MessageKind) -> None:
    for _ in range(2):
        assert post(waiting.app, f"/api/runs/one/{kind}", {}).status == 202
    (message,) = waiting.read(kind)
    assert message.by == "page"
    assert waiting.said == [f"the page asks run one to {kind}"]


@pytest.mark.parametrize("act", ["answer", "pause", "cancel", "resume"])
def test_a_run_that_has_ended_takes_nothing(tmp_path: Path, act: str) -> None:
    run_plan(tmp_path, "one", make_stages(), {"done": True}, task="x")
    app, watch = serve_folder(tmp_path, can_start=True)
    refused = post(app, f"/api/runs/one/{act}", {"key": KEY, "answer": True})
    watch.close()
    assert refused.status == 409
    assert not Mailbox(tmp_path / "one.run").path.exists()


@pytest.mark.parametrize("act", ["answer", "pause", "cancel", "resume"])
def test_a_run_that_is_not_there_takes_nothing(waiting: Waiting, act: str) -> None:
    assert post(waiting.app, f"/api/runs/none/{act}", {"key": "x", "answer": True}).status in {403, 404}


@pytest.fixture
def starting(tmp_path: Path) -> Iterator[tuple[App, Watch, str]]:
    folder = tmp_path / "runs"
    (tmp_path / "plans").mkdir()
    data = dump(make_program("sh", "-c", "sleep $1", "sh"))
    (tmp_path / "plans" / "a.plan.json").write_bytes(data)
    (tmp_path / "plans" / "none.json").write_text("{}")
    app, watch = serve_folder(
        folder,
        can_start=True,
        plans=(tmp_path / "plans",),
        options=("--max-tokens", "100", "--max-cost", "0.50"),
        name_run=partial(_name_run, Runs(folder)),
    )
    yield app, watch, load(data).digest
    watch.close()


def test_the_plans_that_can_be_started_are_told_with_their_inputs(starting: tuple[App, Watch, str]) -> None:
    app, _, digest = starting
    told = ask(app, "/api/state").json
    (plan,) = told["plans"]
    assert told["canStart"] is True
    assert (plan["id"], plan["digest"], plan["entries"], plan["entry"]) == ("a program", digest, ["", "other"], "")
    assert plan["inputs"]["count"] == {"required": True, "default": None, "schema": {"type": "integer", "minimum": 1}}


def follow(watch: Watch, name: str, *statuses: str) -> str:
    """Return how a run stands as soon as that is one of some ways."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        watch.look()
        run = watch.find(name)
        if run is not None and run.row is not None and run.row.status in statuses:
            return run.row.status
        time.sleep(0.05)
    raise AssertionError(name)


def test_a_run_is_started_by_a_process_of_its_own(starting: tuple[App, Watch, str]) -> None:
    app, watch, digest = starting
    inputs = {"count": 1, "kind": "a", "more": {"list": [1, {"__proto__": "x"}]}}
    answer = post(app, "/api/runs", {"plan": digest, "inputs": inputs, "name": "mine", "entry": "other"})
    assert (answer.status, answer.json) == (201, {"name": "mine"})
    assert follow(watch, "mine", "done", "failed") == "done"
    event = json.loads(ask(app, "/api/runs/mine/event?seq=0").json["text"])
    assert (event["entry"], event["inputs"]) == ("other", inputs)
    limits = ask(app, "/api/runs/mine").json["budget"]["limits"]
    assert limits == {"max_tokens": "100", "max_cost": "0.50"}
    again = post(app, "/api/runs", {"plan": digest, "inputs": inputs, "name": "mine"})
    assert again.status == 409


@pytest.mark.parametrize(
    ("change", "status", "fields"),
    [
        ({"inputs": {}}, 422, {"count"}),
        ({"inputs": {"count": 0, "kind": "c"}}, 422, {"count", "kind"}),
        ({"inputs": {"count": 1, "foreign": 1}}, 422, set()),
        ({"entry": "none"}, 422, set()),
        ({"name": "../x"}, 422, set()),
        ({"name": "-x"}, 422, set()),
        ({"plan": "sha256:none"}, 404, set()),
        ({"plan": None}, 404, set()),
    ],
)
def test_what_cannot_be_started_is_said_before_any_process_begins(
    starting: tuple[App, Watch, str], change: dict[str, Any], status: int, fields: set[str]
) -> None:
    app, watch, digest = starting
    refused = post(app, "/api/runs", {"plan": digest, "inputs": {"count": 1}, "name": "mine", **change})
    assert refused.status == status
    assert set(refused.json.get("fields", {})) == fields
    assert not folder_of(watch).exists()


def test_a_process_that_cannot_begin_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a.plan.json"
    path.write_bytes(dump(make_stages()))
    app, watch = serve_folder(
        tmp_path,
        can_start=True,
        plans=(path,),
        options=("--world", "no_such_module:make"),
        name_run=partial(_name_run, Runs(tmp_path)),
    )
    digest = load(path.read_bytes()).digest
    refused = post(app, "/api/runs", {"plan": digest, "inputs": {"task": "x"}, "name": "mine"})
    watch.close()
    assert refused.status == 422
    assert "no_such_module" in refused.json["error"]


def test_nothing_is_started_where_that_is_not_allowed(waiting: Waiting) -> None:
    assert post(waiting.app, "/api/runs", {"plan": "x"}).status == 403
    assert post(waiting.app, "/api/runs/one/resume", {}).status == 403


def test_an_interrupted_run_is_resumed_or_cancelled_by_a_process(tmp_path: Path) -> None:
    data = dump(make_program("sh", "-c", "exit 0", "sh"))
    for name in ("one", "two"):
        journal = create(tmp_path / f"{name}.run", data, load(data).digest)
        journal.append(Started(name, None, {"count": 1}))
        journal.close()
    app, watch = serve_folder(tmp_path, can_start=True)
    assert post(app, "/api/runs/one/resume", {}).status == 202
    assert follow(watch, "one", "done", "failed") == "done"
    assert post(app, "/api/runs/two/cancel", {}).status == 202
    assert follow(watch, "two", "done", "failed") == "failed"
    watch.close()


def test_a_body_that_cannot_be_read_is_told_with_its_place(starting: tuple[App, Watch, str]) -> None:
    app, _, plan = starting
    refused = post(app, "/api/runs", {"plan": plan, "inputs": {"topic": "a\ud800"}})
    why = "the body cannot be read: /inputs/topic: the text contains half a character, '\\ud800'"
    assert (refused.status, refused.json["error"]) == (400, why)
