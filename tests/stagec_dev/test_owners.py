"""Configurations, agents and skills are compared with what a program does; here a script is the program."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.__main__ import main
from stagec_dev.owners import claude_files
from stagec_dev.owners.claude_files import LOADED
from stagec_dev.owners.claude_session import ClaudeSession
from stagec_dev.owners.claude_settings import measure
from stagec_dev.owners.setting_rows import FACTS, make_rows, put_rows, read_record, spell_facts


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


Path(sys.argv[sys.argv.index("--debug-file") + 1]).touch()
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


def test_a_session_of_too_many_files_is_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded: list[str] = []

    def run_session(program: Path, root: Path, _home: Path, _agents: object) -> ClaudeSession:
        names = [each.parent.name for each in root.glob(".claude/skills/*/SKILL.md")]
        if len(names) > 2:
            raise subprocess.TimeoutExpired([str(program)], 1)
        loaded.extend(names)
        every = frozenset(names)
        return ClaudeSession(frozenset(), frozenset(), every, every, {}, {}, ())

    monkeypatch.setattr(claude_files, "run_session", run_session)
    heads = [{"model": "x"}] * 7
    assert [*claude_files.compare(tmp_path, LOADED["skill"], heads, workers=2)] == []
    assert sorted(loaded) == [f"m{index}" for index in range(7)]
    assert "1 of 1" in capsys.readouterr().err


SETTINGS = """#!{python}
import json, sys
from pathlib import Path


def judge(given):
    if not isinstance(given.get("loud", True), bool):
        yield "loud", "Expected boolean, but received something"
    for index, each in enumerate(given["names"] if isinstance(given.get("names"), list) else ()):
        if not isinstance(each, str):
            yield f"names.{{index}}", "Expected string, but received something"
    if not isinstance(given.get("names", []), list):
        yield "names", "Expected array, but received something"
    if "box" in given and not isinstance(given["box"], dict):
        yield "box", "Expected object, but received something"
    elif "box" in given and given["box"].get("kind") not in ("a", "b"):
        yield "box.kind", 'Invalid value. Expected one of: "a", "b"'
    if "mode" in given and given["mode"] not in ("hold", "go"):
        yield "mode", '"mode" must be one of "hold", "go"; received something. This value was ignored.'


tools, lines = {{"WebSearch", "WebFetch"}}, []
for file in sorted(Path(".claude").glob("*.json")):
    given = json.loads(file.read_text())
    told = [*judge(given)]
    where = f"x [ERROR] Invalid setting skipped without dialog (y): {{file.absolute()}}"
    lines += [f"{{where}}: {{path}}: {{said}}" for path, said in told]
    if all("ignored" in each for _, each in told):
        tools -= {{*given["permissions"]["deny"]}}
Path(sys.argv[sys.argv.index("--debug-file") + 1]).write_text("\\n".join(lines))
begun = {{"type": "system", "subtype": "init", "tools": [*tools], "agents": [], "skills": [], "slash_commands": []}}
print(json.dumps(begun))
"""


def test_rows_of_settings_follow_from_what_sessions_say(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(SETTINGS.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    keys = ("loud", "names", "box", "mode", "free")
    rows = [[key, "map" if key == "free" else "text", "nothing", "user", "d"] for key in keys]
    record = measure(program, rows, "x@1.2.3", workers=4)
    assert sorted(make_rows(record, rows)) == [
        ["box", "map!kind", "file", "user", "m"],
        ["box.kind", "'a' | 'b'", "file", "user", "m"],
        ["free", "map", "nothing", "user", "n"],
        ["loud", "boolean", "file", "user", "m"],
        ["mode", "'hold' | 'go'", "nothing", "user", "m"],
        ["names", "texts", "file", "user", "m"],
    ]


def test_the_rows_about_settings_are_those_that_were_measured() -> None:
    text, record = (FACTS / "claude-code.json").read_text(encoding="utf-8"), read_record()
    data = json.loads(text)
    rows = data["values"]["settings"]
    measured = [each for each in rows if record.refused.get(each[0])]
    assert len(measured) > 150
    for each in measured:
        each[1:3] = [each[1] if each[1][0] == "@" else "text", "nothing"]  # which list has the words is not measured
    data["values"]["settings"] = rows[::-1]
    data["events"] = []
    assert put_rows(json.dumps(data), record) == text


@pytest.mark.parametrize("name", sorted(each.name for each in FACTS.glob("*.json")))
def test_data_about_tools_are_written_a_row_a_line(name: str) -> None:
    text = (FACTS / name).read_text(encoding="utf-8")
    assert spell_facts(json.loads(text)) == text
