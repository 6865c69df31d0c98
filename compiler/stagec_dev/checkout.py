"""The checkout that the contributors' tools work on: its folders, and compiling one of them."""

from __future__ import annotations

import os
from pathlib import Path

from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.diagnostic import Diagnostic
from stagec.ir.plan.document import Plan
from stagec.sources.project.settings import Settings

ROOT = Path(__file__).parents[2]
"""The top of the checkout."""


def corpus() -> Path | None:
    """Return the folder that `STAGEC_CORPUS` names, or None."""
    named = os.environ.get("STAGEC_CORPUS")
    return Path(named).resolve() if named else None


def specification() -> Path | None:
    """Return the folder of the specification pages: `STAGEC_SPEC`, else `spec` beside the corpus."""
    named = os.environ.get("STAGEC_SPEC")
    if named:
        return Path(named).resolve()
    beside = corpus()
    return beside.parent / "spec" if beside else None


def diagnostics(folder: Path, *named: str) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a folder: of the whole project, or of the named files."""
    return _compile(folder, *named).diagnostics


def plans(folder: Path) -> tuple[Plan, ...]:
    """Return the plan of every flow of a folder that is a whole project, even of those with errors."""
    return tuple(meaning.plan() for meaning in _compile(folder).meanings)


def _compile(folder: Path, *named: str) -> Compilation:
    root = folder.resolve()
    return compile_project(Project(root, tuple(root / file for file in named) or (root,), Settings()), search_briefly)
