"""`stagec sign`: vouch for plans."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.against import SourceProject
from stagec.cli.files import read_file, write_files
from stagec.cli.signatures import ENVELOPE
from stagec.cli.streams import put_lines, say
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import quote, shorten_digest
from stagec.ir.plan import PlanError
from stagec.ir.signing import KeyPasswordError, SignerEvidence, SigningKey, read_private_key, seal, write_statement
from stagec.runtime.machine import verify

_VARIABLE = "STAGEC_KEY_PASSWORD"
"""The variable of the environment that has the password of the key."""


@value
class SignRequest:
    """The arguments and options as given; None where one is absent."""

    plans: tuple[Path, ...]
    key: Path
    against: tuple[Path, ...] = ()
    root: Path | None = None
    without_unreachable: bool = False


def run(request: SignRequest) -> Exit:
    """Sign each plan that is sound; return the exit status."""
    if not request.against and (request.root is not None or request.without_unreachable):
        option = "--root" if request.root is not None else "--without-unreachable"
        raise Failure(f"{option} needs --against, which names the sources")
    key = _open_key(request.key)
    sources = None
    if request.against:
        sources = SourceProject(request.against, request.root, reachable=request.without_unreachable)
    signed = [_sign(path, key, sources) for path in request.plans]
    return Exit.CLEAN if all(signed) else Exit.FINDINGS


def _open_key(path: Path) -> SigningKey:
    """Return the private key in a file; its password comes from the environment, or from who sits at the terminal."""
    data = read_file(path, "file-size")
    given = os.environ.get(_VARIABLE)
    try:
        return read_private_key(data, str(path), given.encode() if given else None)
    except KeyPasswordError as error:
        if given:
            raise Failure(f"{_VARIABLE} is not the password of {quote(path)}") from error
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise Failure(f"{quote(path)} has a password: set {_VARIABLE}") from error
    from click import prompt

    asked = prompt(f"Password of {path}", hide_input=True, err=True)
    try:
        return read_private_key(data, str(path), asked.encode())
    except KeyPasswordError as error:
        raise Failure(f"that is not the password of {quote(path)}") from error


def _sign(path: Path, key: SigningKey, sources: SourceProject | None) -> bool:
    """Write the statement about a plan, and print it; return whether the plan could be signed."""
    data = read_file(path)
    try:
        loaded = verify(data)
    except PlanError as error:
        put_lines(f"{path}: refused: {error}")
        return False
    found = () if sources is None else sources.compare(loaded.plan, data)
    if found:
        put_lines(f"{path}: differs from the sources{found[0]}", *(f"  {line}" for line in found[1:]))
        return False
    evidence = SignerEvidence()
    if sources is not None:
        evidence = SignerEvidence(sources.count_findings(loaded.plan), sources.find_revision(loaded.plan))
        if evidence.revision is None:
            say(f"stagec: note: {path}: the statement names no commit: git has none checked out with these sources")
    statement = write_statement(loaded, data, path.name, evidence)
    target = path.with_name(f"{path.name}{ENVELOPE}")
    write_files(path.parent, {target.name: seal(statement, key)})
    put_lines(f"{target}: signed: {quote(loaded.plan.id)}, {shorten_digest(loaded.digest)}, with {key.fingerprint}")
    return True


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
    context.exit(run(SignRequest(**given)))
