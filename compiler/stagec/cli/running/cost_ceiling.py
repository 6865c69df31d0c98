"""Compare `--max-cost` with the least and the highest cost of a run, before the run begins."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from stagec.cli.figures import describe_least, describe_most
from stagec.cli.running.assumptions import CostBasis, CostOptions, assume
from stagec.cli.running.world_sources import WorldSources
from stagec.cli.streams import say
from stagec.cli.wording import join_names
from stagec.core.failure import Failure
from stagec.core.words import quote
from stagec.graph.bounds import bound_entry
from stagec.graph.figures import Figure
from stagec.graph.usage import Quantity
from stagec.plan.document import Plan
from stagec.project.configuration import Configuration

_NANO = 10**9


def check_ceiling(
    plan: Plan, entry: str | None, most: Decimal, others: WorldSources, configuration: Configuration
) -> None:
    """Refuse a ceiling below the cost of every completed run, or one that cannot hold; say what a run may cost.

    Only where nothing but models answers what models are asked: what others answer costs what they say.
    """
    begun = plan.entry if entry is None else entry
    if begun not in plan.entries or not others.models or others.factory is not None or others.command is not None:
        return
    basis = assume(CostOptions(prices=others.prices), configuration, others.models)
    figure = bound_entry(plan, str(begun), basis.assumptions).figures[Quantity.COST]
    unknown = [each.nodes for each in figure.lacks if each.kind == "price"]
    if unknown:
        raise Failure(_explain_unknown(basis, plan, unknown[0]))
    if any(each.kind == "model-name" for each in figure.lacks) or figure.least is None:
        return
    allowed = f"--max-cost allows ${format(most, 'f')}"
    prices = f"by the prices of {basis.table.as_of}, {basis.table.file}"
    if Decimal(figure.least) / _NANO > most:
        least = describe_least(Quantity.COST, figure)
        hint = "'stagec bounds' explains the figure"
        raise Failure(f"a completed run costs at least {least} {prices}: {allowed}", hints=[hint])
    if _exceeds(figure, most):
        says = "has no bound" if figure.upper.most is None else f"is at most {describe_most(Quantity.COST, figure)}"
        say(f"stagec: note: the cost of a run {says} {prices}: {allowed}, and stops it then")


def _exceeds(figure: Figure, most: Decimal) -> bool:
    return figure.upper.most is None or Decimal(figure.upper.most) / _NANO > most


def _explain_unknown(basis: CostBasis, plan: Plan, nodes: tuple[str, ...]) -> str:
    models: Mapping[str, None] = {}
    for name in nodes:
        act = plan.nodes[name].act
        model = basis.assumptions.choose(name, getattr(act, "model", None)).name
        models = {**models, **({} if model is None else {model: None})}
    named = join_names(sorted(models)) if models else "the models of its agents"
    return (
        f"the price of a model is unknown, so stagec cannot enforce --max-cost: the price table of {basis.table.as_of},"
        f" {quote(basis.table.file)}, has no row for {named}; add one with --prices, or use --max-tokens"
    )
