"""`stagec conformance`: judge a program that runs plans."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing

import click

from stagec.cli.conformance.judgement import RunnerProcess, judge, report
from stagec.cli.conformance.served_machine import PROFILES, serve
from stagec.cli.conformance.vectors import read_vectors
from stagec.cli.parameters import OneOf
from stagec.cli.streams import put, put_lines, show_progress
from stagec.core.failure import Exit, Failure
from stagec.core.words import listing, quote

_OWN = (sys.executable, "-m", "stagec", "conformance", "--serve")
"""stagec's own machine, as a program that is judged like any other."""


@click.command(short_help="Judge a program of another language that runs plans.")
@click.argument("program", required=False)
@click.option("--profile", type=OneOf(PROFILES), help="Only the vectors of these plans.")
@click.option("--serve", "is_served", is_flag=True, help="Be such a program: run plans with stagec's own machine.")
@click.pass_context
def conformance(context: click.Context, program: str | None, profile: str | None, *, is_served: bool) -> None:
    r"""Check by stagec's vectors that PROGRAM runs plans as the plan format says.

    stagec starts PROGRAM, writes plans and events to its standard input, and reads requests and states from its
    standard output. The page "Runners in other languages" describes the messages. Without PROGRAM, stagec judges its
    own machine in the same way. The report names the sections of the plan format that fail.

    Exit status: 0 the program conforms, 1 a vector fails, 2 usage or environment, 4 internal error.

    \b
    Examples:
      stagec conformance
      stagec conformance 'node runner.js'
      stagec conformance './runner --quiet' --profile registry
    """
    if is_served:
        if program is not None or profile is not None:
            raise Failure("--serve takes no program and no profile")
        for line in serve(sys.stdin.buffer):
            put(line)
            sys.stdout.flush()
        context.exit(Exit.CLEAN)
    try:
        words = _OWN if program is None else tuple(shlex.split(program))
    except ValueError as error:
        raise Failure(f"{quote(program or '')} is no command line: {error}") from error
    if not words:
        raise Failure("the program is empty")
    with closing(RunnerProcess(words)) as runner:
        profiles = runner.profiles if profile is None else (profile,)
        if not set(profiles) <= set(runner.profiles):
            known = listing(runner.profiles)
            raise Failure(f"{quote(words[0])} does not have the profile {quote(profile or '')}: it has {known}")
        with show_progress("judging …"):
            results = [*judge(runner.ask, (each for each in read_vectors() if each.profile in profiles))]
        put_lines(*report(runner.runner, profiles, results))
    context.exit(Exit.FINDINGS if any(each.difference is not None for each in results) else Exit.CLEAN)
