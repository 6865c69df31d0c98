"""`stagec run` with worlds of the user: a program, a Python object, and a scenario that answers for parts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nursery
import pytest

PLAN = Path(__file__).parents[1] / "plan_vectors" / "code-review" / "plan.json"
INPUTS = ("--input", "branch=fix", "--input", "task=Mend it")
PROGRAM = """
import json, sys
def send(**message):
    print(json.dumps(message), flush=True)
for line in sys.stdin:
    told = json.loads(line)
    if told["is"] == "hello":
        send(**{"is": "ready", "protocol": told["protocol"], "answers": ["turn"]})
    elif told["is"] == "turn":
        open("asked", "a").write(told["node"] + "\\n")
        result = RESULTS[told["node"]]
        call = {"id": "1", "tool": told["completion"]["name"], "arguments": result}
        send(key=told["key"], answer={"calls": [call]})
"""
FACTORY = """
class World:
    def __init__(self, program):
        self.names = program.plan.nodes
    def takes(self, effect):
        return type(effect).__name__ == "Turn"
    def answer(self, effect):
        open("asked", "a").write(effect.key + "\\n")
        raise RuntimeError("no model today")
    def close(self):
        open("closed", "w").write("yes")
"""


def _stagec(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    ended = nursery.run(words, folder, nursery.environment())
    return subprocess.CompletedProcess(words, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def _find_results() -> dict[str, object]:
    """Return what each stage hands in on the straight way of the example."""
    scenario = json.loads(PLAN.with_name("straight.scenario.json").read_text())
    return {each["of"]: each["calls"][0]["arguments"] for each in scenario["answers"] if "calls" in each}


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "world.py"
    path.write_text(
        PROGRAM.replace("RESULTS", json.dumps(_find_results()).replace("true", "True").replace("null", "None"))
    )
    return f"{sys.executable} {path}"


def test_a_program_answers_a_whole_run(tmp_path: Path, program: str) -> None:
    first = _stagec(tmp_path, "run", str(PLAN), "--run", "one", *INPUTS, "--world-command", program)
    assert first.returncode == 0
    assert "plan" in (tmp_path / "asked").read_text().split()


def test_a_scenario_answers_for_a_part(tmp_path: Path, program: str) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"conversations": {"plan": [{"complete": _find_results()["plan"]}]}}))
    words = ("run", str(PLAN), *INPUTS, "--world-command", program, "--scenario", str(scenario))
    assert _stagec(tmp_path, *words).returncode == 0
    assert "plan" not in (tmp_path / "asked").read_text().split()


def test_an_object_answers_what_it_takes_and_its_error_leaves_the_run_resumable(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FACTORY)
    first = _stagec(tmp_path, "run", str(PLAN), "--run", "one", *INPUTS, "--world", "mine:World")
    assert first.returncode == 2
    assert "the world 'mine:World' has no answer" in first.stderr
    assert "RuntimeError: no model today" in first.stderr
    assert (tmp_path / "closed").read_text() == "yes"
    again = _stagec(tmp_path, "resume", "one")
    assert again.returncode == 2
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 2
    assert asked[0] == asked[1]


def test_resume_takes_another_world(tmp_path: Path, program: str) -> None:
    (tmp_path / "mine.py").write_text(FACTORY)
    assert _stagec(tmp_path, "run", str(PLAN), "--run", "one", *INPUTS, "--world", "mine:World").returncode == 2
    assert _stagec(tmp_path, "resume", "one", "--world-command", program).returncode == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--world", "nowhere:World"), "the world 'nowhere:World' cannot be imported"),
        (("--world", "json:loads"), "the world 'json:loads' cannot be made"),
        (("--world", "builtins:str"), "the world 'builtins:str' has no method 'answer'"),
        (("--world", "sys:path"), "cannot be called"),
        (("--world-command", "'"), "is not a command line"),
        (("--world-command", ""), "names no program"),
        (("--world-command", "/nothing/there"), "could not be started"),
    ],
)
def test_a_world_that_cannot_be_opened_begins_no_run(tmp_path: Path, options: tuple[str, ...], why: str) -> None:
    found = _stagec(tmp_path, "run", str(PLAN), "--run", "one", *INPUTS, *options)
    assert found.returncode == 2
    assert why in found.stderr
    assert not (tmp_path / ".stagec" / "runs" / "one.journal").exists()
