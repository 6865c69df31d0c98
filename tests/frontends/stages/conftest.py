"""Pipelines written in a few words, read as the front end reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.languages.stages import FRONTEND
from stagec.languages.stages.document import Pipeline
from stagec.sources.read import Sources

Machine = Callable[..., Pipeline]


def machine(root: Path, stages: dict[str, Json], **members: Json) -> Pipeline:
    """Return the pipeline of stage objects with these routes; the first one is the entry unless another is given."""
    objects = [stage(name, route) for name, route in stages.items()]
    body = {"id": "demo", "entry": next(iter(stages)), "stages": objects, **members}
    given = {name: each for name, each in body.items() if each is not None}
    return read(root, {"pipeline.json": json.dumps(given)})


def stage(name: str, route: Json = None) -> dict[str, Any]:
    """Return a stage object; without a route it says nothing of what comes next."""
    members = {"body": "Go.", "turnCap": 1, "completionTool": f"submit_{name}", "completionSchema": {"type": "object"}}
    return {"id": name, **members, **({} if route is None else {"next": route})}


def read(root: Path, files: dict[str, str]) -> Pipeline:
    """Return the one pipeline of these files."""
    sources = Sources(root, Budgets(), {name: text.encode() for name, text in files.items()})
    (found,) = FRONTEND.read(sources, tuple(name for name in files if FRONTEND.claims(name)))
    return found


@pytest.fixture
def pipeline(tmp_path: Path) -> Machine:
    """Return what makes a pipeline of routes by stage."""
    return lambda stages, **members: machine(tmp_path, stages, **members)


@pytest.fixture
def reading(tmp_path: Path) -> Machine:
    """Return what makes a pipeline of files."""
    return lambda files: read(tmp_path, files)
