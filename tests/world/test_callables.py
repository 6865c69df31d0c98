"""Callables of plans: found in the current folder, called with a copy, answering with JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.runtime.machine.exchange import Hook, Run, Shell, Wait
from stagec.runtime.world import composed
from stagec.runtime.world.local_world import ClosedWorld, LocalWorld, Permissions

MODULE = """
def echo(given):
    given["ctx"]["seen"] = True
    print("on the way")
    return given

def nothing(given):
    return None

def wrong(given):
    return {1, 2}

def endless(given):
    found = []
    found.append(found)
    return found

def infinite(given):
    return float("inf")

def fails(given):
    raise KeyError("task")

def leaves(given):
    raise SystemExit(0)

def tuples(given):
    return ("a", {"b": (1,)})

class Review:
    @staticmethod
    def gate(given):
        return "defer"

text = "no function"
"""


def call(name: str, given: dict[str, Json]) -> dict[str, Json]:
    return composed.call(name, given, Redactor())


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = "hooks_of_a_plan"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_hooks.py").write_text("import does_not_exist\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield name
    assert sys.path == before
    sys.modules.pop(name, None)


def test_a_callable_answers_and_changes_nothing(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    given: dict[str, Json] = {"ctx": {"task": "x"}}
    changed = {"task": "x", "seen": True}
    assert call(f"{module}:echo", given) == {"value": {"ctx": changed}, "ctx": changed}
    assert given == {"ctx": {"task": "x"}}
    assert capsys.readouterr() == ("", "on the way\n")


def test_a_callable_may_stand_in_a_class(module: str) -> None:
    assert call(f"{module}:Review.gate", {}) == {"value": "defer"}


def test_an_answer_is_what_json_makes_of_it(module: str) -> None:
    assert call(f"{module}:tuples", {}) == {"value": ["a", {"b": [1]}]}
    assert call(f"{module}:nothing", {}) == {"value": None}


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("wrong", "TypeError: "),
        ("endless", "ValueError: "),
        ("infinite", "it left no JSON: Infinity, "),
        ("fails", "KeyError: 'task'"),
        ("leaves", "SystemExit: 0"),
    ],
)
def test_a_callable_that_fails_is_an_answer(
    module: str, name: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = call(f"{module}:{name}", {})
    assert [*told] == ["error"]
    assert str(told["error"]).startswith(error)
    assert capsys.readouterr().err.startswith(f"stagec: note: the hook '{module}:{name}' failed: {error}")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("hooks_of_a_plan:text", "cannot be called"),
        ("hooks_of_a_plan:absent", "cannot be imported: AttributeError: "),
        ("hooks_of_a_plan", "cannot be imported: AttributeError: "),
        ("no_such_module:x", "cannot be imported: ModuleNotFoundError: "),
        ("broken_hooks:x", "cannot be imported: ModuleNotFoundError: "),
        (":x", "cannot be imported: ValueError: "),
        ("..:x", "cannot be imported: TypeError: "),
    ],
)
def test_what_goes_wrong_is_a_failure_of_the_world(name: str, told: str) -> None:
    with pytest.raises(Failure) as raised:
        call(name, {})
    assert str(raised.value).startswith(f"the hook {name!r} {told}")


def test_this_machine_calls_them_when_it_may(module: str) -> None:
    effect = Hook("r/plan#1/1.0", f"{module}:Review.gate", "gate")
    assert LocalWorld(Permissions(calls=True)).answer(effect) == {"value": "defer"}
    with pytest.raises(Failure, match="may not be called: --allow-hooks allows it"):
        LocalWorld(Permissions()).answer(effect)


def test_this_machine_runs_commands_and_waits() -> None:
    world = LocalWorld(Permissions())
    assert world.answer(Wait("r/a#1/1.0", 1)) == {}
    assert world.answer(Shell("r/a#1/1.0", "echo $STAGEC_RUN_ID $STAGEC_IDEMPOTENCY_KEY")) == {
        "exit": 0,
        "stdout": "r r/a#1/1.0\n",
        "stderr": "",
    }
    assert world.answer(Run("r/a#1/1.0", ("echo", "$HOME"), 60_000)) == {"exit": 0, "stdout": "$HOME\n", "stderr": ""}


def test_in_a_closed_world_nothing_happens(module: str) -> None:
    world = ClosedWorld()
    assert world.answer(Wait("r/a#1/1.0", 10**9)) == {}
    for effect, member in ((Shell("k", "ls"), "'ls' to 'commands'"), (Hook("k", "a:b", "gate"), "'a:b' to 'hooks'")):
        with pytest.raises(Failure, match=member):
            world.answer(effect)
