"""A condition of a case is negated, dropped, or has one value more or less."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.answers import list_values
from stagec.mutation.mutant import Mutant, change_edge, list_edges, operator
from stagec.plan import Plan
from stagec.plan.gate import Among, Exists, Reads, Term

Changed = tuple[str, tuple[Term, ...]]


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Change each condition of each edge."""
    for name, number, edge in list_edges(plan):
        for index, term in enumerate(edge.when):
            values = list_values(plan, name, term.path)
            for told, terms in (("is dropped", ()), *_change(term, values)):
                path = ".".join(map(str, term.path))
                when = (*edge.when[:index], *terms, *edge.when[index + 1 :])
                sentence = f"the condition on {quote(path)} of case {number + 1} on {quote(edge.on)} {told}"
                wanted = "a run with a result that makes the difference, and where it leads"
                yield change_edge(plan, name, number, sentence, wanted, when=when)


def _change(term: Term, values: tuple[Json, ...]) -> Iterator[Changed]:
    """Yield what may stand in place of a term; `values` are all that can be there, as far as they are known."""
    if isinstance(term, Exists):
        yield "is negated", (replace(term, present=not term.present),)
        return
    mine: tuple[Json, ...] = term.texts if isinstance(term, Reads) else term.values
    others = tuple(each for each in values if each not in mine)
    if others:
        yield "is negated", (_with(term, others),)
    for index, each in enumerate(mine if len(mine) > 1 else ()):
        yield f"no longer holds for {quote(each)}", (_with(term, mine[:index] + mine[index + 1 :]),)
    for each in others if values[2:] else ():
        yield f"holds for {quote(each)} as well", (_with(term, (*mine, each)),)


def _with(term: Among | Reads, values: tuple[Json, ...]) -> Term:
    if isinstance(term, Among):
        return replace(term, values=values)
    return replace(term, texts=tuple(map(str, values)))
