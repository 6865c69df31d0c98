"""`stagec format`: the documents of a project in one order and layout."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from stagec.check.formatting import FormattedFile, format_file, is_laid_out
from stagec.check.pipeline import Project, judge, list_project_families, read_trees
from stagec.check.reporters import Report
from stagec.check.reporters.concise import REPORTER
from stagec.cli import options
from stagec.cli.files import STDIN, name_from_here, print_patch, read_file, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.streams import put, put_bytes, put_error, say, show_progress
from stagec.core.failure import Exit, Failure
from stagec.core.value import NOTHING, value
from stagec.core.words import format_count, listing, quote, visible
from stagec.sources.project.settings import Selection
from stagec.sources.tree import Tree


@value
class FormatRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    check: bool = False
    diff: bool = False
    quiet: bool = False
    stdin_filename: str | None = None
    allow_empty: bool = False

    @property
    def is_of_stream(self) -> bool:
        """Whether standard input is formatted."""
        return STDIN in self.paths

    def find_targets(self) -> tuple[Path, ...]:
        """Return the paths to look at; raise `Failure` when options cannot be meant together."""
        if not self.is_of_stream:
            if self.stdin_filename is not None:
                raise Failure("--stdin-filename needs '-' among the paths")
            return self.paths
        if self.paths != (STDIN,):
            raise Failure("'-' formats only standard input: leave out the other paths")
        if self.stdin_filename is None:
            raise Failure("'-' needs --stdin-filename, the name of the file that the text stands for")
        return (Path(self.stdin_filename),)

    def read_overlay(self, root: Path) -> Mapping[str, bytes]:
        """Return the text on standard input by the project file that it stands for."""
        if not self.is_of_stream:
            return NOTHING
        target = Path(self.stdin_filename or "-").absolute()
        path = target.parent.resolve() / target.name
        if not path.is_relative_to(root.resolve()):
            raise Failure(f"--stdin-filename lies outside the project {str(root)!r}")
        return {path.relative_to(root.resolve()).as_posix(): read_file(STDIN, "file-size")}

    def write(self, project: Project, changes: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Write the changes, show them, or name their files."""
        name = name_from_here(project.root)
        if self.diff:
            print_patch({name(file): change for file, change in changes.items()})
            return
        if not self.check:
            before = {file: data for file, (data, _) in changes.items()}
            write_files(project.root, {file: data for file, (_, data) in changes.items()}, before)
        word = "would format" if self.check else "formatted"
        put("".join(f"{word} {visible(name(file))}\n" for file in changes))

    def say_counts(self, result: FormattedProject) -> None:
        """Say how many files change, and how many stay as they are."""
        changed = len(result.changes)
        done = "would be formatted" if self.check or self.diff else "formatted"
        left = format_count(len(result.files) - changed, "file")
        say(
            f"{format_count(changed, 'file')} {done}, {left} left as {'it is' if left.startswith('1 ') else 'they are'}"
        )


@value
class FormattedProject:
    """The requested files of a project after formatting: those that can be read, and those that cannot."""

    files: tuple[FormattedFile, ...]
    unreadable: tuple[Tree, ...]

    @property
    def changes(self) -> Mapping[str, tuple[bytes, bytes]]:
        """The files that change, before and after."""
        return {each.file: (each.before, each.after) for each in self.files if each.after != each.before}

    def put_text(self, overlay: Mapping[str, bytes]) -> None:
        """Print the text from standard input: formatted, unchanged if it is no document, nothing if it is broken."""
        if self.unreadable:
            return
        formatted = {each.file: each.after for each in self.files}
        for file, data in overlay.items():
            put_bytes(formatted.get(file, data))


def format_project(project: Project, *, is_of_stream: bool) -> FormattedProject:
    """Lay out the files of a project that lie at or in its paths, each once, whatever links lead to it."""
    top = os.path.realpath(project.root)
    named = [os.path.realpath(path) for path in project.paths]
    files: dict[str, FormattedFile] = {}
    unreadable: list[Tree] = []
    for tree in read_trees(project):
        real = os.path.realpath(os.path.join(top, tree.file))
        file = tree.file if is_of_stream else os.path.relpath(real, top).replace(os.sep, "/")
        is_named = not named or any(real == each or real.startswith(each.rstrip(os.sep) + os.sep) for each in named)
        if not is_named or not is_laid_out(tree) or file in files:
            continue
        if tree.readable:
            files[file] = format_file(file, tree, project.settings.budgets)
        else:
            unreadable.append(tree)
    return FormattedProject(tuple(files.values()), tuple(unreadable))


def run(request: FormatRequest) -> Exit:
    """Do what was asked and return the exit status."""
    targets = request.find_targets()
    configuration = load_configuration(targets, request.root)
    overlay = request.read_overlay(configuration.root)
    paths = tuple(path.absolute() for path in targets)
    project = Project(configuration.root, paths, configuration.settings, overlay)
    with show_progress("formatting …"):
        result = format_project(project, is_of_stream=request.is_of_stream)
    if not (result.files or result.unreadable or request.allow_empty or request.is_of_stream):
        named = listing([os.path.relpath(path) for path in paths or (project.root,)])
        raise Failure(f"nothing to format: {named} holds no document of stagec", Exit.NOTHING)
    _explain_what_stays(project, result)
    if request.is_of_stream and not (request.check or request.diff):
        result.put_text(overlay)
    else:
        request.write(project, result.changes)
    if not request.quiet:
        request.say_counts(result)
    writes_nothing = request.check or request.diff
    return Exit.FINDINGS if result.unreadable or (writes_nothing and result.changes) else Exit.CLEAN


def _explain_what_stays(project: Project, result: FormattedProject) -> None:
    name = name_from_here(project.root)
    for each in result.files:
        if each.unusual:
            say(f"left {quote(name(each.file))} as it is: line {each.unusual} has a form that stagec does not lay out")
    if result.unreadable:
        trees = {tree.file: tree for tree in result.unreadable}
        found = judge((), trees, Selection.of(project.settings, list_project_families())).diagnostics
        put_error(REPORTER.render(Report(found, trees=trees, quiet=True, name_file=name)))
        files = listing([name(tree.file) for tree in result.unreadable])
        say(f"left {files} unchanged: only files that can be read are formatted")


@click.command("format", short_help="Order the members of documents, and use one layout.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@options.root
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change, and exit with 1.")
@click.option("--diff", is_flag=True, help="Write nothing; print the changes as a patch, and exit with 1.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the names of files.")
@click.option("--stdin-filename", metavar="NAME", help="The path of the file whose text `-` reads.")
@options.allow_empty
@click.pass_context
def lay_out(context: click.Context, /, **given: Any) -> None:
    """Format the registries, stages, pipelines, plans and catalogues in PATHS, or in the configured roots.

    PATHS are folders and files. `-` formats one file from standard input to standard output. Comments, unknown members,
    texts of numbers and the bodies of Markdown files do not change. The meaning of a document never changes.

    Exit status: 0 all are formatted, 1 some would change or cannot be read, 2 usage or environment, 3 nothing to
    format, 4 internal error.
    """
    context.exit(run(FormatRequest(**given)))
