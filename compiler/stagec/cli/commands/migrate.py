"""`stagec migrate`: bring a project to the next release of its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from stagec.change.migration import Migration
from stagec.change.migration import migrate as migrate_texts
from stagec.check.pipeline import Project, judge, list_project_families
from stagec.check.reporters import Report
from stagec.check.reporters.concise import REPORTER
from stagec.cli import options
from stagec.cli.files import check_files, create_files, name_from_here, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.parameters import OneOf
from stagec.cli.patch import print_patch
from stagec.cli.report import dump_document
from stagec.cli.streams import put, put_error, say, show_progress
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place, Pointer, Position, pointer_text
from stagec.core.value import value
from stagec.core.words import format_count, listing, visible
from stagec.sources.project.settings import Selection
from stagec.sources.read import BOM

_PLACES = 3
"""How many places of the same change are named."""


def list_changes(found: Migration, name: Callable[[str], str]) -> str:
    """Return the certain changes by file, each with the places at which it is made."""
    lines: list[str] = []
    for file in dict.fromkeys(each.at.file for each in found.rewrites):
        lines.append(visible(name(file)))
        places: dict[str, list[Pointer]] = {}
        for each in found.rewrites:
            if each.at.file == file:
                places.setdefault(each.what, []).append(each.at.pointer)
        lines += [f"  {visible(what)}: {', '.join(_shorten(where))}" for what, where in places.items()]
    lines += [f"{visible(name(file))} (new)" for file in found.created]
    return "".join(f"{line}\n" for line in lines)


def _shorten(where: list[Pointer]) -> Iterator[str]:
    yield from (visible(pointer_text(each)) or "/" for each in where[:_PLACES])
    if len(where) > _PLACES:
        yield f"{len(where) - _PLACES} more"


def list_decisions(found: Migration, name: Callable[[str], str], *, is_written: bool) -> str:
    """Return what a person must decide: equal questions of a file together, each place with its line."""
    groups: dict[tuple[str, str, str], list[Place]] = {}
    for each in found.decisions:
        groups.setdefault((each.at.file, each.what, each.proposal), []).append(each.at)
    if not groups:
        return ""
    positions = find_positions(found, is_written=is_written)
    lines = ["to decide:"]
    for (file, what, proposal), places in groups.items():
        for at in places:
            row = f"{positions[at].line}:{positions[at].column} {visible(pointer_text(at.pointer))}"
            lines.append(f"  {visible(name(file))}:{row}".rstrip())
        lines += [f"    {visible(what)}", f"    proposal: {visible(proposal)}"]
    return "".join(f"{line}\n" for line in lines)


def find_positions(found: Migration, *, is_written: bool) -> dict[Place, Position]:
    """Return where the places of decisions are in their files, as they were or as they have been written."""
    wanted: dict[str, list[Place]] = {}
    for each in found.decisions:
        wanted.setdefault(each.at.file, []).append(each.at)
    positions: dict[Place, Position] = {}
    for file, places in wanted.items():
        tree = found.trees[file]
        data = found.after[file].removeprefix(BOM) if is_written and file in found.after else tree.data
        positions |= {at: span.start for at, span in tree.format.locate(data, places).items()}
    return positions


def count(found: Migration, *, is_written: bool) -> str:
    """Return one line about all of it."""
    if not (found.rewrites or found.decisions or found.unreadable):
        return "nothing to migrate: everything has the form of 1.14"
    verb = "made" if is_written else "to make"
    new = f", {format_count(len(found.created), 'new file')}" if found.created else ""
    made = f"{format_count(len(found.rewrites), 'change')} {verb} in {format_count(len(found.after), 'file')}{new}"
    return f"{made}; {format_count(len(found.decisions), 'decision')} left to you"


def write_document(found: Migration, name: Callable[[str], str], *, is_written: bool) -> str:
    """Return the document."""
    positions = find_positions(found, is_written=is_written)
    whole = {
        "version": 1,
        "to": "1.14",
        "written": is_written,
        "changed": sorted(map(name, found.after)),
        "created": [{"file": name(file), "text": data.decode()} for file, data in found.created.items()],
        "changes": [{**_write_place(each.at, name), "what": each.what} for each in found.rewrites],
        "decisions": [
            {
                **_write_place(each.at, name),
                "line": positions[each.at].line,
                "column": positions[each.at].column,
                "what": each.what,
                "proposal": each.proposal,
            }
            for each in found.decisions
        ],
        "unreadable": [name(tree.file) for tree in found.unreadable],
    }
    return dump_document(whole)


def _write_place(at: Place, name: Callable[[str], str]) -> dict[str, str]:
    return {"file": name(at.file), "pointer": pointer_text(at.pointer)}


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
