"""The report of `stagec init` about a new project: the next commands for people, and JSON for programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from shlex import join

from stagec.core.json import Json
from stagec.core.words import quote
from stagec.creation.new_project import SCENARIO, NewProject


def describe(folder: Path, project: NewProject) -> Iterator[str]:
    """Yield the written files and the next commands; each command is a line of its own, as a shell reads it."""
    yield f"Created {len(project.files)} files in {quote(folder)}:" if folder != Path() else "Created:"
    yield from (f"  {file}" for file in sorted(project.files))
    yield from ("", "Next:", *list_commands(folder, project))
    yield from ("", "Then change the files; their comments explain them. Do not commit '.stagec/': it holds the runs.")


def make_report(folder: Path, project: NewProject) -> Json:
    """Return what was made and what was not as JSON."""
    return {
        "folder": str(folder),
        "created": sorted(project.files),
        "flow": project.flow,
        "hasScenario": project.has_scenario,
        "leftOut": [{"file": each.file, "message": each.why} for each in project.left_out],
        "lost": [
            {"file": each.file, "line": each.line, "key": each.key, "message": each.why} for each in project.losses
        ],
        "hints": [
            {"file": each.file, "line": each.line, "caller": each.caller, "callee": each.callee, "text": each.words}
            for each in project.hints
        ],
        "notes": list(project.notes),
        "next": [each.strip() for each in list_commands(folder, project)],
    }


def list_commands(folder: Path, project: NewProject) -> Iterator[str]:
    """Yield the next commands; each is a line of its own, as a shell reads it."""
    where = [] if folder == Path() else [_name(folder)]
    plan = _name(folder / f"{project.flow}.plan.json")
    yield f"  {join(['stagec', 'validate', *where])}"
    yield f"  {join(['stagec', 'compile', *where, '-o', plan])}"
    if project.has_scenario:
        yield f"  {join(['stagec', 'run', plan, '--scenario', _name(folder / SCENARIO)])}"
    yield f"  {join(['stagec', 'graph', *where, '-o', _name(folder / f'{project.flow}.html')])}"


def _name(path: Path) -> str:
    """Return a path as an argument, which no command takes for an option."""
    text = str(path)
    return os.path.join(os.curdir, text) if text.startswith("-") else text
