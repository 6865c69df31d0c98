"""Orchestrator files written in a few words, read as the front end reads them and checked as `validate` does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.languages.orchestrator import FRONTEND
from stagec.languages.orchestrator.document import Workflow
from stagec.sources.project.settings import Settings
from stagec.sources.read import Sources

FILE = ".agent/workflow.json"

BASE: Mapping[str, Any] = {
    "version": "1.0.0",
    "issueSource": {"kind": "ghRepoIssues"},
    "phases": {
        "todo": {"type": "actionable", "priority": 1, "agent": "worker"},
        "review": {"type": "actionable", "priority": 2, "agent": "judge"},
        "done": {"type": "terminal"},
        "stuck": {"type": "blocking"},
    },
    "labelMapping": {"ready": "todo", "review": "review", "done": "done", "blocked": "stuck"},
    "agents": {
        "worker": {"role": "transformer", "outputPhase": "review", "fallbackPhase": "stuck"},
        "judge": {
            "role": "validator",
            "outputPhases": {"approved": "done", "rejected": "todo"},
            "fallbackPhase": "stuck",
        },
    },
}
"""A file that nothing is wrong with."""


def change(*edits: tuple[str, Json]) -> dict[str, Any]:
    """Return the base with members written at pointers such as `/phases/todo/type`; Ellipsis takes one away."""
    made: dict[str, Any] = json.loads(json.dumps(BASE))
    for pointer, given in edits:
        *way, last = pointer.strip("/").split("/")
        owner = made
        for key in way:
            owner = owner.setdefault(key, {})
        if given is ...:
            del owner[last]
        else:
            owner[last] = json.loads(json.dumps(given))
    return made


@pytest.fixture
def read_workflow(tmp_path: Path) -> Callable[[Json], Workflow]:
    """Read one orchestrator file."""

    def read(content: Json) -> Workflow:
        path = tmp_path / FILE
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
        (found,) = FRONTEND.read(Sources(tmp_path, Budgets()), (FILE,))
        return found

    return read


@pytest.fixture
def validate(tmp_path: Path) -> Callable[..., Compilation]:
    """Check files as `validate` does, those that are named or else the folder."""

    def check(files: Mapping[str, Json | bytes], *named: str) -> Compilation:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return compile_project(Project(tmp_path, tuple(tmp_path / each for each in named), Settings()))

    return check
