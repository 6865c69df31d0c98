"""Collect the plans that a user names, and print their bounds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from stagec.cli.commands.bounds.document import format_flows
from stagec.cli.commands.bounds.markdown import write_comment
from stagec.cli.commands.bounds.measured import BoundedFlow, UnboundedFlow
from stagec.cli.commands.bounds.page import draw_flow, draw_refusal
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.cli.running.assumptions import CostBasis, CostOptions, assume
from stagec.cli.running.inputs import verify_file
from stagec.cli.sheet import Sheet
from stagec.cli.sides import is_plan
from stagec.cli.streams import find_canvas, put, show_progress
from stagec.cli.unfound import choose_flows, explain_missing_flow
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.graph.bounds import bound
from stagec.plan.loader import read_frame
from stagec.project.configuration import Configuration

Measured = BoundedFlow | UnboundedFlow


@value
class BoundsRequest:
    """The arguments and options as given; None where one is absent."""

    cost: CostOptions
    paths: tuple[Path, ...] = ()
    root: Path | None = None
    flow: str | None = None
    output_format: str = "text"

    def measure_project(
        self, paths: tuple[Path, ...], configuration: Configuration, basis: CostBasis
    ) -> Iterator[Measured]:
        """Yield the bounds of the flows of the project."""
        freezer = Freezer(configuration, paths)
        meanings = freezer.compilation.meanings
        if not meanings:
            raise explain_missing_flow("measure", freezer.project, freezer.compilation)
        name_file = name_from_here(freezer.root)
        chosen = {id(flow) for flow in choose_flows(self.flow, freezer.compilation.flows)}
        for meaning in meanings:
            if id(meaning.flow) not in chosen:
                continue
            made = freezer.freeze(meaning)
            if isinstance(made, Refused):
                yield UnboundedFlow(made, freezer.errors_of(made.flow), name_file)
            else:
                digest, _ = read_frame(made.data)
                yield BoundedFlow(
                    made.plan, digest, meaning.flow.at.file, bound(made.plan, basis.assumptions), basis, name_file
                )

    def measure(self) -> Iterator[Measured]:
        """Yield the bounds of the plans first, then those of the flows of the project."""
        plans = [path for path in self.paths if is_plan(path)]
        paths = tuple(path for path in self.paths if path not in plans)
        measured: list[BoundedFlow] = []
        configuration = load_configuration(paths, self.root)
        basis = assume(self.cost, configuration)
        for path in plans:
            loaded = verify_file(path, Exit.FINDINGS)
            measured.append(
                BoundedFlow(loaded.plan, loaded.digest, str(path), bound(loaded.plan, basis.assumptions), basis)
            )
        known = [each.flow for each in measured]
        if self.flow is not None:
            measured = [each for each in measured if each.flow == self.flow]
        yield from measured
        if paths or not plans:
            yield from self.measure_project(paths, configuration, basis)
        elif not measured:
            near = hint(self.flow or "", NameIndex(known)) or f"; there are {listing(known)}"
            raise Failure(f"no flow of the plans is called {quote(self.flow)}{near}")


def run(request: BoundsRequest) -> Exit:
    """Print the bounds of what was asked for, and return the exit status."""
    with show_progress("measuring …"):
        flows = [*request.measure()]
    if request.output_format == "json":
        put(format_flows(flows))
    elif request.output_format == "markdown":
        put(write_comment(flows))
    else:
        sheet = Sheet(find_canvas(sys.stdout, os.environ))
        for each in flows:
            if isinstance(each, BoundedFlow):
                draw_flow(sheet, each)
            else:
                draw_refusal(sheet, each)
        put(sheet.text())
    return (
        Exit.CLEAN if all(isinstance(each, BoundedFlow) and each.bounds.is_bounded for each in flows) else Exit.FINDINGS
    )
