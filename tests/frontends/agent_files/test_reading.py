"""How agent files are read: as the tool that owns each of them does, and by nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.sources.project.settings import Settings

AGENT = "---\nname: a\ndescription: {}\n---\nBody.\n"


def compile_files(root: Path, files: dict[str, str | bytes], *named: str) -> Compilation:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return compile_project(Project(root, tuple(root / each for each in named), Settings()))


def names_of(compilation: Compilation) -> set[str]:
    return {each.name for each in compilation.diagnostics}


REPAIRED = "[It''s …'", "x: y", "*bold* text", "[a] | [b]", "@x", "`x`", "{{x}} y", "%x", '"a" b: c', "'a: b", "a: x:"
CONTINUED = '"a\nb"', "'a\nb'", "[\na\n  ]", '"Use it:\n\nContext: b"'
LOST = '"a" b', '"a', "x: y\n  more", "x\n<e>", "? x", "x:", "\n  x: y: z", "|\n  text\nmodel: a: b"


@pytest.mark.parametrize("given", REPAIRED)
def test_a_second_try_reads_a_value(given: str, tmp_path: Path) -> None:
    found = compile_files(tmp_path, {".claude/agents/a.md": AGENT.format(given)})
    assert names_of(found) == {"unportable-frontmatter"}


@pytest.mark.parametrize("given", LOST)
def test_no_try_reads_a_value(given: str, tmp_path: Path) -> None:
    found = compile_files(tmp_path, {".claude/agents/a.md": AGENT.format(given)})
    assert names_of(found) == {"invalid-yaml"}


@pytest.mark.parametrize("given", CONTINUED)
def test_a_value_may_not_go_on_at_the_beginning_of_a_line(given: str, tmp_path: Path) -> None:
    found = compile_files(tmp_path, {".claude/agents/a.md": AGENT.format(given)})
    assert names_of(found) == {"invalid-yaml"}


@pytest.mark.parametrize("given", ["[\n  Read,\n  Grep\n]", "[\n  Read\n, Grep]", "\n- Read\n- Grep"])
def test_brackets_and_dashes_may_stand_there(given: str, tmp_path: Path) -> None:
    text = f"---\nname: a\ndescription: b\ntools: {given}\n---\nBody.\n"
    assert names_of(compile_files(tmp_path, {".claude/agents/a.md": text})) == set()


HOSTILE = (
    "[]",
    "{}",
    "7",
    "true",
    "~",
    "[[a]]",
    "{a: [b]}",
    "''",
    "[null, 7, {a: b}]",
    "2024-01-01",
    "1e400",
    '"\\ud800"',
)
KEYS = (
    *("name", "description", "tools", "model", "permissionMode", "maxTurns", "skills", "mcpServers", "hooks", "memory"),
    *("background", "effort", "isolation", "allowed-tools", "metadata", "shell", "context", "agent", "compatibility"),
    *("disable-model-invocation", "user-invocable", "paths", "argument-hint", "initialPrompt", "color"),
)


@pytest.mark.parametrize("given", HOSTILE)
def test_no_rule_stumbles_over_a_value_of_another_kind(given: str, tmp_path: Path) -> None:
    places = (
        *(".claude/agents/{}.md", ".claude/skills/{}/SKILL.md", ".claude/commands/{}.md", ".opencode/agent/{}.md"),
        *(".github/agents/{}.agent.md", ".github/prompts/{}.prompt.md", ".github/instructions/{}.instructions.md"),
        *(".agents/skills/{}/SKILL.md", ".cursor/rules/{}.mdc", ".claude/skills/{}/b/SKILL.md", ".claude/rules/{}.md"),
    )
    files: dict[str, str | bytes] = {
        place.format(key): "---\nname: a\ndescription: b\n---\n".replace(f"{key}: ", f"{key}: {given} #")
        if key in {"name", "description"}
        else f"---\nname: a\ndescription: b\n{key}: {given}\n---\n"
        for place in places
        for key in KEYS
    }
    every = Settings(extend_select=("STG3", "pedantic"))
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text), encoding="utf-8")
    assert compile_project(Project(tmp_path, (), every)).diagnostics


def test_the_second_try_finds_no_line_that_ends_with_a_carriage_return(tmp_path: Path) -> None:
    text = AGENT.format("x: y").replace("\n", "\r\n")
    assert names_of(compile_files(tmp_path, {".claude/agents/a.md": text})) == {"invalid-yaml"}


def test_anchors_and_tags_are_good_yaml(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: &x Text\ninitialPrompt: *x\n---\nBody.\n"
    assert names_of(compile_files(tmp_path, {".claude/agents/a.md": text})) == set()


def test_a_stage_that_a_pipeline_lists_is_no_agent_file(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "pipeline.yaml": "entry: a\nstages: ['.claude/agents/*.md']\n",
        ".claude/agents/a.md": "\n" + AGENT.format("x"),
    }
    assert "displaced-frontmatter" not in names_of(compile_files(tmp_path, files))


def test_an_agent_that_a_user_names_is_no_stage(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {".claude/agents/a.md": AGENT.format("x")}
    found = compile_files(tmp_path, files, ".claude/agents/a.md")
    assert names_of(found) == set()
    assert [tree.kind for tree in found.trees.values()] == ["agent-file"]


def test_folders_of_plugins_count_only_below_a_manifest(tmp_path: Path) -> None:
    text = AGENT.format("x: y")
    files: dict[str, str | bytes] = {
        "one/agents/a.md": text,
        "two/agents/a.md": text,
        "two/.claude-plugin/plugin.json": '{"name": "two"}',
    }
    assert [each.at.file for each in compile_files(tmp_path, files).diagnostics] == ["two/agents/a.md"]


@pytest.mark.parametrize("named", ["agents", "agents/a.md", "agents/deep"])
def test_a_collection_is_read_only_where_a_user_names_it(named: str, tmp_path: Path) -> None:
    text = AGENT.format("x: y")
    files: dict[str, str | bytes] = {"agents/a.md": text, "agents/deep/b.md": text, "agents/README.md": "# Agents\n"}
    assert names_of(compile_files(tmp_path, files)) == set()
    found = compile_files(tmp_path, files, named)
    assert names_of(found) >= {"unportable-frontmatter"}
    assert "agents/README.md" not in found.trees


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\x00", b"\xc3("])
def test_bytes_that_are_no_text_have_one_diagnostic(mark: bytes, tmp_path: Path) -> None:
    found = compile_files(tmp_path, {".claude/agents/a.md": mark + AGENT.format("x").encode()})
    assert len(found.diagnostics) <= 1
