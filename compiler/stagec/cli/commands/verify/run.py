"""Verify plans as asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stagec.cli.files import read_file
from stagec.cli.streams import put
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import format_count, quote, shorten_digest, visible
from stagec.graph.crosscheck import CrossCheck
from stagec.plan import PlanError
from stagec.runtime import verify

if TYPE_CHECKING:
    from stagec.cli.commands.verify.against import SourceProject


@value
class VerifyRequest:
    """The arguments and options as given; None where one is absent."""

    plans: tuple[Path, ...]
    against: tuple[Path, ...] = ()
    root: Path | None = None
    without_unreachable: bool = False


def run(request: VerifyRequest) -> Exit:
    """Say of each plan whether it is as it should be, and return the exit status."""
    if not request.against:
        if request.root is not None:
            raise Failure("--root is the root of the sources: --against names them")
        if request.without_unreachable:
            raise Failure("--without-unreachable needs --against, which names the sources")
        sources = None
    else:
        from stagec.cli.commands.verify.against import SourceProject

        sources = SourceProject(request.against, request.root, reachable=request.without_unreachable)
    unreadable: list[str] = []
    is_sound = True
    for path in request.plans:
        try:
            is_sound &= _judge(path, read_file(path), sources)
        except Failure as failure:  # the other plans can be judged all the same
            unreadable.append(str(failure))
    if unreadable:
        raise Failure("\n".join(unreadable))
    return Exit.CLEAN if is_sound else Exit.FINDINGS


def _judge(path: Path, data: bytes, sources: SourceProject | None) -> bool:
    """Print the result for a plan, and return whether it is sound."""
    name = f"./{path}" if str(path).startswith("::") else path  # build services obey `::` at the start of a line
    try:
        loaded = verify(data)
    except PlanError as error:
        _print(f"{name}: refused: {error}")
        return False
    plan = loaded.plan
    for contradiction in CrossCheck(plan).contradictions():
        _print(f"{name}: refused: {contradiction}")
        return False
    found = () if sources is None else sources.compare(plan, data)
    if found:
        _print(f"{name}: differs from the sources{found[0]}", *(f"  {line}" for line in found[1:]))
    else:
        how = "verified" if sources is None else "verified against the sources"
        nodes = format_count(len(plan.nodes), "node")
        _print(f"{name}: {how}: {quote(plan.id)} with {nodes}, {shorten_digest(loaded.digest)}")
    return not found


def _print(*lines: str) -> None:
    encoding = sys.stdout.encoding or "ascii"
    put("".join(f"{visible(line, encoding)}\n" for line in lines))
