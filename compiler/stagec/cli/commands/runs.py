"""`stagec runs`: list, show, record and export stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options as general
from stagec.cli.parameters import Group
from stagec.cli.running import options

COMMAND = Group(
    "runs",
    help="List, show, record and export stored runs.",
    short_help="List, show, record and export runs.",
)


@COMMAND.subcommand("list", "List the stored runs.")
@options.runs
@options.database
@general.output_format("text", "json", default="text")
def _list(runs: Path, output_format: str, database: str | None) -> None:
    """List the stored runs: whether each has ended or can be resumed, and its progress."""
    from stagec.cli.databases.run_sources import list_statuses
    from stagec.cli.running.history import list_runs

    list_runs(*list_statuses(runs, database), output_format)


@COMMAND.subcommand("show", "Print the events of a run.")
@options.run
@options.runs
@options.database
@click.option("--places", is_flag=True, help="Print the places from which 'stagec resume --from' continues.")
@general.output_format("text", "json", default="text")
def _show(run: str, runs: Path, output_format: str, database: str | None, *, places: bool) -> None:
    """Print the events of RUN: the time in UTC, each request, its answer, and the next node.

    With --format json, print what 'stagec runs export' prints, and when each request began and was answered.
    """
    from stagec.cli.databases.run_sources import read_named
    from stagec.cli.running.history import show_history

    if places:
        from stagec.cli.running.resume_request import show_places

        if database is not None:
            raise click.UsageError("--places is for runs in a folder: a run in a database cannot be taken back")
        name, stored = read_named(run, runs, database)
        show_places(name, stored.history, output_format)
        return
    show_history(*read_named(run, runs, database), output_format)


@COMMAND.subcommand("export", "Print a run as JSON, or send it.")
@options.run
@options.runs
@options.database
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a run of a database as the journal of a run in a folder: its name ends in '.run'.",
)
@click.option(
    "--otlp",
    is_flag=False,
    flag_value="",
    metavar="[URL]",
    help="Send spans and metrics to this collector, by default the one of OTEL_EXPORTER_OTLP_ENDPOINT,"
    " else http://localhost:4318. Write it after RUN.",
)
@click.option("--messages", is_flag=True, help="With --otlp, also send the inputs and answers of models and tools.")
def _export(run: str, runs: Path, otlp: str | None, database: str | None, **more: Any) -> None:
    """Print RUN as JSON: the digest of its plan, and every event with its answer.

    The output cannot be resumed. To copy a run, copy its one file, .stagec/runs/RUN.run, at any moment.

    With --journal, write a run of a database as such a file, which 'stagec resume' continues.

    With --otlp, send spans and metrics of the run to an OpenTelemetry collector instead.
    """
    from stagec.cli.databases.run_sources import read_named

    if otlp is not None:
        from stagec.cli.running.telemetry import read_address, send_stored

        address = read_address(otlp)
        send_stored(*read_named(run, runs, database), address, messages=more["messages"])
        return
    if more["journal"] is not None:
        from stagec.cli.databases.administration import write_journal

        if database is None:
            raise click.UsageError("--journal writes the run of a --database; a run of a folder is its file")
        write_journal(run, more["journal"], database)
        return
    from stagec.cli.running.history import export_run

    export_run(*read_named(run, runs, database))


@COMMAND.subcommand("record", "Convert a run into a test of its flow.")
@options.run
@options.runs
@options.database
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="The new file, ending in '.flow-test.yaml'. By default standard output.",
)
def _record(run: str, runs: Path, output: Path | None, database: str | None) -> None:
    """Convert RUN into a test of its flow, with its answers and results; 'stagec test' runs it without a model.

    The test has the answers of models, tools, people, commands and stages, without secrets, and expects the outcome,
    the path, results and calls. Standard error lists what the test cannot express.
    """
    from stagec.cli.databases.run_sources import read_named
    from stagec.cli.running.recording import record

    record(*read_named(run, runs, database), output)


@COMMAND.subcommand("import", "Import a run from a folder into a database.")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@options.database
def _import(path: Path, database: str | None) -> None:
    """Copy the run in FILE, which ends in '.run', into a database, where workers continue it."""
    from stagec.cli.databases.administration import import_run

    import_run(path, database)
