"""`stagec conformance`: programs that run plans are judged by vectors, stagec's own machine like any other."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stagec.cli.app import run
from stagec.cli.commands.conformance import (
    PROFILES,
    SECTIONS,
    RunnerProcess,
    ServedMachine,
    SilentError,
    VectorResult,
    judge,
    read_vectors,
    report,
)

Shown = pytest.CaptureFixture[str]
Program = Callable[[str], str]


class Altered:
    """stagec's own machine, with answers that something alters."""

    def __init__(self, alter: Callable[[Any], Mapping[str, Any]]) -> None:
        self._machine, self._alter = ServedMachine(), alter

    def ask(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._alter(self._machine.reply(json.loads(json.dumps(message))))


def judged(alter: Callable[[Any], Mapping[str, Any]], *names: str) -> list[VectorResult]:
    vectors = [each for each in read_vectors() if not names or each.name in names]
    return [*judge(Altered(alter).ask, vectors)]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Write a program that answers the messages with what is returned for each."""

    def write(reply: str) -> str:
        path = tmp_path / "runner.py"
        path.write_text(f"import json, sys\nfor line in sys.stdin:\n    m = json.loads(line)\n{reply}\n")
        return f"{sys.executable} -IS {path}"

    return write


READY = """
    r = {"is": "ready", "protocol": "stagec.conformance/1", "runner": "toy", "profiles": ["stages"]}
    if m["is"] == "hello": print(json.dumps(r), flush=True)
"""


def test_the_machine_of_stagec_conforms() -> None:
    found = judged(lambda told: told)
    assert [each for each in found if each.difference is not None] == []
    assert {each.vector.profile for each in found} == {*PROFILES}
    assert {section for each in found for section in each.vector.sections} == {*SECTIONS}


def test_a_difference_names_the_event_the_place_and_both_values() -> None:
    def alter(told: Any) -> Any:
        for request in told.get("requests", ()):
            if request["is"] == "wait":
                request["milliseconds"] += 1
        return told

    (found,) = judged(alter, "scopes/later")
    assert found.difference is not None
    assert re.fullmatch(r"event \d+: /requests/0/milliseconds is \d+, expected \d+", found.difference)


def test_the_report_counts_by_section_and_marks_those_that_fail() -> None:
    found = judged(lambda told: {**told, "outcome": None})
    lines = [*report("toy", ("registry",), found)]
    assert next(line for line in lines if "§ 2.4" in line) == "  § 2.4   Soundness" + " " * 50 + " 20 of 20"
    assert next(line for line in lines if "§ 3.3" in line).startswith("! § 3.3")
    assert 'issue-solver/refused: event 1: /outcome is null, expected {"ended":"refused","reason":"inputs"}' in lines


def test_files_that_must_be_refused_are_not_accepted_from_a_reader_that_refuses_nothing() -> None:
    files = [each.name for each in read_vectors() if each.steps is None and not each.accepted]
    found = judged(lambda told: {"is": "loaded"} if told["is"] == "refused" else told, *files[::8])
    assert {each.difference for each in found} == {"the file is not refused"}


def test_an_unexpected_and_a_missing_member_are_differences() -> None:
    more = judged(
        lambda told: {**told, "state": {**told["state"], "more": 1}} if "state" in told else told, "jumps/limit"
    )
    less = judged(lambda told: {name: each for name, each in told.items() if name != "requests"}, "jumps/limit")
    assert more[0].difference == "event 1: /state/more is unexpected"
    assert str(less[0].difference).startswith("event 1: /requests is null, expected [")


def test_the_sections_are_those_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "plan-format.md").read_text(encoding="utf-8")
    headings = dict(re.findall(r"^##+ (\d[\d.]*?)\.? (.+)$", page, re.MULTILINE))
    assert {section: headings[section] for section in SECTIONS} == SECTIONS


def test_a_program_is_judged_by_the_vectors_of_its_profiles(program: Program, capfd: Shown) -> None:
    command = program(READY + '    else: print(json.dumps({"is": "refused", "why": "too long"}), flush=True)')
    assert run(["conformance", command]) == 1
    shown = capfd.readouterr().out
    assert shown.startswith("toy: 'stages'\n")
    assert "stages/well: the plan is refused: too long\n" in shown
    assert "words/" not in shown


def test_a_program_that_ends_is_started_again_for_the_next_vector(program: Program) -> None:
    with closing(RunnerProcess(tuple(program(READY + "    else: break").split()))) as conversation:
        found = [*judge(conversation.ask, [each for each in read_vectors() if each.profile == "stages"][:2])]
    assert [each.difference for each in found] == ["it has ended", "it has ended"]


def test_a_program_that_says_nothing_is_given_up(program: Program) -> None:
    conversation = RunnerProcess(tuple(program(READY).split()), patience=0.3)
    with pytest.raises(SilentError, match=r"it gave no answer in 0\.3 s"):
        conversation.ask({"is": "plan", "file": ""})


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["/nowhere/runner"], "'/nowhere/runner' cannot be started: "),
        (["true"], "'true' cannot be judged: it has ended"),
        (["echo {}"], "'echo' cannot be judged: its first line is not "),
        (["'"], "is no command line: No closing quotation"),
        ([" "], "the program is empty"),
        (["x", "--serve"], "--serve takes no program and no profile"),
    ],
)
def test_what_cannot_be_judged_is_refused(words: list[str], why: str, capfd: Shown) -> None:
    assert run(["conformance", *words]) == 2
    assert why in capfd.readouterr().err


def test_a_profile_that_the_program_lacks_is_refused(program: Program, capfd: Shown) -> None:
    assert run(["conformance", program(READY), "--profile", "registry"]) == 2
    assert "does not have the profile 'registry': it has 'stages'" in capfd.readouterr().err


def test_the_machine_of_stagec_speaks_the_protocol(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    said = b'{"is": "hello"}\n{"is": "plan", "file": ""}\n{"is": "end"}\n{"is": "hello"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(said)))
    assert run(["conformance", "--serve"]) == 0
    ready, refused = map(json.loads, capfd.readouterr().out.splitlines())
    assert (ready["is"], ready["protocol"], ready["profiles"]) == ("ready", "stagec.conformance/1", [*PROFILES])
    assert refused == {"is": "refused", "why": "it does not have the frame of a plan"}
