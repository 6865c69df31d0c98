"""`stagec migrate` as asked: find the changes, then list, show or write them, and say what is left to a person."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.commands.migrate.document import write_document
from stagec.cli.commands.migrate.page import count, list_changes, list_decisions
from stagec.cli.files import check_files, create_files, name_from_here, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.patch import print_patch
from stagec.cli.streams import put, put_error, say, show_progress
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import listing
from stagec.migration import Migration, migrate
from stagec.pipeline import Project, judge, list_project_families
from stagec.project.selection import Selection
from stagec.reporters import Report
from stagec.reporters.concise import REPORTER


@value
class MigrateRequest:
    """The arguments and options as given."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    release: str = "1.14"
    write: bool = False
    diff: bool = False
    output_format: str = "text"
    allow_empty: bool = False

    def refuse_contradictions(self) -> None:
        """Raise `Failure` when options cannot be meant together."""
        if self.write and self.diff:
            raise Failure("--write and --diff exclude each other")
        if self.diff and self.output_format != "text":
            raise Failure("--diff prints a patch and no report: it excludes --format")

    def print_found(self, project: Project, found: Migration) -> None:
        """Print what was found, in the format that was asked for."""
        name = name_from_here(project.root)
        if self.output_format == "json":
            put(write_document(found, name, is_written=self.write))
        elif self.diff:
            new = {file: (b"", data) for file, data in found.created.items()}
            old = {file: (found.before[file], after) for file, after in found.after.items()}
            print_patch({name(file): change for file, change in {**old, **new}.items()})
            put_error(list_decisions(found, name, is_written=False))
        else:
            put(list_changes(found, name) + list_decisions(found, name, is_written=self.write))
        if found.unreadable:
            trees = {tree.file: tree for tree in found.unreadable}
            told = judge((), trees, Selection.of(project.settings, list_project_families())).diagnostics
            put_error(REPORTER.render(Report(told, trees=trees, quiet=True, name_file=name)))
            files = listing([name(tree.file) for tree in found.unreadable])
            say(f"left {files} unchanged: only files that can be read are migrated")
        if self.output_format == "text":
            say(count(found, is_written=self.write))


def run(request: MigrateRequest) -> Exit:
    """Do what was asked and return the exit status."""
    request.refuse_contradictions()
    configuration = load_configuration(request.paths, request.root)
    paths = tuple(path.absolute() for path in request.paths)
    project = Project(configuration.root, paths, configuration.settings)
    with show_progress("migrating …"):
        found = migrate(project)
    if not (found.seen or found.unreadable or request.allow_empty):
        named = listing([str(path) for path in project.paths or (project.root,)])
        raise Failure(f"nothing to migrate: {named} holds no registry and no workflow", Exit.NOTHING)
    if request.write:
        check_files(project.root, found.after, found.before)  # everything is written, or nothing
        create_files(project.root, found.created, "migrate again")
        write_files(project.root, found.after, found.before)
    request.print_found(project, found)
    is_left = bool(found.decisions or found.unreadable)
    return Exit.FINDINGS if is_left or (not request.write and (found.after or found.created)) else Exit.CLEAN
