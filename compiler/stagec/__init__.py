"""The compiler for declarative agent workflows; the names below are its public interface."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # the real one costs whoever runs a plan the import of `typing`
if TYPE_CHECKING:
    from stagec.core.diagnostic import Diagnostic, Severity
    from stagec.core.failure import Failure
    from stagec.core.place import Place, Span
    from stagec.core.version import __version__
    from stagec.drivers.local.drive import run
    from stagec.marker_log import check_markers
    from stagec.pipeline import Compilation, Project, compile_project
    from stagec.project.settings import Settings
    from stagec.protocol.markers import Marker, read_markers
    from stagec.runtime.program import verify as load_plan

__all__ = [
    "Compilation",
    "Diagnostic",
    "Failure",
    "Marker",
    "Place",
    "Project",
    "Settings",
    "Severity",
    "Span",
    "__version__",
    "check_markers",
    "compile_project",
    "load_plan",
    "read_markers",
    "run",
]

_HOMES = {
    "Compilation": "stagec.pipeline",
    "Diagnostic": "stagec.core.diagnostic",
    "Failure": "stagec.core.failure",
    "Marker": "stagec.protocol.markers",
    "Place": "stagec.core.place",
    "Project": "stagec.pipeline",
    "Settings": "stagec.project.settings",
    "Severity": "stagec.core.diagnostic",
    "Span": "stagec.core.place",
    "__version__": "stagec.core.version",
    "check_markers": "stagec.marker_log",
    "compile_project": "stagec.pipeline",
    "load_plan": "stagec.runtime.program:verify",
    "read_markers": "stagec.protocol.markers",
    "run": "stagec.drivers.local.drive",
}
"""Where each name is defined, and behind a colon under which name if it is another one."""


if not TYPE_CHECKING:  # a type checker knows the names from above, and no other

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used, so that importing one part never imports the others."""
        if name not in _HOMES:
            raise AttributeError(f"module 'stagec' has no attribute {name!r}")
        module, _, there = _HOMES[name].partition(":")
        return getattr(import_module(module), there or name)
