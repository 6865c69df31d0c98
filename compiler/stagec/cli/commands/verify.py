"""`stagec verify`: whether plans are what they say they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stagec.change.comparison.second_judge import find_differences
from stagec.cli import options
from stagec.cli.files import read_file
from stagec.cli.signatures import describe_missing, locate_signature, read_keys, read_signature, vouch
from stagec.cli.streams import put_lines
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import format_count, quote, shorten_digest
from stagec.ir.graph.crosscheck import CrossCheck
from stagec.ir.plan import PlanError
from stagec.runtime.machine import verify as verify_plan
from stagec.runtime.machine.program import program_of

if TYPE_CHECKING:
    from stagec.cli.against import SourceProject
    from stagec.ir.plan import Plan
    from stagec.ir.signing import TrustedKey


@value
class VerifyRequest:
    """The arguments and options as given; None where one is absent."""

    plans: tuple[Path, ...]
    against: tuple[Path, ...] = ()
    root: Path | None = None
    without_unreachable: bool = False
    key: tuple[Path, ...] = ()
    signature: Path | None = None
    witness: bool = False

    def open_sources(self) -> SourceProject | None:
        """Return the sources to compare with, None where none are named."""
        if self.against:
            from stagec.cli.against import SourceProject

            return SourceProject(self.against, self.root, reachable=self.without_unreachable)
        if self.root is not None:
            raise Failure("--root needs --against, which names the sources")
        if self.without_unreachable:
            raise Failure("--without-unreachable needs --against, which names the sources")
        return None


def run(request: VerifyRequest) -> Exit:
    """Say of each plan whether it is as it should be, and return the exit status."""
    sources = request.open_sources()
    if request.signature is not None and (not request.key or len(request.plans) > 1):
        raise Failure("--signature is for one plan: name one PLAN, and the trusted keys with --key")
    trusted = TrustedKeys(read_keys(request.key), request.signature) if request.key else None
    unreadable: list[str] = []
    is_sound = True
    for path in request.plans:
        try:
            is_sound &= _judge(path, read_file(path), sources, trusted, has_witness=request.witness)
        except Failure as failure:  # the other plans can be judged all the same
            unreadable.append(str(failure))
    if unreadable:
        raise Failure("\n".join(unreadable))
    return Exit.CLEAN if is_sound else Exit.FINDINGS


@value
class TrustedKeys:
    """The keys that a user trusts, and the file of the signature where it lies elsewhere than beside its plan."""

    keys: tuple[TrustedKey, ...]
    signature: Path | None = None

    def judge(self, plan: Path, data: bytes) -> tuple[str, bool]:
        """Return the message about the signature of a plan, and whether it is valid."""
        from stagec.ir.signing import RefusedSignatureError

        path = locate_signature(plan) if self.signature is None else self.signature
        if path is None:
            return describe_missing(plan), False
        try:
            vouching = vouch(read_signature(path), data, self.keys)
        except RefusedSignatureError as error:
            return f"{path}: {error}", False
        return f"signed by {vouching.key.named}", True


def _judge(
    path: Path, data: bytes, sources: SourceProject | None, trusted: TrustedKeys | None, *, has_witness: bool
) -> bool:
    """Print the result for a plan, and return whether it is sound."""
    name = f"./{path}" if str(path).startswith("::") else path  # build services obey `::` at the start of a line
    try:
        loaded = verify_plan(data)
    except PlanError as error:
        put_lines(f"{name}: refused: {error}")
        return False
    plan = loaded.plan
    for contradiction in CrossCheck(plan).contradictions():
        put_lines(f"{name}: refused: {contradiction}")
        return False
    said, is_trusted = ("", True) if trusted is None else trusted.judge(path, data)
    if not is_trusted:
        put_lines(f"{name}: refused: {said}")
        return False
    found = () if sources is None else sources.compare(plan, data)
    warnings = [f"{name}: warning: {each.describe()}" for each in find_differences(program_of(plan))]
    if found:
        put_lines(f"{name}: differs from the sources{found[0]}", *(f"  {line}" for line in found[1:]))
    else:
        how = "verified" if sources is None else "verified against the sources"
        nodes = format_count(len(plan.nodes), "node")
        named = f"{quote(plan.id)} with {nodes}, {shorten_digest(loaded.digest)}"
        put_lines(f"{name}: {how}: {named}{said and f', {said}'}")
    put_lines(*warnings)
    return not found and (not has_witness or _search_witnesses(name, plan))


def _search_witnesses(name: Path | str, plan: Plan) -> bool:
    """Print what a search for completed runs finds, and return whether each entry may have one."""
    from stagec.change.flow_tests.witness import LONG
    from stagec.change.flow_tests.witness.search import Witness, find_witnesses

    is_possible = True
    for found in find_witnesses(program_of(plan), LONG):
        entry = quote(found.entry) if found.entry else "its entry"
        if isinstance(found, Witness):
            put_lines(f"{name}: completes from {entry} in {format_count(found.executions, 'execution')}")
        elif found.open:
            put_lines(f"{name}: not known whether a run from {entry} completes: {found.open}")
        else:
            is_possible = False
            why = ": ".join(filter(None, (found.node, found.kind, found.detail)))
            put_lines(f"{name}: no run from {entry} completes: {why}")
    return is_possible


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
    stagec also warns of schemas by which the library jsonschema judges values differently.

    Exit status: 0 all plans are sound, 1 some plan is refused or differs, 2 usage or environment,
    4 internal error.
    """
    context.exit(run(VerifyRequest(**given)))
