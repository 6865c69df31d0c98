"""Compile a folder in this process, the way `stagec validate FOLDER` does without configuration."""

from __future__ import annotations

from pathlib import Path

from stagec.core.diagnostic import Diagnostic
from stagec.pipeline import Project, compile_project
from stagec.project.settings import Settings


def diagnostics(folder: Path) -> tuple[Diagnostic, ...]:
    """Return what stagec says about a folder that is a whole project."""
    root = folder.resolve()
    return compile_project(Project(root, (root,), Settings())).diagnostics
