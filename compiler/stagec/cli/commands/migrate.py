"""`stagec migrate`: bring a project to the next release of its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import click

from stagec.change.migration import Migration
from stagec.change.migration import migrate as migrate_texts
from stagec.check.pipeline import Project, judge, list_project_families
from stagec.check.reporters import Report
from stagec.check.reporters.concise import REPORTER
from stagec.cli import options
from stagec.cli.files import check_files, create_files, name_from_here, print_patch, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.parameters import OneOf
from stagec.cli.report import ReportForm
from stagec.cli.sheet import Sheet
from stagec.cli.streams import put_error, say, show_progress
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place, Position, pointer_text
from stagec.core.value import value
from stagec.core.words import format_count, listing, visible
from stagec.ir.plan.codec import Positive, words
from stagec.sources.project.settings import Selection
from stagec.sources.read import BOM

_PLACES = 3
"""How many places of the same change are named."""


@value
class CreatedFile:
    """A file that is new."""

    file: Annotated[str, "The file, from where stagec was called."]
    text: Annotated[str, "Its content."]


@value
class MigratedPlace:
    """A change that has one meaning."""

    file: Annotated[str, "The file, from where stagec was called."]
    pointer: Annotated[str, "A JSON Pointer into the file."]
    what: Annotated[str, "The change there."]


@value
class DecisionPlace:
    """A decision for a person."""

    file: Annotated[str, "The file, from where stagec was called."]
    pointer: Annotated[str, "A JSON Pointer into the file."]
    line: Annotated[Positive, "The line, from 1: of the file as it is, or as it was written."]
    column: Annotated[Positive, "The column, from 1."]
    what: Annotated[str, "The question to decide."]
    proposal: Annotated[str, "Possible decisions."]


@value
class MigrationReport:
    """The changes of a migration, and the decisions for people."""

    to: Annotated[str, "The release that is to be reached.", words("1.14")]
    written: Annotated[bool, "Whether the changes were made."]
    changed: Annotated[tuple[str, ...], "The files that change."]
    created: Annotated[tuple[CreatedFile, ...], "The files that are new."]
    changes: Annotated[tuple[MigratedPlace, ...], "The changes that have one meaning."]
    decisions: Annotated[tuple[DecisionPlace, ...], "The decisions for a person; nothing of them is changed."]
    unreadable: Annotated[tuple[str, ...], "Files that were left alone."]

    @classmethod
    def of(cls, found: Migration, name: Callable[[str], str], *, is_written: bool) -> MigrationReport:
        """Return the report of a migration; `name` names its files relative to the reader's folder."""
        positions = find_positions(found, is_written=is_written)
        decisions = (
            (each, name(each.at.file), pointer_text(each.at.pointer), positions[each.at]) for each in found.decisions
        )
        return cls(
            to="1.14",
            written=is_written,
            changed=tuple(sorted(map(name, found.after))),
            created=tuple(CreatedFile(name(file), data.decode()) for file, data in found.created.items()),
            changes=tuple(
                MigratedPlace(name(each.at.file), pointer_text(each.at.pointer), each.what) for each in found.rewrites
            ),
            decisions=tuple(
                DecisionPlace(file, pointer, at.line, at.column, each.what, each.proposal)
                for each, file, pointer, at in decisions
            ),
            unreadable=tuple(name(tree.file) for tree in found.unreadable),
        )

    def draw(self, sheet: Sheet) -> None:
        """Write the changes and the decisions for people."""
        for line in (*self._list_changes(), *self.list_decisions()):
            sheet.line(line)

    def _list_changes(self) -> Iterator[str]:
        """Yield the certain changes by file, each with the places at which it is made."""
        for file in dict.fromkeys(each.file for each in self.changes):
            yield file
            places: dict[str, list[str]] = {}
            for each in self.changes:
                if each.file == file:
                    places.setdefault(each.what, []).append(each.pointer or "/")
            for what, where in places.items():
                rest = [f"{len(where) - _PLACES} more"] if len(where) > _PLACES else []
                yield f"  {what}: {', '.join((*where[:_PLACES], *rest))}"
        yield from (f"{each.file} (new)" for each in self.created)

    def list_decisions(self) -> Iterator[str]:
        """Yield the decisions for a person: equal questions of a file together, each place with its line."""
        groups: dict[tuple[str, str, str], list[DecisionPlace]] = {}
        for each in self.decisions:
            groups.setdefault((each.file, each.what, each.proposal), []).append(each)
        if groups:
            yield "to decide:"
        for (file, what, proposal), places in groups.items():
            yield from (f"  {file}:{at.line}:{at.column} {at.pointer}".rstrip() for at in places)
            yield f"    {what}"
            yield f"    proposal: {proposal}"

    def count(self) -> str:
        """Return one line about all of it."""
        if not (self.changes or self.decisions or self.unreadable):
            return "nothing to migrate: everything has the form of 1.14"
        verb = "made" if self.written else "to make"
        new = f", {format_count(len(self.created), 'new file')}" if self.created else ""
        made = f"{format_count(len(self.changes), 'change')} {verb} in {format_count(len(self.changed), 'file')}{new}"
        return f"{made}; {format_count(len(self.decisions), 'decision')} left to you"


