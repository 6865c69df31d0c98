"""`stagec migrate` lists, shows or writes what changes, and says what is left to a person."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

TOP = Path(__file__).parents[2]
REGISTRY = """{
  "agentId": "a",
  "version": "1.0.0",
  "c1": "steps",
  "entryStepMapping": { "poll:state": "initial.a" },
  "steps": {
    "initial.a": {
      "stepId": "initial.a",
      "name": "A",
      "stepKind": "work",
      "c2": "initial",
      "c3": "a",
      "uvVariables": [],
      "usesStdin": false
    }
  }
}
"""
LATER = (
    REGISTRY.replace('"stepKind"', '"kind"')
    .replace(
        '"c2": "initial",\n      "c3": "a"',
        """"address": {
        "c1": "steps",
        "c2": "initial",
        "c3": "a",
        "edition": "default"
      }""",
    )
    .replace('"initial.a" }', '{"initial": "initial.a", "continuation": "initial.a"} }')
)
AGENT = """{
  "name": "a",
  "runner": {
    "flow": { "prompts": { "registry": "steps_registry.json" } },
    "boundaries": { "allowedTools": ["Read"], "permissionMode": "acceptEdits" },
    "verdict": { "type": "poll:state" }
  }
}
"""
SETTINGS = ".agent/climpt/config/claude.settings.climpt.agents.a.json"
HERE, BESIDE = ".agent/a/steps_registry.json", ".agent/a/agent.json"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """Write a project with one agent that can be migrated as a whole."""
    folder = tmp_path / ".agent" / "a"
    folder.mkdir(parents=True)
    (folder / "steps_registry.json").write_text(REGISTRY)
    (folder / "agent.json").write_text(AGENT)
    (tmp_path / "stagec.toml").touch()
    return tmp_path


def test_without_an_option_it_only_tells(agent: Path, run: Run) -> None:
    ended = run("migrate")
    assert ended.returncode == 1
    assert ended.stdout.decode() == (
        ".agent/a/steps_registry.json\n"
        "  'stepKind' is now 'kind': /steps/initial.a\n"
        "  'c2' and 'c3' become 'address': /steps/initial.a\n"
        "  'initial.a' becomes a pair of entries: /entryStepMapping/poll:state\n"
        ".agent/a/agent.json\n"
        "  'allowedTools' and 'permissionMode' move to 'claude.settings.climpt.agents.a.json': /runner/boundaries\n"
        f"{SETTINGS} (new)\n"
    )
    assert ended.stderr.decode() == "4 changes to make in 2 files, 1 new file; 0 decisions left to you\n"
    assert (agent / HERE).read_text() == REGISTRY
    assert not (agent / SETTINGS).exists()


def test_what_is_written_has_the_old_layout_and_leaves_nothing_to_do(agent: Path, run: Run) -> None:
    ended = run("migrate", "--write", "--to", "1.14")
    assert (ended.returncode, ended.stderr) == (0, b"4 changes made in 2 files, 1 new file; 0 decisions left to you\n")
    assert (agent / HERE).read_text() == LATER
    assert (agent / BESIDE).read_text() == "".join(line for line in AGENT.splitlines(True) if "boundaries" not in line)
    assert json.loads((agent / SETTINGS).read_text()) == {
        "permissions": {"allow": ["Read"], "defaultMode": "acceptEdits"}
    }
    before = {path: path.stat().st_mtime_ns for path in agent.rglob("*")}
    again = run("migrate", "--write")
    assert (again.returncode, again.stdout) == (0, b"")
    assert again.stderr == b"nothing to migrate: everything has the form of 1.14\n"
    assert {path: path.stat().st_mtime_ns for path in agent.rglob("*")} == before


@pytest.mark.needs("git")
def test_the_patch_does_what_writing_does(agent: Path, run: Run) -> None:
    ended = run("migrate", "--diff")
    assert ended.returncode == 1
    subprocess.run(["git", "apply", "-p1", "-"], input=ended.stdout, cwd=agent, check=True, capture_output=True)
    assert (agent / HERE).read_text() == LATER
    assert (agent / SETTINGS).exists()
    assert run("migrate", "--diff").stdout == b""


def test_decisions_have_places_and_are_left(agent: Path, run: Run) -> None:
    (agent / HERE).write_text(REGISTRY.replace('"initial",', '"other",').replace('"stepKind": "work",\n      ', ""))
    for option in ("--write", "--write", "--diff"):
        ended = run("migrate", option)
        assert ended.returncode == 1
        assert (
            b"    'c2' is 'other', from which no kind follows; every step of 1.14 has one\n"
            in ended.stdout + ended.stderr
        )
        assert b"; 1 decision left to you\n" in ended.stderr
    assert ended.stdout == b""
    assert b"  .agent/a/steps_registry.json:7:18 /steps/initial.a\n" in ended.stderr


def test_places_are_those_of_the_files_as_they_are_then(agent: Path, run: Run) -> None:
    conditions = '"validationSteps": {"initial.a": {"validationConditions": [{"validator": "v"}]}}'
    (agent / HERE).write_text(REGISTRY.replace("  }\n}\n", f"  }},\n  {conditions}\n}}\n"))
    assert b"steps_registry.json:17:" in run("migrate").stdout
    assert b"steps_registry.json:21:" in run("migrate", "--write").stdout
    assert b"steps_registry.json:21:" in run("migrate").stdout


@pytest.mark.parametrize("option", [(), ("--write",)])
def test_the_document_has_its_schema(agent: Path, run: Run, option: tuple[str, ...]) -> None:
    (agent / ".agent/workflow.json").write_text('{"phases": {}, "labelMapping": {}}')
    ended = run("migrate", "--format", "json", *option)
    made = json.loads(ended.stdout)
    jsonschema.validate(made, json.loads((TOP / "schemas/migration.schema.json").read_bytes()))
    assert (made["written"], made["changed"]) == (bool(option), sorted([HERE, BESIDE]))
    assert [each["file"] for each in made["created"]] == [SETTINGS]
    assert [(each["file"], each["line"]) for each in made["decisions"]] == [(".agent/workflow.json", 1)]
    assert ended.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--write", "--diff"), b"exclude each other"),
        (("--diff", "--format", "json"), b"--diff prints a patch"),
        (("--to", "1.13"), b"1.14"),
        (("nowhere",), b"does not exist"),
    ],
)
def test_what_cannot_be_meant_is_refused(agent: Path, run: Run, arguments: tuple[str, ...], said: bytes) -> None:
    ended = run("migrate", *arguments)
    assert ended.returncode == 2
    assert said in ended.stderr


def test_a_project_without_registries_has_nothing_to_migrate(tmp_path: Path, run: Run) -> None:
    (tmp_path / "stagec.toml").touch()
    assert run("migrate").returncode == 3
    assert run("migrate", "--allow-empty").returncode == 0


def test_what_cannot_be_read_is_told_and_left(agent: Path, run: Run) -> None:
    (agent / ".agent/b").mkdir()
    (agent / ".agent/b/steps_registry.json").write_text("{")
    ended = run("migrate", "--write")
    assert ended.returncode == 1
    assert b"left '.agent/b/steps_registry.json' unchanged: only files that can be read are migrated" in ended.stderr
    assert (agent / HERE).read_text() == LATER


def test_nothing_is_written_where_a_file_cannot_be(agent: Path, run: Run) -> None:
    (agent / ".agent/climpt").symlink_to(agent.parent)
    assert run("migrate", "--write").returncode == 2
    assert (agent / HERE).read_text() == REGISTRY
    assert not os.path.lexists(agent / SETTINGS)


def test_a_link_is_not_written_through(agent: Path, run: Run) -> None:
    (agent / "real.json").write_text(REGISTRY)
    (agent / HERE).unlink()
    (agent / HERE).symlink_to("../../real.json")
    assert run("migrate", "--write").returncode == 2
    assert (agent / "real.json").read_text() == REGISTRY
    assert not (agent / SETTINGS).exists()


def test_a_part_of_a_project_is_migrated_alone(agent: Path, run: Run) -> None:
    (agent / ".agent/workflow.json").write_text('{"phases": {}, "labelMapping": {}, "issueStore": {}}')
    assert b"steps_registry" not in run("migrate", ".agent/workflow.json").stdout
    assert b"workflow" not in run("migrate", ".agent/a").stdout
