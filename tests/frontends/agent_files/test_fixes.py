"""Fixes of agent files: what `stagec validate --fix` writes, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec.check.fixes import fix_project
from stagec.check.pipeline import Project
from stagec.sources.project.settings import Settings


def fix(root: Path, file: str, text: str, *, guesses: bool = False) -> str:
    path = root / file
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    done = fix_project(Project(root, (), Settings()), guesses=guesses)
    return done.after.get(file, text.encode()).decode()


AGENT = ".claude/agents/a.md"

CASES = {
    "a colon": (
        "---\nname: a\ndescription: Use it when: a change is ready\ntools: Read\n---\nBody.\n",
        '---\nname: a\ndescription: "Use it when: a change is ready"\ntools: Read\n---\nBody.\n',
    ),
    "several values, and what needs no quotes": (
        "---\nname: a\ndescription: a: b\nmodel: @x\ninitialPrompt: Go!\n---\nBody.\n",
        '---\nname: a\ndescription: "a: b"\nmodel: "@x"\ninitialPrompt: Go!\n---\nBody.\n',
    ),
    "quotes inside": (
        '---\nname: a\ndescription: Say "x": y\n---\nBody.\n',
        '---\nname: a\ndescription: "Say \\"x\\": y"\n---\nBody.\n',
    ),
    "a colon, and then a tool": (
        "---\nname: a\ndescription: a: b\ntools: read\n---\nBody.\n",
        '---\nname: a\ndescription: "a: b"\ntools: Read\n---\nBody.\n',
    ),
    "a blank line before": ("\n\n---\nname: a\ndescription: b\n---\n", "---\nname: a\ndescription: b\n---\n"),
    "a code block round all": (
        "```markdown\n---\nname: a\ndescription: b\n---\nBody.\n```\n",
        "---\nname: a\ndescription: b\n---\nBody.\n",
    ),
    "a tool that is gone": (
        "---\nname: a\ndescription: b\ntools: Read, LS, Grep, LS\n---\n",
        '---\nname: a\ndescription: b\ntools: "Read, Grep"\n---\n',
    ),
    "the last tool of a list": (
        "---\nname: a\ndescription: b\ntools:\n  - Read\n  - LS\n---\n",
        "---\nname: a\ndescription: b\ntools:\n  - Read\n---\n",
    ),
    "the key of skills": (
        "---\nname: a\ndescription: b\nallowed-tools: Read\n---\n",
        "---\nname: a\ndescription: b\ntools: Read\n---\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fix_writes_what_is_meant(name: str, tmp_path: Path) -> None:
    before, after = CASES[name]
    assert fix(tmp_path, AGENT, before) == after


def test_a_list_beside_a_broken_value_is_left_to_its_author(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: a: b\ntools: [Read, Grep]\n---\nBody.\n"
    assert fix(tmp_path, AGENT, text) == text


def test_an_agent_is_called_like_its_file_only_if_somebody_asks_for_guesses(tmp_path: Path) -> None:
    text = "---\ndescription: b\n---\nBody.\n"
    assert fix(tmp_path / "one", AGENT, text) == text
    assert fix(tmp_path / "two", AGENT, text, guesses=True) == "---\ndescription: b\nname: a\n---\nBody.\n"
