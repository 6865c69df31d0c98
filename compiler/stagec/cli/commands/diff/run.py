"""Compare two sides that a user names, and print what has changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stagec.cli.commands.diff.document import format_flows
from stagec.cli.commands.diff.markdown import write_comment
from stagec.cli.commands.diff.page import draw_flows
from stagec.cli.figures import Moved, list_moved
from stagec.cli.limits import load_configuration
from stagec.cli.running.assumptions import CostOptions, assume
from stagec.cli.sheet import Sheet
from stagec.cli.sides import find_beside, read_sides
from stagec.cli.streams import find_canvas, put, show_progress
from stagec.comparison.change import Action
from stagec.comparison.flows import FlowChanges, compare_flows
from stagec.core.failure import Exit
from stagec.core.value import value


@value
class DiffRequest:
    """The arguments and options as given; None where one is absent."""

    old: str
    new: str = "."
    flow: str | None = None
    prices: Path | None = None
    models: tuple[str, ...] = ()
    output_format: str = "text"

    def compare_figures(self, flows: Sequence[FlowChanges]) -> Sequence[Moved]:
        """Return for each flow what its runs take more or less of, by the assumptions of the current folder."""
        if not any(each.action is Action.CHANGED for each in flows):
            return [()] * len(flows)
        from stagec.graph.bounds import bound  # imports networkx

        cost = CostOptions(prices=self.prices, models=self.models)
        given = assume(cost, load_configuration((Path(),))).assumptions
        return [
            ()
            if each.old is None or each.new is None or not each.changes
            else tuple(list_moved(bound(each.old, given).entries, bound(each.new, given).entries))
            for each in flows
        ]


def run(request: DiffRequest) -> Exit:
    """Print what has changed, and return the exit status."""
    with show_progress("comparing …"):
        before, after = read_sides(request.old, request.new, find_beside(request.old), request.flow)
        flows = compare_flows(before.plans, after.plans)
        figures = request.compare_figures(flows)
    if request.output_format == "json":
        put(format_flows(before, after, flows, figures))
    elif request.output_format == "markdown":
        put(write_comment(before, after, flows, figures))
    else:
        sheet = Sheet(find_canvas(sys.stdout, os.environ))
        draw_flows(sheet, flows, figures)
        put(sheet.text())
    return Exit.FINDINGS if any(each.action is not None for each in flows) else Exit.CLEAN
