"""Flows with their bounds, and what these rest on: prices, models, and what is assumed of requests to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stagec.cli.plans import Refused
from stagec.cli.running.assumptions import CostBasis
from stagec.cli.wording import join_names
from stagec.core.diagnostic import Diagnostic
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import quote
from stagec.graph.bounds import Bounds
from stagec.graph.usage import Interval, NamedModel
from stagec.plan.act import Converse, Prompt
from stagec.plan.document import Plan
from stagec.plan.loader import load_agents


@value
class BoundedFlow:
    """A plan, where it is from, and its bounds; `name_file` names its file where the reader stands."""

    plan: Plan
    digest: str
    file: str
    bounds: Bounds
    basis: CostBasis
    name_file: Callable[[str], str] = str

    @property
    def flow(self) -> str:
        """The id of the flow."""
        return self.plan.id


@value
class UnboundedFlow:
    """A flow that has no plan, and why; `name_file` names files where the reader stands."""

    refused: Refused
    errors: tuple[Diagnostic, ...]
    name_file: Callable[[str], str] = str


def find_models(given: BoundedFlow) -> Mapping[str, NamedModel]:
    """Return the models that answer the nodes of a flow and of its agents, by node."""
    plans: tuple[Plan, ...] = (given.plan, *(each.plan for each in load_agents(given.plan).values()))
    choose = given.basis.assumptions.choose
    return {
        name: choose(name, node.act.model if isinstance(node.act, Prompt) else None)
        for plan in plans
        for name, node in plan.nodes.items()
        if isinstance(node.act, Prompt | Converse)
    }


def describe_basis(given: BoundedFlow) -> Iterator[str]:
    """Yield what the figures about models rest on; nothing where no model is named."""
    models = find_models(given)
    named = {each.name: each.price for each in models.values() if each.name is not None}
    if not named:
        return
    table, use = given.basis.table, given.basis.assumptions.use
    yield f"prices of {table.as_of}, {table.file}: {', '.join(map(quote, sorted(named)))}"
    unknown = sorted(name for name, price in named.items() if price is None)
    if unknown:
        yield f"the price table has no row for {join_names(unknown)}: add one, or name another table with --prices"
    steps = f"{_describe(use.responses)} responses of a model until a step has its answer"
    yield f"{steps}; a token is at most {use.characters} characters of a prompt"
    if use.read != Interval() or use.written != Interval(1):
        yield f"{_describe(use.read)} tokens read in a request, {_describe(use.written)} written in a response"


def _describe(span: Interval) -> str:
    if span.most is None:
        return f"{span.least:,} or more" if span.least else "any number of"
    return f"{span.most:,}" if span.least == span.most else f"{span.least:,} to {span.most:,}"


def write_basis(given: BoundedFlow) -> dict[str, Json]:
    """Return what the figures rest on as JSON."""
    table, assumptions = given.basis.table, given.basis.assumptions
    use = assumptions.use
    spans = {"calls": use.calls, "responses": use.responses, "inputTokens": use.read, "outputTokens": use.written}
    return {
        "turnMilliseconds": assumptions.times.turn,
        "leastTurnMilliseconds": assumptions.times.quickest,
        "validatorMilliseconds": assumptions.times.validator,
        **{name: {"least": each.least, "most": each.most} for name, each in spans.items()},
        "tokenCharacters": use.characters,
        "prices": {"asOf": table.as_of, "file": table.file},
        "models": {
            name: {"model": each.name, "priced": each.price is not None} for name, each in find_models(given).items()
        },
    }
