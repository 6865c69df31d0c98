"""`stagec runs`: list, show, record and export stored runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from stagec.cli import options as general
from stagec.cli.parameters import Group
from stagec.cli.running import options


def _list(runs: Path, output_format: str, database: str | None) -> None:
    """List the stored runs: whether each has ended or can be resumed, and its progress."""
    from stagec.cli.databases.run_sources import list_statuses
    from stagec.cli.running.history import list_runs

    list_runs(*list_statuses(runs, database), output_format)


def _show(run: str, runs: Path, database: str | None) -> None:
    """Print the events of RUN: each request, its answer, and where it led."""
    from stagec.cli.databases.run_sources import read_named
    from stagec.cli.running.history import show_history

    show_history(*read_named(run, runs, database))


def _export(run: str, runs: Path, otlp: str | None, database: str | None, **more: Any) -> None:
    """Print RUN as JSON: the digest of its plan, and every event with its answer.

    The output cannot be resumed. To copy a run, copy its one file, .stagec/runs/RUN.run, at any moment.

    With --journal, write a run of a database as such a file, which 'stagec resume' continues.

    With --otlp, send it to a collector of OpenTelemetry instead: spans and figures.
    """
    from stagec.cli.databases.run_sources import read_named

    if otlp is not None:
        from stagec.cli.running.telemetry import read_address, send_stored

        address = read_address(otlp)
        send_stored(*read_named(run, runs, database), address, messages=more["messages"])
        return
    if more["journal"] is not None:
        from stagec.cli.databases.moving import write_journal

        if database is None:
            raise click.UsageError("--journal writes the run of a --database; a run of a folder is its file")
        write_journal(run, more["journal"], database)
        return
    from stagec.cli.running.history import export_run

    export_run(*read_named(run, runs, database))


def _record(run: str, runs: Path, output: Path | None, database: str | None) -> None:
    """Turn RUN into a test of its flow, with its answers and its results; 'stagec test' runs it without a model.

    The test has the answers of models, tools, people, commands and stages, without secrets, and expects the outcome,
    the path, results and calls. Standard error names what no test can express.
    """
    from stagec.cli.databases.run_sources import read_named
    from stagec.cli.running.recording import record

    record(*read_named(run, runs, database), output)


_OUTPUT = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Where to write: FILE ends in '.flow-test.yaml' and must not exist. By default standard output.",
)
_OTLP = click.option(
    "--otlp",
    is_flag=False,
    flag_value="",
    metavar="[URL]",
    help="Send spans and figures to this collector, by default the one of OTEL_EXPORTER_OTLP_ENDPOINT,"
    " else http://localhost:4318. Write it behind RUN.",
)
_MESSAGES = click.option(
    "--messages", is_flag=True, help="With --otlp, also send the inputs and answers of models and tools."
)


_JOURNAL = click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a run of a database as the journal of a run in a folder: its name ends in '.run'.",
)


def _import(path: Path, database: str | None) -> None:
    """Copy the run in FILE, which ends in '.run', into a database, where workers continue it."""
    from stagec.cli.databases.moving import import_run

    import_run(path, database)


def _sending(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a run that is sent."""
    return options.run(options.runs(options.database(_JOURNAL(_OTLP(_MESSAGES(command))))))


def _commands() -> list[click.Command]:
    """Make the subcommands; a module of the shelf names one command only."""
    formats = general.output_format("text", "json", default="text")
    return [
        click.command("list", short_help="List the stored runs.")(options.runs(options.database(formats(_list)))),
        click.command("show", short_help="Print what has happened in a run.")(
            options.run(options.runs(options.database(_show)))
        ),
        click.command("import", short_help="Take a run of a folder over into a database.")(
            click.argument("path", metavar="FILE", type=click.Path(path_type=Path))(options.database(_import))
        ),
        click.command("record", short_help="Turn a run into a test of its flow.")(
            options.run(options.runs(options.database(_OUTPUT(_record))))
        ),
        click.command("export", short_help="Print a run as JSON, or send it.")(_sending(_export)),
    ]


COMMAND = Group(
    "runs",
    commands=_commands(),
    help="List, show, record and export stored runs.",
    short_help="List, show, record and export runs.",
)
