"""`stagec format`: the documents of a project in one order and layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options


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
    from stagec.cli.commands.format.run import FormatRequest, run

    context.exit(run(FormatRequest(**given)))
