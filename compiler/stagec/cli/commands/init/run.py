"""Write a new project, or one stage, and say how to go on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from shlex import join

from stagec.cli.commands.init.one_stage import write_stage
from stagec.cli.files import create_files
from stagec.cli.streams import put, say
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import quote, visible
from stagec.creation.new_project import SCENARIO, NewProject, read_starter

_DEFAULT = "pipeline"


@value
class InitRequest:
    """The arguments and options as given; None where one is absent."""

    folder: Path | None = None
    system: str | None = None
    source: Path | None = None
    output: Path | None = None
    force: bool = False

    def refuse_contradictions(self) -> None:
        """Raise `Failure` when options cannot be meant together."""
        is_one = self.source is not None and not self.source.is_dir()
        if self.source is not None and self.system not in {None, _DEFAULT}:
            raise Failure("--from always makes a pipeline: --system cannot be another system")
        if is_one and self.folder is not None:
            raise Failure(
                "--from with a single file makes only a stage, and takes no DIR: --output names the file of the stage"
            )
        if not is_one and (self.output is not None or self.force):
            raise Failure("--output and --force are for --from with a single file; DIR names the folder of a project")


def run(request: InitRequest) -> Exit:
    """Write what was asked for, and return the exit status."""
    request.refuse_contradictions()
    if request.source is not None and not request.source.is_dir():
        write_stage(request.source, request.output, force=request.force)
        return Exit.CLEAN
    project = _make(request)
    folder = request.folder or Path()
    create_files(folder, project.files)
    put("".join(f"{visible(line)}\n" for line in _describe(folder, project)))
    for each in project.left_out:
        say(f"stagec: warning: {quote(each.file)} was left out: {each.why}")
    for note in project.notes:
        say(f"stagec: note: {note}")
    return Exit.CLEAN


def _make(request: InitRequest) -> NewProject:
    if request.source is None:
        return read_starter(request.system or _DEFAULT)
    from stagec.creation.conversion import Conversion  # compiles what it makes

    return Conversion(request.source).convert()


def _describe(folder: Path, project: NewProject) -> Iterator[str]:
    """Yield what was written and the commands to go on with; each command is a line of its own, as a shell reads it."""
    yield f"Created {len(project.files)} files in {quote(folder)}:" if folder != Path() else "Created:"
    yield from (f"  {file}" for file in sorted(project.files))
    where = [] if folder == Path() else [_name(folder)]
    plan = _name(folder / f"{project.flow}.plan.json")
    yield from ("", "Go on with:")
    yield f"  {join(['stagec', 'validate', *where])}"
    yield f"  {join(['stagec', 'compile', *where, '-o', plan])}"
    if project.has_scenario:
        yield f"  {join(['stagec', 'run', plan, '--scenario', _name(folder / SCENARIO)])}"
    yield f"  {join(['stagec', 'graph', *where, '-o', _name(folder / f'{project.flow}.html')])}"
    yield from ("", "Then change the files: comments in them say what is what. Keep '.stagec/', the runs, out of git.")


def _name(path: Path) -> str:
    """Return a path as an argument, which no command takes for an option."""
    text = str(path)
    return os.path.join(os.curdir, text) if text.startswith("-") else text
