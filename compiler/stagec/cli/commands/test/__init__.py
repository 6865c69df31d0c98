"""`stagec test`: run the tests of flows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options


@click.command("test", short_help="Run the tests of flows: scenarios with expectations.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option("-k", "word", metavar="WORD", help="Only the tests with this word in their name.")
@options.jobs
@click.option("--coverage", is_flag=True, help="Also list the nodes, edges, cases and rules that no test runs.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the tests run less than this part of the nodes, edges, cases and rules of a flow.",
)
@click.option("--update", is_flag=True, help="Replace wrong expectations with the results of each run.")
@options.output_format("text", "json", "junit", default="text")
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Run the tests in the files '*.flow-test.yaml' (or '.json') in PATHS, or in the configured roots.

    A test is a scenario of a flow with expectations: the outcome of the run, the path through the nodes, results, and
    the number of requests to tools and models. stagec compiles the flows of the project and runs each test in memory.
    It asks no model, starts no program, and skips waits. 'stagec schema flow_test' prints the schema of the files.

    Exit status: 0 all tests pass, 1 a test fails or the coverage is below --fail-under, 2 usage or environment, 3 no
    tests, 4 internal error.
    """
    from stagec.cli.commands.test.run import FlowTestRequest, run

    context.exit(run(FlowTestRequest(**given)))
