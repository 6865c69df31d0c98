"""A yes or no about a call counts, also when the run continues with another plan before the answer arrives or after."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from stagec.cli.app import run
from stagec.core.json import Json
from stagec.runtime.drivers.local import JournalError, create, read_journal
from stagec.runtime.drivers.local.mailbox import list_waiting, send_answer
from stagec.runtime.drivers.replay import advance_through, replay_twice
from stagec.runtime.machine import Answered, Started, State, load
from stagec.runtime.machine.exchange import WITH_PLACES

STAGE = {
    "id": "work",
    "name": "Work",
    "completionTool": "hand_in",
    "completionSchema": {"type": "object"},
    "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
    "turnCap": 5,
    "resolutionPolicy": "fail",
}
KEY, ANEW = "one/work#1/1.1", "one/work#1/1.2"
ONE = Path("runs/one.run")
PLANS: Mapping[str, Json] = {"old": ["Read"], "allows": ["Read", "Deploy"], "forbids": []}


def compile_plan(name: str, allowed: Json, description: str = "Deploys.") -> None:
    for stage, tools in (("work", allowed), ("later", ["Deploy"])):
        told = json.dumps({**STAGE, "id": stage, "allowedTools": tools})
        Path(f"{stage}.md").write_text(f"---\n{told}\n---\nWork. Call hand_in.\n")
    tool = {"name": "Deploy", "description": description, "effects": []}
    Path("tools.yaml").write_text(json.dumps({"bundled": ["Read"], "discovered": [tool]}))
    assert run(["compile", "pipeline.yaml", "-o", f"{name}.json"]) == 0


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pipeline.yaml").write_text("entry: work\ntools: tools.yaml\nnext: {work: later}\n")
    for name, allowed in PLANS.items():
        compile_plan(name, allowed)
    turns: Any = [{"calls": [{"tool": "Deploy", "arguments": {}}]}, {"complete": {}}]
    Path("s.json").write_text(
        json.dumps(
            {"conversations": {"work": turns, "later": [{"complete": {}}]}, "tools": {"Deploy": {"value": "deployed"}}}
        )
    )
    return tmp_path


def begin(machine: int | None = None) -> None:
    """Begin a run that asks whether `Deploy` may be called."""
    data = Path("old.json").read_bytes()
    ONE.parent.mkdir(mode=0o700)
    started = Started("one") if machine is None else Started("one", machine=machine)
    with closing(create(ONE, data, load(data).digest)) as journal:
        journal.append(started)
        journal.append(Answered("one/work#1/1.0", {"calls": [{"id": "c", "tool": "Deploy", "arguments": {}}]}))


def resume(plan: str, *options: str) -> int:
    words = ["resume", "one", "--runs", "runs", "--plan", f"{plan}.json", "--scenario", "s.json", *options]
    return run([*words, "--answers", "wait", "--answer-timeout", "10"])


def answer_later(key: str, *, yes: bool) -> Thread:
    """Answer a question as soon as a process executes the run."""

    def answer() -> None:
        for _ in range(500):
            with suppress(JournalError):
                if any(each.question.key == key and each.is_executed for each in list_waiting(ONE)):
                    send_answer(ONE, key, yes=yes, by="terminal")
                    return
            time.sleep(0.01)

    thread = Thread(target=answer)
    thread.start()
    return thread


def decisions() -> list[tuple[str, Any]]:
    """Return what was decided about the call, by whom, in a run that replays."""
    history = read_journal(ONE)
    assert isinstance(replay_twice(load(history.plan), load(history.plan), history), State)
    traces = (each for _, step in advance_through(load(history.plan), history.events) for each in step.trace)
    return [(each.name, each.facts["source"]) for each in traces if each.name in {"ToolCallApproved", "ToolCallDenied"}]


def was_called() -> bool:
    events = read_journal(ONE).events
    return any(isinstance(each, Answered) and each.answer == {"value": "deployed"} for each in events)


@pytest.mark.parametrize("machine", [None, WITH_PLACES, 1])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("plan", ["allows", "forbids"])
@pytest.mark.parametrize("yes", [True, False])
def test_an_answer_counts_whatever_the_other_plan_says(*, yes: bool, plan: str, when: str, machine: int | None) -> None:
    begin(machine)
    if when == "before":
        send_answer(ONE, KEY, yes=yes, by="terminal")
        assert resume(plan) == 0
    else:
        thread = answer_later(KEY, yes=yes)
        assert resume(plan) == 0
        thread.join()
    assert decisions() == [("ToolCallApproved" if yes else "ToolCallDenied", "sm-grant-token")]
    assert was_called() is yes


@pytest.mark.parametrize("allowed", [["Read", "Deploy"], ["Read"]])
@pytest.mark.parametrize("yes", [True, False])
def test_a_question_about_a_tool_that_has_changed_is_asked_anew(
    capfd: pytest.CaptureFixture[str], *, yes: bool, allowed: Json
) -> None:
    compile_plan("other", allowed, "Deploys, and tells everybody.")
    begin()
    send_answer(ONE, KEY, yes=not yes, by="page")
    capfd.readouterr()
    thread = answer_later(ANEW, yes=yes)
    assert resume("other") == 0
    thread.join()
    assert decisions() == [("ToolCallApproved" if yes else "ToolCallDenied", "sm-grant-token")]
    told = capfd.readouterr().err
    assert f"the answer of page to '{KEY}' does not count: the question is asked no more" in told
    assert ("which its plan allows since it was changed" in told) is (allowed != ["Read"])


def test_a_question_that_stays_is_told_in_the_words_of_the_new_plan(capfd: pytest.CaptureFixture[str]) -> None:
    begin()
    send_answer(ONE, KEY, yes=False, by="page")
    capfd.readouterr()
    assert resume("allows") == 0
    assert "call the tool 'Deploy', which its plan allows since it was changed?" in capfd.readouterr().err
