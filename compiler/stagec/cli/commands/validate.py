"""`stagec validate`: what is wrong with the files of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.check import reporters
from stagec.cli import options
from stagec.cli.completions import complete_output
from stagec.core.nearest import NameIndex, hint
from stagec.core.shelf import names
from stagec.core.words import quote


def _split_outputs(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[str | None, Path], ...]:
    """Return each file with its format; what stands before a colon and is not a format is a part of the file's name.

    A misspelt format is refused, for else the report would be in a file that nobody looks for.
    """
    pairs = [(each, each.partition(":")) for each in given]
    known = names(reporters)
    for each, (form, _, file) in pairs:
        near = hint(form, NameIndex(known)) if file and form not in known else ""
        if near:
            raise click.BadParameter(f"{quote(form)} is not a format{near} {quote(f'./{each}')} is a file")
    return tuple(
        (form, Path(file)) if form in known and file else (None, Path(each)) for each, (form, _, file) in pairs
    )


@click.command(short_help="Check a project and report every mistake with its location.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@options.root
@options.select
@options.extend_select
@options.ignore
@options.output_format(*names(reporters), default=None)
@options.fail_on
@click.option("--strict", is_flag=True, help="Report tolerated violations of a format's specification as errors.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes, then report the remaining findings.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff, also apply the fixes that are guesses.")
@click.option(
    "--diff", is_flag=True, help="Print the changes of --fix as a patch; write nothing; exit with 1 if there are any."
)
@click.option("--baseline", type=click.Path(path_type=Path), help="Accept the findings in this file.")
@click.option("--no-baseline", is_flag=True, help="Also report the findings that the configured baseline accepts.")
@click.option("--statistics", is_flag=True, help="Also count the findings of every rule.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="[FORMAT:]FILE",
    callback=_split_outputs,
    shell_complete=complete_output,
    help="Write the report to a file; with a format, write an additional report. Repeatable.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.option("--stdin-filename", metavar="NAME", help="The path of the file whose text `-` reads.")
@options.allow_empty
@click.option("--no-cache", is_flag=True, help="Ignore the cached result, and cache none.")
@click.option("--cache-dir", type=click.Path(path_type=Path), help="The folder of cached results.")
@options.watch
@click.pass_context
def validate(context: click.Context, /, **given: Any) -> None:
    """Check the agents, stages, pipelines and tools in PATHS, or in the configured roots.

    PATHS are folders and files. `-` reads one file from standard input; stagec reads all other files from disk.

    Exit status: 0 no findings, 1 findings at or above --fail-on, 2 usage or environment, 3 nothing to check, 4 internal
    error.
    """
    from stagec.cli.checking import ValidateRequest, run

    context.exit(run(ValidateRequest(**given)))
