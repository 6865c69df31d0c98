"""`stagec sign`: vouch for plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options


@click.command(short_help="Sign plans, so that others can verify who made them.")
@click.argument("plans", nargs=-1, required=True, metavar="PLAN...", type=click.Path(path_type=Path))
@click.option(
    "--key",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The private Ed25519 key, in PEM or OpenSSH format. STAGEC_KEY_PASSWORD is its password, if it has one.",
)
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Sign only plans that these sources compile to, and put findings and git revision into the statement.",
)
@options.without_unreachable
@options.root
@click.pass_context
def sign(context: click.Context, /, **given: Any) -> None:
    """Write a signed statement about each PLAN beside it, into 'PLAN.dsse.json'.

    The statement is an in-toto statement in a DSSE envelope. It contains the digest of the plan, the sources with their
    digests, and the version of stagec. 'stagec verify --key' checks it. An existing signature is replaced.

    `ssh-keygen -t ed25519` or `openssl genpkey -algorithm ed25519` makes a key.

    Exit status: 0 all signed, 1 some plan is refused or differs from its sources, 2 usage or environment,
    4 internal error.
    """
    from stagec.cli.commands.sign.run import SignRequest, run

    context.exit(run(SignRequest(**given)))
