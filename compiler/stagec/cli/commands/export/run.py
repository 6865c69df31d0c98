"""Write the stages of a project as agent files, and say what they do not say."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.files import create_files, name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.streams import put, say
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import format_count, quote, visible
from stagec.creation.exporting import export_stages
from stagec.creation.owners import OWNERS
from stagec.pipeline import Project, read_documents


@value
class ExportRequest:
    """The arguments and options as given; None where one is absent."""

    path: Path
    owner: str
    output: Path | None = None


def run(request: ExportRequest) -> Exit:
    """Write what was asked for, and return the exit status."""
    configuration = load_configuration((request.path,), None)
    project = Project(configuration.root, (request.path.absolute(),), configuration.settings)
    owner = OWNERS[request.owner]
    made = export_stages(read_documents(project), owner)
    if not made.files:
        raise Failure(f"nothing to export: {quote(request.path)} holds no stage that can be read", Exit.NOTHING)
    folder = request.output if request.output is not None else Path(owner.folder)
    create_files(folder, made.files)
    put(f"Created {format_count(len(made.files), 'file')} in {quote(folder)}:\n")
    put("".join(f"  {visible(file)}\n" for file in sorted(made.files)))
    name = name_from_here(project.root)
    for each in made.losses:
        say(f"stagec: note: {visible(name(each.file))}:{each.line}: {each.key}: {each.why}")
    return Exit.CLEAN
