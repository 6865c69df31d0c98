"""`stagec init`: a new project, minimal or made of agent files, or a stage definition made of one agent file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from shlex import join
from typing import Any

import click

from stagec.change.creation.conversion import convert_file
from stagec.change.creation.new_project import SCENARIO, NewProject, read_starter
from stagec.cli.files import create_files, write_file
from stagec.cli.parameters import ExistingPath, OneOf
from stagec.cli.streams import put, say
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import quote, visible


def describe(folder: Path, project: NewProject) -> Iterator[str]:
    """Yield the written files and the next commands; each command is a line of its own, as a shell reads it."""
    yield f"Created {len(project.files)} files in {quote(folder)}:" if folder != Path() else "Created:"
    yield from (f"  {file}" for file in sorted(project.files))
    yield from ("", "Next:", *list_commands(folder, project))
    yield from ("", "Then change the files; their comments explain them. Do not commit '.stagec/': it holds the runs.")


def make_report(folder: Path, project: NewProject) -> Json:
    """Return the created and the omitted parts as JSON."""
    return {
        "folder": str(folder),
        "created": sorted(project.files),
        "flow": project.flow,
        "hasScenario": project.has_scenario,
        "agents": [
            {"file": each.file, "stage": each.stage, "listed": each.is_listed, "message": each.why}
            for each in project.placements
        ],
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


_DEFAULT = "pipeline"


@value
class InitRequest:
    """The arguments and options as given; None where one is absent."""

    folder: Path | None = None
    system: str | None = None
    source: Path | None = None
    output: Path | None = None
    force: bool = False
    entry: str | None = None
    form: str | None = None

    def refuse_contradictions(self) -> None:
        """Raise `Failure` when options cannot be meant together."""
        is_one = self.source is not None and not self.source.is_dir()
        if self.source is not None and self.system not in {None, _DEFAULT}:
            raise Failure("--from makes a pipeline: leave out --system")
        if is_one and self.folder is not None:
            raise Failure("--from with a single file makes one stage: name its file with --output, not with DIR")
        if (self.source is None or is_one) and (self.entry is not None or self.form is not None):
            raise Failure("--entry and --format are for --from with a folder")
        if not is_one and (self.output is not None or self.force):
            raise Failure("--output and --force are for --from with a single file; DIR names the folder of a project")

    def make(self) -> NewProject:
        """Return the project that was asked for."""
        if self.source is None:
            return read_starter(self.system or _DEFAULT)
        from stagec.change.creation.conversion import Conversion  # compiles what it makes

        return Conversion(self.source, self.folder or Path(), self.entry).convert()


def run(request: InitRequest) -> Exit:
    """Write what was asked for, and return the exit status."""
    request.refuse_contradictions()
    if request.source is not None and not request.source.is_dir():
        _write_stage(request.source, request.output, force=request.force)
        return Exit.CLEAN
    project = request.make()
    folder = request.folder or Path()
    create_files(folder, project.files, durable=False)  # the same command makes them again
    if request.form == "json":
        put(f"{json.dumps(make_report(folder, project), indent=2, ensure_ascii=False)}\n")
        return Exit.CLEAN
    put("".join(f"{visible(line)}\n" for line in describe(folder, project)))
    for placed in project.placements:
        where = "listed in the pipeline" if placed.is_listed else "not listed in the pipeline"
        say(f"stagec: note: {visible(placed.file)} is {placed.stage}, {where}: {visible(placed.why)}")
    for each in project.left_out:
        say(f"stagec: warning: {quote(each.file)} was left out: {each.why}")
    for loss in project.losses:
        say(f"stagec: note: {visible(loss.file)}:{loss.line}: {loss.key}: {loss.why}")
    for note in project.notes:
        say(f"stagec: note: {note}")
    return Exit.CLEAN


def _write_stage(source: Path, output: Path | None, *, force: bool) -> None:
    """Write the stage to a file or to standard output, and say what could not be converted."""
    text, losses = convert_file(source)
    if output is None:
        put(text)
    elif output.is_dir():
        raise Failure(f"{quote(output)} is a folder; --output names the file to write")
    elif output.exists() and not force:
        raise Failure(f"{quote(output)} exists; --force replaces it")
    else:
        write_file(output, text.encode())
    say("stagec: note: what only you can decide is marked with '# yours to decide'")
    for each in losses:
        say(f"stagec: note: {visible(each.file)}:{each.line}: {each.key}: {each.why}")


@click.command(short_help="Make a new project, minimal or from agent files.")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--system",
    type=OneOf(("pipeline", "registry", "stages")),
    help="The kind of project: stages of models (pipeline, the default), the steps of an agent (registry),"
    " or stages that are processes (stages).",
)
@click.option(
    "--from",
    "source",
    type=ExistingPath(),
    metavar="PATH",
    help="A folder with agent files of Claude Code, Copilot, VS Code, OpenCode or gh-aw, or other Markdown with a"
    " name or a description. A single file gives only a stage definition.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With a single file: write the stage to this file instead of standard output.",
)
@click.option(
    "--entry",
    metavar="NAME",
    help="With a folder: the agent with which a run starts, or a command or skill that becomes the first stage.",
)
@click.option(
    "--format",
    "form",
    type=OneOf(("text", "json")),
    help="With a folder: print the created files and the losses as text (the default) or as JSON.",
)
@click.option("--force", is_flag=True, help="With --output: replace an existing file.")
@click.pass_context
def init(context: click.Context, /, **given: Any) -> None:
    """Make a new project in DIR, by default the current folder, and print the next commands.

    stagec never overwrites a file: if one of the files exists, stagec names it and writes nothing.

    With --from and a folder, the project is a draft of a pipeline: a stage for each agent, and the routes that are
    certain. Comments mark the decisions that you must make. stagec prints a line on standard error for each part of a
    file that the draft does not contain.

    Exit status: 0 written, 2 usage or environment, 3 no usable agent file, 4 internal error.
    """
    context.exit(run(InitRequest(**given)))
