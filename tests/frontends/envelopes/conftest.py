"""Stage plans written in a few words, read as the front end reads them and checked as `validate` does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.languages.envelopes import FRONTEND
from stagec.languages.envelopes.document import StagePlan
from stagec.sources.project.settings import Settings
from stagec.sources.read import Sources

Files = Mapping[str, str | bytes | Json]


def envelope(name: str, *needs: str, **members: Any) -> dict[str, Any]:
    """Return an envelope that nothing is wrong with; a member None is left out."""
    inputs = {f"in{at}": f"{each}/out.json" for at, each in enumerate(needs)}
    whole = {
        "stageId": name,
        "goal": f"Do the work of {name}",
        "inputs": inputs,
        "outputs": {"out": "out.json"},
        "maxDurationSec": 60,
        "dependencies": [*needs],
        **members,
    }
    return {key: each for key, each in whole.items() if each is not None}


def _write(root: Path, files: Files) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes | str) else json.dumps(content)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


@pytest.fixture
def read_plans(tmp_path: Path) -> Callable[[Files], tuple[StagePlan, ...]]:
    """Read files that are all taken for plans and envelopes."""

    def read(files: Files) -> tuple[StagePlan, ...]:
        _write(tmp_path, files)
        return FRONTEND.read(Sources(tmp_path, Budgets()), tuple(sorted(files)))

    return read


@pytest.fixture
def read_stages(read_plans: Callable[[Files], tuple[StagePlan, ...]]) -> Callable[..., StagePlan]:
    """Read the plan of some envelopes."""

    def read(*stages: Json, **members: Json) -> StagePlan:
        (found,) = read_plans({"plan.json": {**members, "stages": [*stages]}})
        return found

    return read


@pytest.fixture
def validate(tmp_path: Path) -> Callable[..., Compilation]:
    """Check files as `validate` does, those that are named or else the folder."""

    def check(files: Files, *named: str, severity: Mapping[str, Severity | None] | None = None) -> Compilation:
        _write(tmp_path, files)
        paths = tuple(tmp_path / each for each in named)
        return compile_project(Project(tmp_path, paths, Settings(severity=severity or {})))

    return check
