"""Where there is nothing to read, stagec says what lies there, and each command that it names goes on."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from stagec import languages as frontends
from stagec.cli.app import run
from stagec.cli.unfound import NAMES
from stagec.core.shelf import members
from stagec.languages import FrontEnd

Shown = pytest.CaptureFixture[str]
AGENT = "---\nname: reviewer\ndescription: Reviews.\n---\nReview it.\n"
REGISTRY = '{"agentId": "a", "version": "1.0.0", "c1": "steps", "entryStep": "x", "steps": {}}'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(file: str, text: str = "") -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(text, encoding="utf-8")


def _hints(capfd: Shown, *arguments: str) -> list[str]:
    assert run(list(arguments or ("validate",))) == 3
    shown = capfd.readouterr()
    assert shown.out == ""
    first, *others = shown.err.splitlines()
    assert first.startswith("stagec: error: nothing to ")
    assert all(each.startswith("stagec: help: ") for each in others)
    told = [each.removeprefix("stagec: help: ") for each in others]
    assert told[0].startswith("stagec reads 'steps_registry.json', ")
    assert "'.agent/workflow.json'" in told[0]
    assert told[-1] == "'stagec init DIR' makes a new project"
    return told[1:-1]


@pytest.mark.parametrize(
    ("file", "known"),
    [
        ("steps_registry.yaml", "steps_registry.json"),
        ("step_registry.json", "steps_registry.json"),
        ("Steps-Registry.json", "steps_registry.json"),
        ("a/b/pipelines.yaml", "pipeline.yaml"),
        ("pipeline.toml", "pipeline.yaml"),
        ("tool.yaml", "tools.yaml"),
        ("mcp.json", ".mcp.json"),
    ],
)
def test_a_file_with_nearly_a_known_name_is_named(file: str, known: str, capfd: Shown) -> None:
    _write(file)
    assert _hints(capfd) == [f"'{file}' is not read: {NAMES[known]} is called '{known}'"]


@pytest.mark.parametrize(
    ("made", "file"),
    [
        ({".gitignore": "agents/\n"}, "agents/x/steps_registry.json"),
        ({"stagec.toml": 'exclude = ["agents"]\n'}, "agents/x/steps_registry.json"),
        ({"stagec.toml": 'include = ["other"]\n'}, "agents/pipeline.yaml"),
    ],
)
def test_a_file_that_is_left_out_is_named(made: dict[str, str], file: str, capfd: Shown) -> None:
    _write(file, REGISTRY)
    for name, text in made.items():
        _write(name, text)
    told = _hints(capfd)
    assert told[0] == f"'{file}' is left out by a .gitignore or the configuration"
    (command,) = re.findall(r"'(stagec validate .*?)' checks", told[1])
    assert run(shlex.split(command)[1:]) == 1  # it is read, and its mistakes are reported


def test_agent_files_are_counted_by_folder_and_can_be_converted(capfd: Shown) -> None:
    _write("team/agents/a.md", AGENT)
    _write("team/agents/b.md", AGENT.replace("reviewer", "writer"))
    _write("docs/README.md", "# No agent\n")
    (told,) = _hints(capfd)
    assert told.startswith("'team/agents' has 2 Markdown files with a name or a description, as agents have: ")
    (command,) = re.findall(r"'(stagec init .*?)'", told)
    assert run(shlex.split(command)[1:]) == 0


def test_a_plan_is_no_source(capfd: Shown) -> None:
    _write("x.plan.json", "{}")
    assert _hints(capfd) == [
        "'x.plan.json' is a plan, which is compiled already: 'stagec verify x.plan.json' checks it"
    ]


@pytest.mark.parametrize("command", ["compile", "graph", "bounds"])
def test_commands_that_need_a_flow_give_the_same_hints(command: str, capfd: Shown) -> None:
    _write("pipelin.yaml")
    assert _hints(capfd, command) == ["'pipelin.yaml' is not read: a pipeline is called 'pipeline.yaml'"]
    _write("tools.yaml", "bundled: []\n")  # something is read, and has no flow
    assert run([command]) == 3
    assert "stagec: help: " not in capfd.readouterr().err


def test_only_what_was_named_is_looked_at_and_called_as_seen_from_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown
) -> None:
    _write("here/sub/pipelin.yaml")
    _write("elsewhere/tool.yaml")
    assert len(_hints(capfd, "validate", "here")) == 1
    monkeypatch.chdir(folder / "here" / "sub")
    (told,) = _hints(capfd, "validate", "..")
    assert told.startswith("'pipelin.yaml' is not read")


def test_the_folder_in_which_somebody_stands_is_what_was_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown
) -> None:
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    assert run(["validate"]) == 3
    assert capfd.readouterr().err.startswith("stagec: error: nothing to check: '.' holds nothing that stagec reads\n")


def test_strange_names_and_files_stay_text(folder: Path, capfd: Shown) -> None:
    _write("a \x1b[2J/pipelin.yaml")
    (folder / "loop").symlink_to(folder)
    (folder / "pipelines.yaml").symlink_to("/etc/passwd")
    _write("x/-y.md", AGENT)
    assert "\x1b" not in "".join(_hints(capfd))


def test_with_allow_empty_nothing_is_said(capfd: Shown) -> None:
    _write("pipelin.yaml")
    assert run(["validate", "--allow-empty", "--quiet"]) == 0
    assert "help" not in "".join(capfd.readouterr())


def test_every_known_name_is_one_that_a_front_end_claims() -> None:
    ends = members(frontends, FrontEnd)
    for name in NAMES:
        assert any(end.claims(f"folder/{name}") for end in ends), name


def test_files_of_other_tools_that_are_not_read_are_told(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / ".cursorrules").write_text("Use tabs.", encoding="utf-8")
    assert run(["validate", str(tmp_path)]) == 3
    assert "seen and not read: " in capfd.readouterr().err
    agent = tmp_path / ".claude" / "agents" / "a.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("---\nname: a\ndescription: Does it\ntools: Read\n---\nDo it.\n", encoding="utf-8")
    assert run(["validate", str(tmp_path)]) == 0
    shown = capfd.readouterr().out
    assert "a.md'\nSeen and not read: " in shown
    assert ".cursorrules' of Cursor" in shown
    (tmp_path / ".cursorrules").unlink()
    assert run(["validate", str(tmp_path)]) == 0
    assert "not read" not in capfd.readouterr().out


def test_a_file_of_another_tool_has_its_right_name(tmp_path: Path, capfd: Shown) -> None:
    servers = tmp_path / ".cursor" / "mcp.json"
    servers.parent.mkdir()
    servers.write_text('{"mcpServers": {}}')
    assert run(["validate", str(tmp_path)]) == 3
    told = capfd.readouterr().err
    assert "mcp.json' of Cursor" in told
    assert "is called '.mcp.json'" not in told
    servers.rename(tmp_path / "mcp.json")
    assert run(["validate", str(tmp_path)]) == 3
    assert "is called '.mcp.json'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("file", "owner"),
    [("GEMINI.md", "Gemini CLI"), (".windsurf/rules/a.md", "Windsurf"), (".kiro/steering/a.md", "Kiro")],
)
def test_files_of_tools_that_are_not_read_are_told(
    file: str, owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# Rules\n", encoding="utf-8")
    assert run(["validate", "."]) == 3
    assert f"of {owner}\n" in capfd.readouterr().err
    (tmp_path / "CLAUDE.md").write_text("# Rules\n", encoding="utf-8")
    assert run(["validate", "."]) == 0
    assert f"of {owner}\n" in capfd.readouterr().out
