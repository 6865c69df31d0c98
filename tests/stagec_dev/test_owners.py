"""Configurations, agents and skills are compared with what a program does; here a script is the program."""

import sys
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.__main__ import main
from stagec_dev.claude_files import LOADED


@pytest.mark.parametrize(("status", "agreeing"), [(0, 0), (1, 1)])
def test_a_difference_fails(status: int, agreeing: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "node_modules" / ".bin" / "codex"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nexit {status}\n", encoding="utf-8")
    program.chmod(0o755)
    assert main(["owners", "codex", "--programs", str(tmp_path), "--mutants", "1"]) == 1 - agreeing
    out = capsys.readouterr().out
    assert f"{agreeing} of 1 files are judged as @openai/codex@0.171.0 judges them" in out
    assert ("'approval_policy' must be 'on-failure'" in out) is not bool(agreeing)


@pytest.mark.parametrize(("said", "agreeing"), [("✖ The following skills failed to load:", 1), ("", 0)])
def test_a_program_may_end_well_without_the_file(
    said: str, agreeing: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "node_modules" / ".bin" / "copilot"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{said}'\n", encoding="utf-8")
    program.chmod(0o755)
    words = ["owners", "copilot-skill", "--programs", str(tmp_path), "--mutants", "1", "--from", "1"]
    assert main(words) == 1 - agreeing
    out = capsys.readouterr().out
    assert f"{agreeing} of 1 files are judged as @github/copilot@1.0.102 judges them" in out
    assert ("Copilot does not load the skill: 'name' must be a text" in out) is not bool(agreeing)


CLAUDE = """#!{python}
import json, os, sys, urllib.request
from pathlib import Path


def ask(system, text):
    told = {{"system": system, "messages": [{{"role": "user", "content": text}}], "tools": [{{"name": "Read"}}]}}
    told["output_config"] = {{"effort": {effort!r}}}
    address = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true"
    lines = urllib.request.urlopen(urllib.request.Request(address, json.dumps(told).encode())).read().decode()
    return [json.loads(line[6:]) for line in lines.split("\\n") if line.startswith("data: ")]


names = [each.stem if each.is_file() else each.name for each in Path(".claude").glob("*/*")]
print(json.dumps({{"type": "system", "subtype": "init", "tools": ["Read"], "agents": names, "skills": {skills},
                  "slash_commands": names}}))
assert json.loads(Path(os.environ["HOME"], ".claude/settings.json").read_text()) == {{"disableAllHooks": True}}
for each in ask("", sys.argv[2]):
    if each["type"] == "content_block_start" and each["content_block"]["type"] == "tool_use":
        assert ask("You are the agent " + each["content_block"]["id"] + ".", "Go.")[-1]["type"] == "message_stop"
"""


def judge(root: Path, owner: str, head: Any, effort: str = "medium", skills: str = "names") -> int:
    program = root / "node_modules" / ".bin" / "claude"
    program.parent.mkdir(parents=True)
    program.write_text(CLAUDE.format(python=sys.executable, effort=effort, skills=skills), encoding="utf-8")
    program.chmod(0o755)
    index = [*LOADED[owner].heads()].index(head)
    return main(["owners", owner, "--programs", str(root), "--mutants", "1", "--from", str(index)])


@pytest.mark.parametrize(
    ("head", "effort", "told"),
    [
        ({"effort": "x"}, "medium", "1 of 1 files"),
        ({"effort": "x"}, "high", "stagec ['its effort is ignored'], claude []"),
        ({"effort": 1.5}, "medium", "stagec [], claude ['its effort is ignored']"),
        ({"description": []}, "medium", "stagec ['is not loaded'], claude []"),
        ({"tools": ["Nope"]}, "medium", "stagec ['has no tools'], claude []"),
    ],
)
def test_agents_are_compared_with_what_a_session_shows(
    head: Any, effort: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(tmp_path, "agent", head, effort) == int("1 of 1" not in told)
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("head", "skills", "told"),
    [
        ({"model": "x"}, "names", "1 of 1 files"),
        ({"model": "x"}, "[]", "stagec [], claude ['has no description for the model']"),
        ({"user-invocable": 1.5}, "names", "stagec ['is not shown to users'], claude []"),
    ],
)
def test_skills_are_compared_with_what_a_session_lists(
    head: Any, skills: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(tmp_path, "skill", head, skills=skills) == int("1 of 1" not in told)
    assert told in capsys.readouterr().out


def test_a_program_that_begins_no_session_is_no_agreement(tmp_path: Path) -> None:
    program = tmp_path / "node_modules" / ".bin" / "claude"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho no >&2\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(RuntimeError, match="did not start a session: no"):
        main(["owners", "skill", "--programs", str(tmp_path), "--mutants", "1"])
