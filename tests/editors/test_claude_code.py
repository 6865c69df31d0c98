"""The plugin for Claude Code: stagec finds nothing wrong in it, and its hook tells what concerns a written file."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from stagec.cli.agent_tools.tools import make_tools
from stagec.cli.app import run, stagec
from stagec.core.version import __version__

TOP = Path(__file__).parents[2]
PLUGIN = TOP / "compiler" / "editors" / "claude-code"
SKILL = (PLUGIN / "skills" / "write-flows" / "SKILL.md").read_text(encoding="utf-8")


def test_stagec_finds_no_mistake_in_the_plugin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(PLUGIN, tmp_path / "plugin")
    status = run(["validate", str(tmp_path / "plugin"), "--select", "ALL", "--fail-on", "warning", "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert status == 0, told
    assert told["summary"]["files"] >= 4
    assert [each["code"] for each in told["diagnostics"]] == ["STG507"]  # the server is this very stagec


def test_the_plugin_has_the_version_of_stagec() -> None:
    assert json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())["version"] == __version__


def test_the_skill_names_tools_and_commands_that_are_there(tmp_path: Path) -> None:
    tools = {each.name for each in make_tools(tmp_path, lambda _words: 0)}
    named = set(re.findall(r"\b[Cc]all(?:s)? (?:the tool )?`(\w+)`|, call `(\w+)`", SKILL))
    assert {name for pair in named for name in pair if name} <= tools
    assert len(named) >= 5
    for line in re.findall(r"`stagec ([^`]+)`", SKILL):
        words = shlex.split(line)
        command = stagec.get_command(click.Context(stagec), words[0])
        assert command is not None, line
        options = {name for each in command.params for name in each.opts}
        assert {word for word in words if word.startswith("--")} <= {*options, "--help"}, line


@pytest.fixture
def tell(tmp_path: Path) -> Callable[[Path, str], subprocess.CompletedProcess[str]]:
    """Return what starts the hook after a file of a project was written; the project has an environment with stagec."""

    def start(folder: Path, file: str) -> subprocess.CompletedProcess[str]:
        program = folder / ".venv" / "bin" / "stagec"
        program.parent.mkdir(parents=True)
        path = shlex.quote(str(TOP / "compiler"))
        program.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {shlex.quote(sys.executable)} -m stagec "$@"\n')
        program.chmod(0o755)
        event = {"tool_name": "Edit", "cwd": str(folder), "tool_input": {"file_path": str(folder / file)}}
        return subprocess.run(
            [sys.executable, str(PLUGIN / "scripts" / "check_written.py")],
            input=json.dumps(event),
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": "/nowhere:/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(folder)},
        )

    return start


@pytest.mark.parametrize(
    ("file", "codes"),
    [
        ("schemas/question.schema.json", ["STG212"]),
        # one error is in the file, and of another one a second place is
        ("steps_registry.json", ["STG212", "STG204", "STG201", "STG136"]),
        ("prompts/system.md", []),
        ("notes.txt", []),
    ],
)
def test_the_hook_tells_the_errors_that_concern_a_file(
    tell: Callable[[Path, str], subprocess.CompletedProcess[str]], tmp_path: Path, file: str, codes: list[str]
) -> None:
    shutil.copytree(TOP / "registries" / "broken-on-purpose", tmp_path / "x")
    ended = tell(tmp_path / "x", file)
    assert re.findall(r": (STG\d+) ", ended.stderr) == codes
    assert ended.returncode == (2 if codes else 0), ended.stderr


def test_the_hook_blocks_nobody_where_stagec_cannot_check(
    tell: Callable[[Path, str], subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "stagec.toml").write_text("roots = 3\n")
    ended = tell(tmp_path, "pipeline.yaml")
    assert ended.returncode == 1
    assert "stagec cannot check the project" in ended.stderr
