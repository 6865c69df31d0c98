"""`stagec resume --from` and `--fork`: a run continues from an earlier place, in its own journal or in a new one."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playable import judged, steps
from properties.spending.flows import make_schedule

from stagec.cli.app import run as stagec
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.facts import facts
from stagec.runtime.drivers.history import dump_event
from stagec.runtime.drivers.local import JournalError, create, open_journal, read_journal
from stagec.runtime.drivers.local.drive import drive, rewind
from stagec.runtime.drivers.messages import OtherAnswerError, find_asked
from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.machine import Answered, Effect, Started, load
from stagec.runtime.machine.exchange import Ask, Rewound
from stagec.runtime.serve.run_view import RunDrawing, RunView
from stagec.runtime.telemetry.spans import RunTracer, list_spans

Shown = pytest.CaptureFixture[str]
FAILING = """\
inputs: {topic: winter}
answers:
  draft: [{action: repeat}, {action: next}]
  close: [{action: abort}]
"""
GOOD = """\
inputs: {topic: winter}
answers:
  draft: [{action: repeat}, {action: next}]
  close: [{action: closing}]
"""
RUN = Path(".stagec/runs/one.run")


@pytest.fixture(autouse=True)
def failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> Path:
    """Execute a run that ends as failed: `draft` twice, then `close` gives up."""
    monkeypatch.chdir(tmp_path)
    Path("p").write_bytes(dump(replace(steps(), facts=facts(steps()))))
    Path("bad.yaml").write_text(FAILING, encoding="utf-8")
    Path("good.yaml").write_text(GOOD, encoding="utf-8")
    assert stagec(["run", "p", "--scenario", "bad.yaml", "--run", "one"]) == 1
    capfd.readouterr()
    return tmp_path


def resume(*words: str) -> int:
    return stagec(["resume", "one", "--scenario", "good.yaml", *words])


def show(run: str, capfd: Shown) -> dict[str, Any]:
    capfd.readouterr()
    assert stagec(["runs", "show", run, "--format", "json"]) == 0
    told: dict[str, Any] = json.loads(capfd.readouterr().out)
    return told


def test_the_places_of_a_run_are_listed(capfd: Shown) -> None:
    assert stagec(["runs", "show", "one", "--places"]) == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == ["draft#1", "draft#2", "close#1"]
    assert stagec(["runs", "show", "one", "--places", "--format", "json"]) == 0
    places = json.loads(capfd.readouterr().out)["places"]
    assert places[2] == {"place": "close#1", "node": "close", "visit": 1, "events": 3}


def test_a_failed_run_is_taken_back_and_ends_as_done(capfd: Shown) -> None:
    before = read_journal(RUN).events
    assert resume("--from", "close") == 0
    history = read_journal(RUN)
    assert history.events[: len(before)] == before
    assert history.events[len(before)] == Rewound(3)
    assert show("one", capfd)["outcome"] == "done"
    assert stagec(["runs", "replay", "one"]) == 0
    assert stagec(["runs", "show", "one"]) == 0
    assert "continues after event 2" in capfd.readouterr().out


def test_a_run_that_is_done_is_taken_back_to_a_visit_by_its_number(capfd: Shown) -> None:
    assert resume("--from", "close") == 0
    assert resume("--from", "draft#1") == 0
    assert stagec(["runs", "replay", "one"]) == 0
    capfd.readouterr()
    assert stagec(["runs", "show", "one", "--places"]) == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == ["draft#1", "draft#2", "close#1"]
    assert sum(isinstance(each, Rewound) for each in read_journal(RUN).events) == 2


def test_a_fork_has_the_same_past_and_leaves_the_run_as_it_is(capfd: Shown) -> None:
    before = RUN.read_bytes()
    assert resume("--from", "close", "--fork", "two") == 0
    assert RUN.read_bytes() == before
    one, two = read_journal(RUN), read_journal(RUN.with_name("two.run"))
    assert two.events[:3] == one.events[:3]
    assert two.times[:3] == one.times[:3]
    assert two.facts["forked"] == "one@3"
    assert show("two", capfd)["outcome"] == "done"
    assert show("one", capfd)["outcome"] == "failed"
    assert stagec(["runs", "replay", "two"]) == 0


def test_what_cannot_be_is_refused_with_its_reason_and_changes_nothing(capfd: Shown) -> None:
    before = read_journal(RUN)
    refused = {
        ("--from", "clsoe"): "'stagec runs show one --places' lists the places",
        ("--from", "close#2"): "there are close#1",
        ("--fork", "two"): "--fork needs --from",
        ("--from", "close", "--fork", "one"): "there is a run 'one' already",
        ("--from", "close", "--fork", "a/b"): "cannot name a run",
        ("--from", "close", "--scenario", "nowhere.yaml"): "nowhere.yaml",
        ("--from", "close", "--database", "sqlite:///d"): "because workers read the events of a run only forwards",
    }
    for words, told in refused.items():
        assert resume(*words) == 2, words
        assert told in capfd.readouterr().err, words
    with closing(open_journal(RUN)):
        assert resume("--from", "close") == 2
        assert "is being executed by another process" in capfd.readouterr().err
    assert read_journal(RUN) == before
    assert not RUN.with_name("two.run").exists()


def test_a_dry_run_writes_nothing(capfd: Shown) -> None:
    before = read_journal(RUN)
    assert resume("--from", "close", "--dry-run") == 0
    assert "would continue" in capfd.readouterr().out
    assert read_journal(RUN) == before


def test_a_kill_after_the_run_was_taken_back_leaves_a_run_that_resumes(capfd: Shown) -> None:
    Path("none.yaml").write_text("inputs: {topic: winter}\n", encoding="utf-8")
    assert stagec(["resume", "one", "--from", "close", "--scenario", "none.yaml"]) == 2
    told = show("one", capfd)
    assert (told["status"], told["outcome"]) == ("interrupted", None)
    assert resume() == 0


class Costly:
    """Answers as a model does that says what it has used."""

    def __init__(self, *actions: str) -> None:
        self.actions = list(actions)

    def answer(self, effect: Effect) -> Any:
        """Return the next answer, or the status of a command."""
        if not isinstance(effect, Ask):
            return {"exit": 0, "stdout": "", "stderr": ""}
        used = {"input": 10, "output": 1, "requests": 1, "cost": "0.25"}
        return {"answer": {"action": self.actions.pop(0)}, "usage": used}


def test_cost_of_both_branches_counts_once(capfd: Shown) -> None:
    data = Path("p").read_bytes()
    program = load(data)
    with closing(create(RUN.with_name("three.run"), data, program.digest)) as journal:
        drive(program, journal, Costly("next", "abort"), Started("three", inputs={"topic": "winter"}))
    with closing(open_journal(RUN.with_name("three.run"))) as journal:
        rewind(journal, Rewound(2))
        drive(program, journal, Costly("closing"), None)
    told = show("three", capfd)
    assert told["outcome"] == "done"
    assert (told["usage"]["requests"], told["usage"]["cost"]) == (3, "0.75")


def test_the_page_shows_the_branch_that_goes_on(capfd: Shown) -> None:
    assert resume("--from", "draft#1") == 0
    history = read_journal(RUN)
    program = load(history.plan)
    view = RunView(program, RunDrawing(program.plan))
    for event in history.events:
        view.take(event)
    assert view.describe_flow()["ended"] == "done"
    assert len(view.rows) == len(history.events)
    assert view.outcomes[("close", 1)] == "closing"
    assert max(each["taken"] for each in view.describe_flow()["edges"]) == 1


def test_spans_of_a_branch_have_keys_of_their_own() -> None:
    assert resume("--from", "close") == 0
    history = read_journal(RUN)
    program = load(history.plan)
    spans = list(list_spans(RunTracer(program), advance_through(program, history.events), history.times))
    keys = [each.key for each in spans if each.parent is not None]
    assert len(set(keys)) == len(keys)
    assert {each.parent for each in spans if each.key.startswith("one/close#1/") and "~" in each.key} == {
        "one/close#1~1"
    }


def test_a_recorded_test_has_the_branch_that_goes_on(capfd: Shown) -> None:
    assert resume("--from", "close") == 0
    assert stagec(["runs", "record", "one", "-o", "p.flow-test.yaml"]) == 0
    text = Path("p.flow-test.yaml").read_text(encoding="utf-8")
    assert "closing" in text
    assert "abort" not in text


def test_a_plan_can_change_where_the_run_is_taken_back(capfd: Shown) -> None:
    Path("new").write_bytes(dump(replace(steps(limit=25), facts=facts(steps(limit=25)))))
    assert resume("--from", "close", "--plan", "new") == 0
    history = read_journal(RUN)
    assert history.last_change is not None
    assert stagec(["runs", "replay", "one"]) == 0
    assert resume("--from", "draft#1") == 0  # which is before the change
    assert read_journal(RUN).last_change is None
    assert stagec(["runs", "replay", "one"]) == 0


def test_a_run_of_stages_has_no_places(capfd: Shown) -> None:
    data = dump(make_schedule(0))
    with closing(create(RUN.with_name("stages.run"), data, load(data).digest)) as journal:
        journal.append(Started("stages"))
    for words in (["runs", "show", "stages", "--places"], ["resume", "stages", "--from", "a"]):
        assert stagec(words) == 2
        assert "it cannot be taken back or forked; 'stagec resume stages' runs again" in capfd.readouterr().err


def test_a_branch_begins_only_where_the_present_one_has_been(capfd: Shown) -> None:
    assert resume("--from", "draft#2") == 0
    with closing(open_journal(RUN)) as journal:
        for to in (0, 4, journal.count + 1):  # the fourth event belongs to the old branch
            with pytest.raises(JournalError, match="it goes back to no event"):
                journal.append(Rewound(to))
        journal._append(dump_event(Rewound(4)))
    capfd.readouterr()
    assert stagec(["runs", "show", "one"]) == 2
    assert "its journal is damaged: it goes back to no event" in capfd.readouterr().err


def test_no_database_takes_a_run_that_was_taken_back(capfd: Shown) -> None:
    pytest.importorskip("dbos", reason="runs in databases need it")
    assert resume("--from", "close") == 0
    assert stagec(["runs", "import", str(RUN), "--database", f"sqlite:///{Path('d').absolute()}"]) == 2
    assert "continued from an earlier place (--from)" in capfd.readouterr().err


def test_a_failed_run_says_how_it_continues(capfd: Shown) -> None:
    assert resume() == 1
    told = "'stagec resume one --from NODE' continues it, and 'stagec runs show one --places' lists the places"
    assert told in capfd.readouterr().err


def test_a_question_is_open_again_on_the_branch_that_goes_on() -> None:
    program, key = load(dump(judged())), "one/work#1/1.1"
    said = Answered("one/work#1/1.0", {"answer": {}})
    events = (Started("one"), said, Answered(key, {"done": True}), Rewound(1), said)
    with pytest.raises(OtherAnswerError):
        find_asked(program, events[:3], key)
    assert find_asked(program, events, key).key == key
