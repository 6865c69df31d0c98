"""The registry and the settings on the page about versions of climpt: they are those of an agent without a finding."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "user-guide" / "climpt-versions.md"
FENCE = re.compile(r"^```json (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def one_of(*intents: str) -> object:
    return {"type": "object", "required": ["next"], "properties": {"next": {"enum": [*intents]}}}


AGENT = {
    "version": "1.0.0",
    "name": "notes",
    "displayName": "Notes",
    "description": "Writes notes",
    "runner": {
        "flow": {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}},
        "verdict": {"type": "count:iteration", "config": {"maxIterations": 5}},
    },
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shown = dict(FENCE.findall(PAGE.read_text(encoding="utf-8")))
    files = {
        ".agent/climpt/config/claude.settings.climpt.agents.json": shown["claude.settings.climpt.agents.json"],
        ".agent/notes/steps_registry.json": shown["steps_registry.json"],
        ".agent/notes/agent.json": json.dumps(AGENT),
        ".agent/notes/schemas/notes.schema.json": json.dumps(
            {"initial.notes": one_of("handoff", "repeat"), "closure.notes": one_of("closing")}
        ),
        ".agent/notes/prompts/system.md": "You write notes.\n",
        ".agent/notes/prompts/steps/initial/notes/f_default.md": "Write the notes.\n",
        ".agent/notes/prompts/steps/closure/notes/f_default.md": "Close the notes.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_registry_of_the_page_has_no_finding(project: Path) -> None:
    found = compile_project(Project(project, (project,), Settings())).diagnostics
    assert [(each.code, each.message) for each in found] == []


def test_the_codes_of_the_page_are_rules() -> None:
    from stagec.check.pipeline import list_families

    known = {rule.code for family in list_families() for rule in family.rules()}
    assert set(re.findall(r"`(STG\d+)`", PAGE.read_text(encoding="utf-8"))) <= known