FORM = ReportForm("migration", "migrate", MigrationReport)


def find_positions(found: Migration, *, is_written: bool) -> dict[Place, Position]:
    """Return the positions of decisions in their files, as they were or as they have been written."""
    wanted: dict[str, list[Place]] = {}
    for each in found.decisions:
        wanted.setdefault(each.at.file, []).append(each.at)
    positions: dict[Place, Position] = {}
    for file, places in wanted.items():
        tree = found.trees[file]
        data = found.after[file].removeprefix(BOM) if is_written and file in found.after else tree.data
        positions |= {at: span.start for at, span in tree.format.locate(data, places).items()}
    return positions


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
        report = MigrationReport.of(found, name, is_written=self.write)
        if self.diff:
            new = {file: (b"", data) for file, data in found.created.items()}
            old = {file: (found.before[file], after) for file, after in found.after.items()}
            print_patch({name(file): change for file, change in {**old, **new}.items()})
            put_error("".join(f"{visible(line)}\n" for line in report.list_decisions()))
        else:
            FORM.put(report, self.output_format)
        if found.unreadable:
            trees = {tree.file: tree for tree in found.unreadable}
            told = judge((), trees, Selection.of(project.settings, list_project_families())).diagnostics
            put_error(REPORTER.render(Report(told, trees=trees, quiet=True, name_file=name)))
            say(f"left {listing(report.unreadable)} unchanged: only files that can be read are migrated")
        if self.output_format == "text":
            say(report.count())


def run(request: MigrateRequest) -> Exit:
    """Do what was asked and return the exit status."""
    request.refuse_contradictions()
    configuration = load_configuration(request.paths, request.root)
    paths = tuple(path.absolute() for path in request.paths)
    project = Project(configuration.root, paths, configuration.settings)
    with show_progress("migrating …"):
        found = migrate_texts(project)
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


@click.command(short_help="Convert registries, agents and workflows to the format of climpt 1.14.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option("--to", "release", type=OneOf(["1.14"]), default="1.14", show_default=True, help="The release to reach.")
@click.option("--write", is_flag=True, help="Change the files, and write the new ones.")
@click.option(
    "--diff", is_flag=True, help="Write nothing; print the changes as a patch, and exit with 1 if there are any."
)
@options.output_format("text", "json", default="text")
@options.allow_empty
@click.pass_context
def migrate(context: click.Context, /, **given: Any) -> None:
    """List the changes that the registries, agents and workflows in PATHS, or in the configured roots, need.

    --write makes the unambiguous changes, --diff prints them as a patch; without either, stagec lists them. It lists
    each decision that you must make with its place and a proposal, and does not change it. The tools of an agent move
    to a new settings file; stagec never overwrites an existing file.

    Exit status: 0 nothing left to do, 1 changes or decisions left, 2 usage or environment, 3 nothing to migrate, 4
    internal error.
    """
    context.exit(run(MigrateRequest(**given)))
