"""Witnesses: a shortest completed run for each entry of a flow, runs to each node and edge, or why there is none."""

from __future__ import annotations

from stagec.core.value import replace
from stagec.ir.flow import Flow, SearchedFlow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stagec.ir.plan.document import Plan

LONG = 200_000
"""Steps of the machine of a search that may take some seconds."""
_LEAST, _FOR_EACH = 2_000, 10
"""Steps of a short search, besides those for each node."""


def search_briefly(flow: Flow, plan: Plan) -> SearchedFlow:
    """Search a completed run from each entry of a flow, for a time that nobody notices."""
    return _search(flow, plan, _LEAST + _FOR_EACH * len(plan.nodes))


def search_thoroughly(flow: Flow, plan: Plan) -> SearchedFlow:
    """Search a completed run from each entry of a flow, for some seconds at most."""
    return _search(flow, plan, LONG)


def _search(flow: Flow, plan: Plan, steps: int) -> SearchedFlow:
    from stagec.change.flow_tests.witness.search import search_flow  # a project without flows needs no machine
    from stagec.change.flow_tests.witness.survey import survey

    found = search_flow(flow, plan, steps)
    return found if found.lost else replace(found, untaken=survey(flow, plan))
