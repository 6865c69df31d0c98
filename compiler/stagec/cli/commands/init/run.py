"""Write a new project, or one stage, and say how to go on."""

from __future__ import annotations

import json
from pathlib import Path

from stagec.cli.commands.init.report import describe, make_report
from stagec.cli.files import create_files, write_file
from stagec.cli.streams import put, say
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import quote, visible
from stagec.creation.conversion import convert_file
from stagec.creation.new_project import NewProject, read_starter

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
            raise Failure("--from always makes a pipeline: --system cannot be another system")
        if is_one and self.folder is not None:
            raise Failure(
                "--from with a single file makes only a stage, and takes no DIR: --output names the file of the stage"
            )
        if (self.source is None or is_one) and (self.entry is not None or self.form is not None):
            raise Failure("--entry and --format are for --from with a folder")
        if not is_one and (self.output is not None or self.force):
            raise Failure("--output and --force are for --from with a single file; DIR names the folder of a project")

    def make(self) -> NewProject:
        """Return the project that was asked for."""
        if self.source is None:
            return read_starter(self.system or _DEFAULT)
        from stagec.creation.conversion import Conversion  # compiles what it makes

        return Conversion(self.source, self.folder or Path(), self.entry).convert()


def run(request: InitRequest) -> Exit:
    """Write what was asked for, and return the exit status."""
    request.refuse_contradictions()
    if request.source is not None and not request.source.is_dir():
        _write_stage(request.source, request.output, force=request.force)
        return Exit.CLEAN
    project = request.make()
    folder = request.folder or Path()
    create_files(folder, project.files)
    if request.form == "json":
        put(f"{json.dumps(make_report(folder, project), indent=2, ensure_ascii=False)}\n")
        return Exit.CLEAN
    put("".join(f"{visible(line)}\n" for line in describe(folder, project)))
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
