"""A plan that is ready to be run: validators, routes and templates prepared once."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.value import value
from stagec.plan.document import Plan
from stagec.plan.load import load as load_plan
from stagec.plan.node import Edge
from stagec.runtime.payload import Payloads
from stagec.runtime.render import Renderer
from stagec.runtime.route import by_outcome


@value
class Program:
    """A plan, the digest that names it, and what is prepared for running it.

    `routes` are the edges of every node by outcome.
    """

    plan: Plan
    digest: str
    routes: Mapping[str, Mapping[str, tuple[Edge, ...]]]
    renderer: Renderer
    payloads: Payloads


def load(data: bytes) -> Program:
    """Return the program of a plan's file, or raise `stagec.plan.PlanError`."""
    loaded = load_plan(data)
    return program_of(loaded.plan, loaded.digest)


def program_of(plan: Plan, digest: str = "") -> Program:
    """Return the program of a plan that was not read from a file."""
    routes = {name: by_outcome(node.edges) for name, node in plan.nodes.items()}
    return Program(plan, digest, routes, Renderer(plan.contents), Payloads(plan.contents))
