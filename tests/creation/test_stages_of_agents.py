"""Agent files of other programs become stage definitions that stagec accepts, and nothing they say is lost unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec.change.creation.conversion import convert_file
from stagec.change.creation.new_project import Loss
from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings

AGENT = """---
name: Code Reviewer
description: "Use it when: code changes"
tools: Read, Grep, Bash(git diff:*, git log:*), Read
model: sonnet
color: red
---

You review changes.
"""


def adopted(text: str, root: Path, file: str = "reviewer.md") -> str:
    return convert(text, root, file)[0]


def convert(text: str, root: Path, file: str = "reviewer.md") -> tuple[str, tuple[Loss, ...]]:
    path = root / "given" / file
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    return convert_file(path)


def complaints(text: str, root: Path) -> list[str]:
    project = Project(root, (root / "stage.md",), Settings(), {"stage.md": text.encode()})
    return [each.code for each in compile_project(project).diagnostics if each.severity != "note"]


def test_an_agent_file_becomes_a_stage_with_all_that_it_says(tmp_path: Path) -> None:
    assert adopted(AGENT, tmp_path) == (
        "---\n"
        "id: code-reviewer\n"
        "name: Code Reviewer\n"
        'description: "Use it when: code changes"\n'
        "allowedTools: [Read, Grep, Bash]\n"
        "completionTool: submit_code_reviewer\n"
        "completionSchema: # yours to decide: what the stage hands in\n"
        "  type: object\n"
        "  required: [summary]\n"
        "  properties:\n"
        "    summary: {type: string}\n"
        "  additionalProperties: false\n"
        "retryPolicy: {maxAttempts: 1, backoff: none} # yours to decide: how often it may try\n"
        "turnCap: 20 # yours to decide: the most turns of one attempt\n"
        "resolutionPolicy: fail # yours to decide: what to do when its gate defers or blocks it\n"
        "stagec:\n"
        "  policy:\n"
        "    model: sonnet\n"
        "color: red\n"
        "---\n"
        "\n"
        "You review changes.\n"
        "\n"
        "When you are done, call `submit_code_reviewer` with:\n"
        "\n"
        "- `summary`: what you did and found, in one paragraph.\n"
    )


def test_what_cannot_be_taken_over_is_told(tmp_path: Path) -> None:
    _, losses = convert(AGENT, tmp_path)
    assert [(each.line, each.key, each.why.partition(" became")[0]) for each in losses] == [
        (4, "tools", "'Bash(git diff:*, git log:*)'"),
    ]


def test_the_stage_has_no_error_and_no_warning(tmp_path: Path) -> None:
    assert complaints(adopted(AGENT, tmp_path), tmp_path) == []


@pytest.mark.parametrize(
    ("file", "identity"),
    [
        ("SKILL.md", "given"),
        ("skills/pdf-forms/SKILL.md", "pdf-forms"),
        ("tdd-green.agent.md", "tdd-green"),
        ("PlanWork.chatmode.md", "plan-work"),
        ("Ünïcode.md", "n-code"),
        ("日本語.md", "stage"),
    ],
)
def test_a_file_without_a_name_is_called_like_the_file(file: str, identity: str, tmp_path: Path) -> None:
    text = adopted("---\ndescription: x\n---\nDo it.\n", tmp_path, file)
    assert text.splitlines()[1] == f"id: {identity}"
    assert complaints(text, tmp_path) == []


@pytest.mark.parametrize("tools", ["[]", "['codebase', 'search']", '"*"', "Read", '"a b, \\"c\\""'])
def test_any_list_of_tools_gives_a_stage_that_can_be_read(tools: str, tmp_path: Path) -> None:
    text = adopted(f"---\nname: x\ntools: {tools}\n---\n", tmp_path)
    assert complaints(text, tmp_path) == []


def test_a_file_without_frontmatter_is_all_prompt(tmp_path: Path) -> None:
    text, losses = convert("Do {{ it }}.\n", tmp_path)
    assert [(each.line, each.key) for each in losses] == [(1, "body")]
    assert '\nDo {{"{{"}} it }}.\n' in text
    assert text.startswith("---\nid: reviewer\nname: reviewer\nallowedTools: [] # yours to decide: the tools")


def test_metadata_is_carried_along_whatever_it_holds(tmp_path: Path) -> None:
    text = adopted(
        '---\nname: x\nmeta: {a: [1, "two: 3"], "b c": null}\n"odd: key": |\n  many\n  lines\n---\n', tmp_path
    )
    assert 'meta: {"a": [1, "two: 3"], "b c": null}\n"odd: key": "many\\nlines\\n"\n' in text
    assert complaints(text, tmp_path) == []
