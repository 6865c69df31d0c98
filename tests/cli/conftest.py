"""Small projects, and stagec as users run it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nursery
import pytest

COMPILER = Path(__file__).parents[2] / "compiler"
STAGEC = (sys.executable, "-m", "stagec")
STEP = {"stepId": "initial.a", "name": "A", "c2": "initial", "c3": "a", "stepKind": "closure"}
REGISTRY = {"agentId": "a", "version": "1.0.0", "c1": "steps", "entryStep": "initial.a", "steps": {"initial.a": STEP}}
CLEAN = json.dumps(REGISTRY, indent=2) + "\n"

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a project with nothing wrong in it."""
    (tmp_path / "steps_registry.json").write_text(CLEAN)
    prompt = tmp_path / "prompts" / "steps" / "initial" / "a" / "f_default.md"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("Do what is to be done.\n")
    return tmp_path


@pytest.fixture
def broken(project: Path) -> Path:
    """Write a project whose registry is no JSON."""
    (project / "steps_registry.json").write_text('{"agentId": }\n')
    return project


@pytest.fixture
def warned(project: Path) -> Path:
    """Write a project that deserves a warning: its registry begins with a byte order mark."""
    (project / "steps_registry.json").write_bytes(b"\xef\xbb\xbf" + CLEAN.encode())
    return project


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run stagec in the project's folder."""

    def start(*arguments: str, text: bytes | None = None, **more: str) -> Ended:
        return nursery.run(arguments, tmp_path, nursery.environment(**more), text)

    return start


@pytest.fixture
def environment() -> Callable[..., dict[str, str]]:
    """Make an environment in which nothing changes what is printed but what is asked for."""
    return nursery.environment
