"""The compiler for declarative agent workflows; the names below are its public interface."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stagec.core.diagnostic import Diagnostic, Severity
    from stagec.core.failure import Failure
    from stagec.core.place import Place, Span
    from stagec.core.version import __version__
    from stagec.pipeline import Compilation, Project, compile_project
    from stagec.project.settings import Settings

__all__ = [
    "Compilation",
    "Diagnostic",
    "Failure",
    "Place",
    "Project",
    "Settings",
    "Severity",
    "Span",
    "__version__",
    "compile_project",
]

_HOMES = {
    "Compilation": "stagec.pipeline",
    "Diagnostic": "stagec.core.diagnostic",
    "Failure": "stagec.core.failure",
    "Place": "stagec.core.place",
    "Project": "stagec.pipeline",
    "Settings": "stagec.project.settings",
    "Severity": "stagec.core.diagnostic",
    "Span": "stagec.core.place",
    "__version__": "stagec.core.version",
    "compile_project": "stagec.pipeline",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that importing one part never imports the others."""
    if name not in _HOMES:
        raise AttributeError(f"module 'stagec' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
