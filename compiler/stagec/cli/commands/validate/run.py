"""Validate a project as asked."""

from __future__ import annotations

from stagec.cli.commands.validate.outcome import report
from stagec.cli.commands.validate.request import Request
from stagec.cli.limits import configured
from stagec.cli.progress import progress
from stagec.core.failure import Exit
from stagec.pipeline import Project, compile_project


def run(request: Request) -> Exit:
    """Do what was asked and return the exit status."""
    request.refuse_contradictions()
    configuration = configured(request.targets(), request.root, request.overrides())
    paths = tuple(path.absolute() for path in request.targets())
    overlay = request.overlay(configuration.root)
    project = Project(configuration.root, paths, configuration.settings, overlay)
    if request.fix or request.diff:
        from stagec.cli.commands.validate.mending import show_or_mend  # most runs mend nothing

        return show_or_mend(request, project)
    with progress("checking …"):
        compilation = compile_project(project)
    return report(request, project, compilation)
