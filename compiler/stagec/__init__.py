"""The compiler for declarative agent workflows; the names below are its public interface."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # the real one costs whoever runs a plan the import of `typing`
if TYPE_CHECKING:
    from stagec.check.marker_log import check_markers
    from stagec.check.pipeline import Compilation, Project, compile_project
    from stagec.core.diagnostic import Diagnostic, Severity
    from stagec.core.failure import Failure
    from stagec.core.place import Place, Span
    from stagec.core.version import __version__
    from stagec.ir.protocol.markers import Marker, read_markers
    from stagec.runtime.drivers.local.drive import run
    from stagec.runtime.machine.program import verify as load_plan
    from stagec.sources.project.settings import Settings

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
    "Compilation": "stagec.check.pipeline",
    "Diagnostic": "stagec.core.diagnostic",
    "Failure": "stagec.core.failure",
    "Marker": "stagec.ir.protocol.markers",
    "Place": "stagec.core.place",
    "Project": "stagec.check.pipeline",
    "Settings": "stagec.sources.project.settings",
    "Severity": "stagec.core.diagnostic",
    "Span": "stagec.core.place",
    "__version__": "stagec.core.version",
    "check_markers": "stagec.check.marker_log",
    "compile_project": "stagec.check.pipeline",
    "load_plan": "stagec.runtime.machine.program:verify",
    "read_markers": "stagec.ir.protocol.markers",
    "run": "stagec.runtime.drivers.local.drive",
}
"""The module that defines each name; behind a colon the name there, if it is another one."""


if not TYPE_CHECKING:  # a type checker knows the names from above, and no other

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used, so that importing one part never imports the others."""
        if name not in _HOMES:
            raise AttributeError(f"module 'stagec' has no attribute {name!r}")
        module, _, there = _HOMES[name].partition(":")
        return getattr(import_module(module), there or name)
