"""What `stagec compile` says on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from stagec.cli.frozen import Freezer, Frozen, Refused
from stagec.cli.streams import canvas, put_aside, say
from stagec.core.columns import columns
from stagec.core.diagnostic import Severity
from stagec.core.visible import visible
from stagec.core.words import counted, quote, shortened
from stagec.frontends import Flow
from stagec.plan.load import unframed
from stagec.reporters import Report
from stagec.reporters.text import REPORTER


def report(freezer: Freezer, flows: Iterable[Flow] | None) -> None:
    """Print the errors and warnings that concern some flows, or all there are."""
    compilation = freezer.compilation
    heavy = [each for each in compilation.diagnostics if each.severity is not Severity.NOTE]
    if flows is not None:
        known = {id(each) for flow in flows for each in freezer.concerning(flow, heavy)}
        heavy = [each for each in heavy if id(each) in known]
    paper = canvas(sys.stderr, os.environ)
    put_aside(REPORTER.render(Report(tuple(heavy), trees=compilation.trees, canvas=paper, quiet=True)))


def list_plans(plans: Iterable[tuple[Path | None, Frozen]], states: Iterable[str]) -> None:
    """Say of each plan where it is, the beginning of its digest, and how large the flow is."""
    encoding = sys.stderr.encoding or "ascii"
    shown = [("standard output" if path is None else visible(str(path), encoding), each) for path, each in plans]
    width = max((columns(name) for name, _ in shown), default=0)
    for (name, each), told in zip(shown, states, strict=True):
        digest, _ = unframed(each.data)
        nodes = counted(len(each.plan.nodes), "node")
        say(f"{name}{' ' * (width - columns(name))}  {shortened(digest)}  {nodes}" + (f"  {told}" if told else ""))


def refuse(freezer: Freezer, refused: Iterable[Refused], *, is_all: bool) -> bool:
    """Say which flows have no plan and, where all are compiled, what is wrong besides; return whether anything is."""
    lines = [f"flow {quote(each.flow.id)} is not compiled: {each.reason}" for each in refused]
    if is_all:
        flows = freezer.compilation.flows
        known = {id(each) for flow in flows for each in freezer.concerning(flow, freezer.errors)}
        others = len(freezer.errors) - len(known)
        lines += [f"{counted(others, 'error')} in files that belong to no flow"] if others else []
    for line in lines:
        say(f"stagec: error: {line}")
    return bool(lines)
