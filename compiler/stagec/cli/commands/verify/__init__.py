"""`stagec verify`: whether plans are what they say they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options


@click.command(short_help="Check that plans are sound and unchanged.")
@click.argument("plans", nargs=-1, required=True, metavar="PLAN...", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Also compile the flow of each plan from these files and folders, and compare. Repeatable.",
)
@click.option(
    "--key",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also require a signature of one of these public keys (PEM, OpenSSH, 'allowed_signers'). Repeatable.",
)
@click.option(
    "--signature",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The signature of PLAN; by default 'PLAN.dsse.json', else 'PLAN.sig'.",
)
@click.option("--witness", is_flag=True, help="Also search a shortest completed run from each entry.")
@options.without_unreachable
@options.root
@click.pass_context
def verify(context: click.Context, /, **given: Any) -> None:
    """Check that each PLAN is unchanged, canonical and complete, and that its facts follow from it.

    `-` reads a plan from standard input. With --against, each plan must equal the compiled flow byte for byte; if not,
    stagec prints the differences. With --key, each plan must be signed: by 'stagec sign', or by 'ssh-keygen -Y sign -n
    stagec'. With --witness, the machine must complete a run from each entry; stagec prints how long the shortest is.

    Exit status: 0 all plans are sound, 1 some plan is refused or differs, 2 usage or environment,
    4 internal error.
    """
    from stagec.cli.commands.verify.run import VerifyRequest, run

    context.exit(run(VerifyRequest(**given)))
