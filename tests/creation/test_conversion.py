"""`stagec init --from FOLDER` makes a pipeline of agent files, and says of each that it leaves out why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from agent_paths import PATHS, write_kind
from creation.test_starters import follow, list_commands

from stagec.change.creation import readers
from stagec.change.creation.collected import TAKEN
from stagec.change.creation.conversion import Conversion
from stagec.change.creation.new_project import NewProject
from stagec.change.creation.readers import AgentReader
from stagec.cli.app import run
from stagec.core.shelf import members
from stagec.languages.agent_files.kinds import list_kinds

Shown = pytest.CaptureFixture[str]
AGENT = "---\nname: {}\ndescription: Does it.\ntools: Read, Bash(git:*)\nmodel: opus\n---\nDo it.\n"
STAGE = """---
id: check
name: Check
allowedTools: [run_tests]
completionTool: submit
completionSchema: {type: object, required: [count], properties: {count: {type: integer, minimum: 3}}}
retryPolicy: {maxAttempts: 1, backoff: none}
turnCap: 5
resolutionPolicy: fail
---

Check it.
"""


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop" / ".claude" / "agents"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "shop")
    return folder


def _write(folder: Path, **texts: str) -> NewProject:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return Conversion(folder).convert()


def _explain(project: NewProject) -> dict[str, str]:
    return {each.file.removeprefix(".claude/agents/"): each.why for each in project.left_out}


def test_braces_of_another_language_stay_as_they_are(agents: Path, capfd: Shown) -> None:
    body = "on: ${{ x || y }}, {{- .Values.z }} and {{{ctx.task}}}"
    _write(agents, chart=AGENT.format("Chart").replace("Do it.", body))
    assert run(["init", "--from", ".claude/agents", "flow"]) == 0
    assert follow(capfd.readouterr().out, capfd) == ["validate", "compile", "run", "graph"]
    assert body in Path("flow/shop.plan.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("count", [1, 2, 30])
def test_the_printed_commands_work(count: int, agents: Path, capfd: Shown) -> None:
    _write(agents, **{f"a{each}": AGENT.format(f"Agent {each}") for each in range(count)})
    assert run(["init", "--from", ".claude/agents", "flow"]) == 0
    shown = capfd.readouterr()
    assert "yours to decide" in shown.err
    assert follow(shown.out, capfd) == ["validate", "compile", "run", "graph"]


def test_the_pipeline_lists_what_runs_and_the_catalogue_every_tool(agents: Path) -> None:
    project = _write(agents, one=AGENT.format("One"), two=AGENT.format("Two").replace("Read", "mcp__x__find"))
    assert list(project.files) == ["pipeline.yaml", "tools.yaml", "stages/one.md", "stages/two.md", "scenario.yaml"]
    assert project.flow == "shop"
    pipeline = project.files["pipeline.yaml"].decode()
    assert "entry: one # yours to decide" in pipeline
    assert "stages:\n  - stages/one.md\n  # " in pipeline
    assert "\n  # - stages/two.md\n" in pipeline
    assert "\nnext: {}\n" in pipeline
    tools = project.files["tools.yaml"].decode().splitlines()[1:]
    assert tools[:3] == ["bundled:", "  - Bash", "  - Read"]
    assert tools[4:] == ["  - find # x"]
    assert [each.key for each in project.losses if each.file.endswith("one.md")] == ["name", "tools"]


def test_a_stage_is_taken_as_it_is(agents: Path, capfd: Shown) -> None:
    project = _write(agents, check=STAGE)
    assert project.files["stages/check.md"].decode() == STAGE
    assert b"{count: 3}" in project.files["scenario.yaml"] or b'{"count": 3}' in project.files["scenario.yaml"]
    assert run(["init", "--from", ".claude/agents"]) == 0
    follow(capfd.readouterr().out, capfd)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\n- a: b: c\n---\n", "line 2: STG107: "),
        ("---\nname: a\n", "line 1: "),
        ("no frontmatter", "its frontmatter has no name and no description"),
        ("---\nmodel: x\n---\n", "its frontmatter has no name and no description"),
        ("---\n- a\n---\n", ""),
        ("", "its frontmatter has no name and no description"),
    ],
)
def test_what_cannot_be_taken_is_left_out_with_its_reason(text: str, why: str, agents: Path) -> None:
    project = _write(agents, good=AGENT.format("Good"), later=text)
    assert [*_explain(project)] == ["later.md"]
    assert _explain(project)["later.md"].startswith(why)
    assert [file for file in project.files if file.startswith("stages/")] == ["stages/good.md"]


def test_bytes_that_are_no_text_are_left_out(agents: Path) -> None:
    (agents / "b.md").write_bytes(b"---\nname: \xff\n---\n")
    assert "b.md" in _explain(_write(agents, a=AGENT.format("a")))


def test_folders_below_are_looked_into(agents: Path) -> None:
    (agents / "skills" / "count").mkdir(parents=True)
    (agents / "skills" / "count" / "SKILL.md").write_text("---\ndescription: Counts.\n---\nCount.\n", encoding="utf-8")
    project = _write(agents, a=AGENT.format("a"))
    assert {"stages/a.md", "stages/count.md"} < set(project.files)


def test_a_link_out_of_the_folder_is_not_followed(agents: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text(AGENT.format("Secret"), encoding="utf-8")
    (agents / "link.md").symlink_to(tmp_path / "secret.md")
    project = _write(agents, a=AGENT.format("a"))
    assert "stages/secret.md" not in project.files
    assert [*_explain(project)] == ["link.md"]


@pytest.mark.parametrize("texts", [{}, {"README": "# No agent"}, {"broken": "---\nname: a\n"}])
def test_without_any_agent_file_nothing_is_written(texts: dict[str, str], agents: Path, capfd: Shown) -> None:
    for name, text in texts.items():
        (agents / f"{name}.md").write_text(text, encoding="utf-8")
    assert run(["init", "--from", ".claude/agents", "flow"]) == 3
    said = capfd.readouterr().err.splitlines()
    assert said[-1].endswith("has no agent file that can be taken")
    assert len(said) == 1 + len(texts)
    assert not Path("flow").exists()


@pytest.mark.parametrize("name", ["a & b <x>", "join", "yes", "123", "Ünïcode", "a" * 300, "{{x}}", "# no", "null"])
def test_names_of_any_kind_give_a_project_that_validates_or_are_told(name: str, agents: Path, capfd: Shown) -> None:
    (agents / "odd.md").write_text(f"---\nname: {name!r}\ndescription: {name!r}\n---\nDo it.\n", encoding="utf-8")
    _write(agents, good=AGENT.format("Good"))
    assert run(["init", "--from", ".claude/agents", "flow"]) == 0
    assert follow(capfd.readouterr().out, capfd)[0] == "validate"


def test_the_folder_may_be_the_one_that_is_written_to(agents: Path, capfd: Shown) -> None:
    _write(agents, good=AGENT.format("Good"))
    assert run(["init", "--from", ".claude/agents", ".claude/agents"]) == 0
    follow(capfd.readouterr().out, capfd)


def test_the_id_of_a_stage_never_leads_elsewhere(agents: Path) -> None:
    evil = {
        f"a{at}": STAGE.replace("id: check", f"id: {each}") for at, each in enumerate(("../../../evil", "/x", "a/b"))
    }
    project = _write(agents, good=AGENT.format("Good"), **evil)
    assert [file for file in project.files if file.startswith("stages/")] == ["stages/good.md"]
    assert [*_explain(project)] == ["a0.md", "a1.md", "a2.md"]


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_real_agent_files_become_a_project_that_runs(capfd: Shown) -> None:
    source = Path(os.environ["STAGEC_CORPUS"], "frontmatter")
    assert run(["init", "--from", str(source), "flow"]) == 0
    shown = capfd.readouterr()
    left = [line for line in shown.err.splitlines() if " was left out: " in line]
    assert len(left) + len(list(Path("flow/stages").iterdir())) == len(list(source.glob("*.md")))
    for line in list_commands(shown.out):
        assert run(line) == 0, line


def test_each_reader_is_found_on_the_shelf() -> None:
    assert [each.agents[0] for each in members(readers, AgentReader)] == [
        *("claude-agent", "copilot-agent", "gh-aw-workflow", "opencode-agent", "stage"),
    ]


def _list_read_kinds() -> set[str]:
    return {kind for each in members(readers, AgentReader) for kind in (*each.agents, *each.others)}


@pytest.mark.parametrize("kind", [each.name for each in list_kinds()])
def test_a_file_of_each_kind_becomes_a_stage_or_is_named_as_left_out(kind: str, agents: Path, capfd: Shown) -> None:
    (agents / "one.md").write_text(AGENT.format("One"), encoding="utf-8")
    file = write_kind(Path(), kind)
    assert run(["init", "--from", ".", "flow"]) == 0
    told = capfd.readouterr().err
    is_left = f"'{file}' was left out: " in told
    assert is_left is (kind not in _list_read_kinds() and file not in TAKEN), told
    assert ("of a kind that is not converted, such as memory and instructions: " in told) is is_left


@pytest.mark.parametrize("kind", sorted(PATHS.keys() - _list_read_kinds()))
def test_one_file_that_cannot_become_a_stage_is_refused(kind: str, tmp_path: Path, capfd: Shown) -> None:
    file = write_kind(tmp_path, kind)
    assert run(["init", "--from", str(tmp_path / file)]) == 2
    assert "cannot become a stage" in capfd.readouterr().err


def test_agents_anywhere_are_found_beside_files_that_are_not_converted(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "AGENTS.md").write_text("# Rules\n", encoding="utf-8")
    (tmp_path / "writer.md").write_text(AGENT.format("Writer"), encoding="utf-8")
    assert run(["init", "--from", str(tmp_path), "flow"]) == 0
    assert "AGENTS.md' was left out: instructions of Codex cannot be converted" in capfd.readouterr().err
    assert Path("flow/stages/writer.md").exists()
