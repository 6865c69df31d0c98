"""People who answer a run: questions at a terminal, and policies that say what they do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sealed_names import find_file
from terminal import type_at_terminal

from stagec.cli.app import run
from stagec.cli.running.worlds import Answers, People, PeopleSetup
from stagec.core.json import object_of
from stagec.ir.plan.document import Plan
from stagec.runtime.drivers.local.mailbox import Mailbox, MessageWatcher
from stagec.runtime.drivers.messages import name_answer
from stagec.runtime.machine.exchange import Ask, Confirm, Grant, Judge
from stagec.runtime.machine.program import load
from stagec.runtime.world.questions import AskedOfPeople, read_decision

PLAN = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
GRANT = Grant("r/check#2/1.0", "r/check#2", 1, "p", "Delete", "sha", '{"path":"\x1b[31mall"}')
CONFIRM = Confirm("r/check#1/1.0", "The budget is low")
OF_STEPS = [Grant(f"r/check#2/1.{10**16 + at}", "r/check#2", 1, "p", "Delete", "sha", "{}") for at in (1, 2)]
JUDGE = Judge("r/check#1/1.0", "poll:state", {}, {"said": "enough"})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load(PLAN.read_bytes()).plan


def _typing(*lines: str | None) -> Iterator[str | None]:
    yield from lines


def _people(plan: Plan, *lines: str | None, answers: Answers = Answers.ASK) -> People:
    typed, mail = _typing(*lines), MessageWatcher(Mailbox(Path("r.run").absolute()), print)
    return People(plan, PeopleSetup(answers), mail, lambda _seconds, _other: next(typed))


def _decide(plan: Plan, effect: AskedOfPeople, *lines: str | None) -> tuple[bool | None, object]:
    """Return what is decided, and by whom."""
    answer = object_of(_people(plan, *lines).answer(effect))
    find_file(Mailbox(Path("r.run").absolute()), name_answer(effect.key)).unlink()
    return read_decision(effect, answer), answer["by"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_each_call_of_a_step_is_asked_about_and_leaves_no_message(plan: Plan) -> None:
    people = _people(plan, "y\n", "n\n")
    told = [object_of(people.answer(each)) for each in OF_STEPS]
    assert [each["granted"] for each in told] == [True, False]
    assert not Path("r.run.messages").exists()


def test_a_call_of_a_step_waits_for_nobody_elsewhere(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    told = object_of(_people(plan, answers=Answers.WAIT).answer(OF_STEPS[0]))
    assert (told["granted"], told["by"]) == (False, "nobody")
    assert "only a terminal can answer for calls of steps" in capsys.readouterr().err


@pytest.mark.parametrize(("line", "wanted"), [("y\n", True), (" YES \n", True), ("n\n", False), ("no\n", False)])
def test_a_yes_is_a_yes_and_a_no_a_no(line: str, plan: Plan, *, wanted: bool) -> None:
    for effect in (GRANT, CONFIRM, JUDGE):
        assert _decide(plan, effect, line) == (wanted, "terminal")


def test_anything_else_is_asked_again(plan: Plan) -> None:
    assert _decide(plan, GRANT, "\n", "perhaps\n", "y\n") == (True, "terminal")


def test_no_answer_is_a_no(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    assert _decide(plan, GRANT, None) == (False, "nobody")
    assert "no: no answer" in capsys.readouterr().err


def test_a_question_says_who_asks_what_and_what_follows(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    _people(plan, "d\n", "n\n").answer(GRANT)
    told = capsys.readouterr().err
    assert "may stage 'check#2' call the tool 'Delete', which its plan does not allow?" in told
    assert "no: the model learns that the call is denied" in told
    assert "\n  digest of the arguments: sha" in told  # details are lines as they are
    assert "\x1b" not in told


@pytest.mark.parametrize(("answers", "wanted"), [(Answers.ALLOW, True), (Answers.DENY, False)])
def test_a_policy_says_what_it_decides(
    answers: Answers, plan: Plan, capsys: pytest.CaptureFixture[str], *, wanted: bool
) -> None:
    people = _people(plan, answers=answers)
    assert people.answer(GRANT) == {"granted": wanted}
    assert "without asking" in capsys.readouterr().err
    assert not people.takes(JUDGE)


def test_models_are_not_people(plan: Plan) -> None:
    assert not _people(plan).takes(Ask("r/a#1/1.0", "p"))


SCENARIO = {
    "conversations": {
        "write": [{"calls": [{"tool": "Delete", "arguments": {"path": "a"}}]}, {"complete": {"page": "a"}}],
        "check": [{"complete": {"page": "a", "broken": False, "faults": []}}],
    },
    "tools": {"Delete": "deleted"},
}
RUN = ("run", str(PLAN), "--run", "one", "--input", "topic=x", "--scenario", "scenario.json")


def _type_at_terminal(folder: Path, typed: str, *options: str) -> tuple[int, str]:
    """Run at a terminal, and type something when a question is there; return the status and all that was shown."""
    (folder / "scenario.json").write_text(json.dumps(SCENARIO))
    return type_at_terminal(folder, (*RUN, *options), [("[d]etails: ", typed)] if typed else [])


def _list_denials(folder: Path) -> int:
    command = (sys.executable, "-m", "stagec", "runs", "export", "one")
    exported = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    return exported.count('"granted": false')


def test_somebody_at_the_terminal_grants_a_call(tmp_path: Path) -> None:
    status, shown = _type_at_terminal(tmp_path, "y\n")
    assert status == 0, shown
    assert _list_denials(tmp_path) == 0


def test_or_is_too_late(tmp_path: Path) -> None:
    status, shown = _type_at_terminal(tmp_path, "", "--answer-timeout", "0.3")
    assert status == 0, shown
    assert "no: no answer" in shown
    assert _list_denials(tmp_path) == 1


def test_without_a_terminal_the_answer_is_no_and_told(tmp_path: Path) -> None:
    (tmp_path / "scenario.json").write_text(json.dumps(SCENARIO))
    command = (sys.executable, "-m", "stagec", *RUN)
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert ended.returncode == 0
    assert "no, without asking" in ended.stderr
    assert _list_denials(tmp_path) == 1


@pytest.mark.parametrize(
    ("name", "near"), [("read", "; did you mean 'Read'? "), ("Reed", "; did you mean 'Read'? "), ("Nothing", ". ")]
)
def test_nobody_is_asked_about_a_tool_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str, near: str
) -> None:
    """The model learns which tools there are: also where one answer holds for everything, and one says yes."""
    monkeypatch.chdir(tmp_path)
    conversations = {**SCENARIO["conversations"], "write": [{"calls": [{"tool": name}]}, {"complete": {"page": "a"}}]}
    Path("scenario.json").write_text(json.dumps({"conversations": conversations}))
    assert run([*RUN, "--answers", "allow"]) == 0
    assert "without asking" not in capfd.readouterr().err
    run(["runs", "export", "one"])
    (answer,) = [
        each["answer"] for each in json.loads(capfd.readouterr().out)["events"] if "granted" in each.get("answer", {})
    ]
    why = f"there is no tool {name!r}{near}The tools that may be called here are "
    assert (answer["granted"], answer["reason"][: len(why)]) == (False, why)
