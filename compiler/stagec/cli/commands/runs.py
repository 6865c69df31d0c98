"""`stagec runs`: list, show and steer runs, answer their questions, and copy them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stagec.cli import options as general
from stagec.cli.parameters import Group
from stagec.cli.running import options

if TYPE_CHECKING:
    from stagec.runtime.drivers.local import Journal

COMMAND = Group(
    "runs",
    help="List, show and steer runs, answer their questions, and copy them.",
    short_help="List, show, answer, pause, cancel and copy runs.",
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
            raise click.UsageError(
                "--places excludes --database: a run in a database cannot continue from an earlier place"
            )
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


@COMMAND.subcommand("questions", "List the waiting questions of runs.")
@click.argument("run", required=False, shell_complete=options.complete_run)
@options.runs
@options.database
@general.output_format("text", "json", default="text")
def _questions(run: str | None, runs: Path, output_format: str, database: str | None) -> None:
    """List the questions of RUN that wait for an answer, or of all runs.

    `stagec runs answer` answers them. If no process executes the run, the question is asked again when the run is
    resumed. An answer that you send before that waits.

    Exit status: 0 success, also without questions; 2 usage or environment, 4 internal error.
    """
    from stagec.cli.running.steered_runs import list_asked, list_questions

    if database is not None:
        from stagec.cli.databases import signals

        list_questions(signals.list_asked(run, database), output_format)
    else:
        list_questions(list_asked(run, runs), output_format)


@COMMAND.subcommand("answer", "Answer a question of a run.")
@options.run
@click.argument("words", nargs=-1, required=True, metavar="[KEY] yes|no", shell_complete=options.complete_answer)
@options.runs
@options.database
@click.pass_context
def _answer(context: click.Context, run: str, words: tuple[str, ...], runs: Path, database: str | None) -> None:
    """Answer the question of RUN with this KEY; you can omit KEY if only one question waits.

    `stagec runs questions` lists the questions with their keys. The first answer counts, wherever it comes from.

    Exit status: 0 the answer counts, 1 another answer came first, 2 usage or environment, or no question waits, 4
    internal error.
    """
    from stagec.cli.running.steered_runs import give_answer, list_asked, send_locally

    if database is not None:
        from stagec.cli.databases import signals

        asked = partial(signals.list_asked, run, database)
        context.exit(give_answer(run, asked, partial(signals.send_answer, run, database), words))
    context.exit(give_answer(run, partial(list_asked, run, runs), send_locally(run, runs), words))


@COMMAND.subcommand("pause", "Interrupt a run that another process executes.")
@options.run
@options.runs
@options.database
def _pause(run: str, runs: Path, database: str | None) -> None:
    """Ask the process that executes RUN to stop, as Ctrl-C does; `stagec resume` continues it.

    The process stops the open requests; `stagec resume` makes them again.

    Exit status: 0 the process will stop, 2 usage or environment, or no process executes the run, 4 internal error.
    """
    from stagec.cli.running.runs import Runs, name_of
    from stagec.cli.running.steered_runs import ask_to_end
    from stagec.core.failure import Failure
    from stagec.core.words import quote
    from stagec.runtime.drivers.messages import MessageKind

    if database is not None:
        from stagec.cli.databases import signals

        signals.ask_to_end(run, database, MessageKind.PAUSE)
        return
    path = Runs(runs).find(run)
    if not ask_to_end(path, MessageKind.PAUSE):
        raise Failure(f"no process executes run {quote(name_of(path))}: there is nothing to pause")


@COMMAND.subcommand("cancel", "End a run so that it cannot be resumed.")
@options.run
@options.runs
@options.database
def _cancel(run: str, runs: Path, database: str | None) -> None:
    """Cancel RUN, the name of a run or its file: it ends as failed and cannot be resumed.

    If another process executes the run, stagec asks it to end; that process ends its programs first.

    Exit status: 0 the run is cancelled, or will end; 2 usage or environment, or the run has already ended; 4 internal
    error.
    """
    from contextlib import closing

    from stagec.cli.running.runs import Runs, open_run
    from stagec.cli.running.steered_runs import ask_to_end
    from stagec.runtime.drivers.messages import MessageKind

    if database is not None:
        from stagec.cli.databases import signals

        signals.ask_to_end(run, database, MessageKind.CANCEL)
        return
    path = Runs(runs).find(run)
    if ask_to_end(path, MessageKind.CANCEL):
        return
    with closing(open_run(path)) as journal:
        _end(path, journal)


def _end(path: Path, journal: Journal) -> None:
    from stagec.cli.running.inputs import load_program
    from stagec.cli.running.run_session import RunSetup, execute
    from stagec.cli.running.runs import name_of
    from stagec.cli.running.stages import choose_reporter
    from stagec.cli.running.worlds import make_closed_world, watch_mail
    from stagec.core.failure import Failure
    from stagec.core.words import quote
    from stagec.runtime.drivers.replay import fold_run
    from stagec.runtime.machine import Cancelled

    name = quote(name_of(path))
    begun = load_program(journal.history.plan, f"the plan of run {name}")
    program, state = fold_run(begun, journal.history.events)
    if state.ended is not None:
        raise Failure(f"run {name} has ended as {state.ended}: there is nothing to cancel")
    reporter = choose_reporter(program.plan, None)
    execute(RunSetup(path, journal, program, make_closed_world(), reporter, watch_mail(path)), Cancelled())


@COMMAND.subcommand("replay", "Compute a run again from its journal, and compare.")
@options.run
@options.runs
@options.database
@click.pass_context
def _replay(context: click.Context, run: str, runs: Path, database: str | None) -> None:
    """Compute the states of RUN from its journal, twice, and compare the results of every event.

    `replay` asks no model, calls no tool and runs no command. For every event, the journal has the digest of the
    requests and trace events that followed, and sometimes of the whole state. `replay` compares these digests.

    Exit status: 0 equal, 1 different, 2 usage or environment, 4 internal error.
    """
    from stagec.cli.databases.run_sources import read_named
    from stagec.cli.running.history import compare_replay

    context.exit(compare_replay(*read_named(run, runs, database)))
