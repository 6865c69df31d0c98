"""`stagec resume`: resume a run that was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from stagec.cli.options import output_format
from stagec.cli.parameters import OneOf, SectionedCommand
from stagec.cli.running import options
from stagec.cli.running.world_options import takes_world


@click.command(cls=SectionedCommand, short_help="Resume a run that was interrupted.")
@options.run
@click.option(
    "--plan",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="PLAN",
    help="Continue with this plan from now on, if the run can.",
)
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE",
    help="With --plan: accept breaking changes with this code; repeatable.",
)
@click.option(
    "--again",
    multiple=True,
    metavar="NODE",
    help="With --plan: stop the open execution of this node, and start it again.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE|@FILE",
    help="With --plan: an input that the run does not have, or a JSON file with inputs, as in 'stagec run'.",
)
@click.option(
    "--from",
    "origin",
    metavar="NODE[#VISIT]",
    help="Continue from the beginning of this execution, by default the last one of the node; also after the end.",
)
@click.option("--fork", metavar="NAME", help="Leave RUN as it is, and continue as a new run with the same past.")
@click.option("--dry-run", is_flag=True, help="Only print whether the run could continue, and with which plan.")
@output_format("text", "json", default="text")
@options.runs
@options.database
@click.option(
    "--consent",
    multiple=True,
    metavar="STAGE",
    help="Run a stage again that has started and is not retryable; repeatable.",
)
@click.option(
    "--trust",
    type=OneOf(["imported", "untrusted"]),
    default="imported",
    show_default=True,
    help="The lowest accepted trust level of checkpoints.",
)
@takes_world
@click.pass_context
def resume(context: click.Context, /, **given: Any) -> None:
    r"""Resume RUN, the name of a run or its file, where it was interrupted.

    Requests without an answer are made again. The plan is in the journal. The scenario and the world are those with
    which the run started, unless you give others.

    With --plan the run continues with another plan, if that plan can continue its state. If not, stagec prints the
    reasons, with the codes of 'stagec breaking'. The journal keeps the new plan and its new inputs.

    With --from the run continues from an earlier place, also after it has ended. The journal keeps what happened since
    then, and its tokens and cost still count. 'stagec runs show RUN --places' lists the places. With --fork, the
    continuation is a new run.

    A run in a --database continues when a worker takes it, with another --plan if you give one. Workers have their own
    options for the world.

    A stage plan continues from its checkpoints, also after the run has failed. stagec first verifies what stages
    have published. A stage runs again if its results are missing or differ from the record.

    Exit status: 0 the run has ended as done, or could continue; 1 it has failed, or cannot continue with --plan;
    2 usage or environment or no answer, 4 internal error, 130 interrupted or the provider is down (143 by SIGTERM).

    \b
    Examples:
      stagec resume docs-1
      stagec resume docs-1 --plan new.plan.json --dry-run --format json
      stagec resume docs-1 --plan new.plan.json --input tone=brief
      stagec resume docs-1 --from review#2 --fork docs-2
    """
    from stagec.cli.running.resume_request import ResumeRequest, resume

    database = given.pop("database")
    if database is not None:
        if given["origin"] is not None or given["fork"] is not None:
            told = "copies it, and 'stagec resume FILE.run --from NODE' continues the copy on this machine"
            why = "--from and --fork are for runs in a folder, because workers read the events of a run only forwards"
            raise click.UsageError(f"{why}: 'stagec runs export RUN --database URL --journal FILE.run' {told}")
        from stagec.cli.databases import signals

        own = {"run", "database", "plan", "allow", "again", "inputs", "dry_run", "output_format"}
        named = (each for each in context.command.params if each.name not in own)
        given_as = {each: context.get_parameter_source(str(each.name)) for each in named}
        other = next((each for each, source in given_as.items() if source is ParameterSource.COMMANDLINE), None)
        if other is not None:
            told = "a worker executes the run, as its own options say"
            raise click.UsageError(f"{other.opts[0]} has no meaning for a run in a database: {told}")
        context.exit(signals.resume(ResumeRequest(**given), database))
    context.exit(resume(ResumeRequest(**given)))
