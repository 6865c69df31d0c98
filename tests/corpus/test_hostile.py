"""Scripts and inputs that once made stagec lose, hide or grant something: each is run as it is, at the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nursery
import pytest
from world.models.wire import Event, Said, serve

from stagec.cli.app import run

needs_corpus = pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
CASES = Path(os.environ.get("STAGEC_CORPUS", "")) / "hostile"
REGISTRIES = Path(__file__).parents[2] / "registries"
pytestmark = needs_corpus


class Players:
    """Models that answer as a script says: by the mark in their prompt, one turn after the other.

    What takes some seconds in the script, so that a person can answer meanwhile, begins when the person has answered.
    """

    def __init__(self, script: dict[str, list[Any]], person: Callable[[], None]) -> None:
        self._script, self._person = script, person

    def answer(self, asked: Event) -> Said:
        messages = asked["messages"]
        text = json.dumps(messages)
        (mark,) = (each for each in self._script if each in text)
        turn = self._script[mark][sum(each["role"] == "assistant" for each in messages)]
        if turn.get("sleep", 0) > 1:
            self._person()
        calls = [(f"c{at}", each["name"], json.dumps(each["args"])) for at, each in enumerate(turn["calls"])]
        return Said("", calls)


def call(folder: Path, *words: str, **more: str) -> tuple[int, str]:
    ended = nursery.run(words, folder, nursery.environment(**more))
    return ended.returncode, (ended.stdout + ended.stderr).decode()


@pytest.mark.parametrize("answers_first", [True, False], ids=["after an answer of the user", "with a private umask"])
def test_a_model_that_writes_answers_to_its_own_questions_is_granted_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, answers_first: bool
) -> None:
    shutil.copytree(CASES / "self-grant", tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path.parent / f"{tmp_path.name}-state"))
    runs, answered = ("--runs", "runs"), list[int]()
    assert call(tmp_path, "compile", ".", "-o", "p.json")[0] == 0

    def answer_the_first() -> None:
        until = time.monotonic() + 20
        while answers_first and answered[-1:] != [0] and time.monotonic() < until:
            answered.append(run(["runs", "answer", "g1", "g1/a#1/1.1", "no", "--runs", str(tmp_path / "runs")]))
            time.sleep(0.05)

    text = (tmp_path / "s.json").read_text(encoding="utf-8")
    if answers_first:  # people are asked about a tool only if there is one
        text = text.replace('"Harmless", "args": {}', '"Glob", "args": {"pattern": "*"}')
    script = json.loads(text)
    timeout = "3" if answers_first else "0.5"
    options = ("--run", "g1", *runs, "--tools-in", ".", "--answers", "wait", "--answer-timeout", timeout)
    old = os.umask(0o022 if answers_first else 0o077)
    try:
        with serve(answer=Players(script, answer_the_first).answer) as wire:
            keys = {"OPENAI_BASE_URL": f"{wire.url}/v1", "OPENAI_API_KEY": "sk-none"}
            status, said = call(tmp_path, "run", "p.json", "--model", "openai:m", *options, **keys)
    finally:
        os.umask(old)
    assert (status, answered[-1:]) == (0, [0] if answers_first else []), said
    assert not (tmp_path / "BASHRAN").exists()
    assert "\n  yes: answered" not in said
    exported = call(tmp_path, "runs", "export", "g1", *runs)[1]
    assert [exported.count(f'"granted": {each}') for each in ("true", "false")] == [0, 2], exported
    assert exported.count("belongs to the runs of stagec, which tools may not use") >= 4


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a `stagec` for the scripts of cases, which make their folders in that of the test."""
    stagec = tmp_path / "stagec"
    stagec.write_text(f'#!/bin/sh\nexec {sys.executable} -m stagec "$@"\n')
    stagec.chmod(0o755)
    given = {"STAGEC": str(stagec), "REGISTRIES": str(REGISTRIES), "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    for name, each in {**given, "PYTHONPATH": str(nursery.COMPILER), "STAGEC_NO_CACHE": "1"}.items():
        monkeypatch.setenv(name, each)
    return stagec


def execute(case: str) -> str:
    ended = subprocess.run(
        ["bash", str(CASES / case / "repro.sh")], capture_output=True, text=True, check=False, timeout=300
    )
    return ended.stdout + ended.stderr


@pytest.mark.needs("bash", "git", "sed")
@pytest.mark.usefixtures("script")
def test_a_clone_without_blobs_is_an_error_and_no_empty_revision() -> None:
    whole, partial = execute("partial-clone").split("=== r3")
    assert [line for line in whole.splitlines() if " exit " in line] == [
        "review exit 1",
        "breaking exit 1",
        "diff exit 1",
    ]
    assert [line for line in partial.splitlines() if " exit " in line and "ls-tree" not in line] == [
        "review exit 2",
        "breaking exit 2",
        "diff exit 2",
    ]
    assert "'git ls-tree' failed with status 128" in partial


@pytest.mark.needs("bash", "git", "ssh-keygen")
@pytest.mark.usefixtures("script")
def test_a_statement_names_no_commit_that_lacks_a_source() -> None:
    told = execute("sign-commit")
    assert "sign exit 0" in told
    assert "the statement names no commit" in told
    assert '"commit"' not in told


def test_a_configuration_does_not_name_a_device_as_prices(tmp_path: Path) -> None:
    shutil.copytree(CASES / "self-grant", tmp_path, dirs_exist_ok=True)
    assert call(tmp_path, "compile", ".", "-o", "p.json")[0] == 0
    shutil.copy(CASES / "prices-outside" / "stagec.toml", tmp_path)
    for command in (("bounds", "."), ("config", "show"), ("run", "p.json", "--scenario", "s.json", "--max-cost", "1")):
        status, said = call(tmp_path, *command)
        assert (status, "names '/dev/zero', which leads out of the project" in said) == (2, True), (command, said)
