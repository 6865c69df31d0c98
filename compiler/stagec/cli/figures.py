"""The cost of runs in words: amounts, reasons why there is none, and differences between two plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import product

from stagec.cli.wording import join_names, shorten
from stagec.core.value import value
from stagec.core.words import format_duration
from stagec.ir.graph.figures import EntryBounds, Figure, Joint, Unlimited, Way
from stagec.ir.graph.usage import Quantity

NAMES = {
    Quantity.EXECUTIONS: "steps",
    Quantity.TURNS: "turns",
    Quantity.REQUESTS: "requests",
    Quantity.CALLS: "tool calls",
    Quantity.INPUT: "input tokens",
    Quantity.OUTPUT: "output tokens",
    Quantity.COST: "cost",
    Quantity.MILLISECONDS: "time",
}
"""The names of the counted things, in the order of the output."""
COMPARED = tuple(each for each in NAMES if each is not Quantity.REQUESTS)
"""The quantities of comparisons; requests change with the turns that they belong to."""
NAMES_IN_JSON = {
    Quantity.EXECUTIONS: "executions",
    Quantity.TURNS: "turns",
    Quantity.REQUESTS: "requests",
    Quantity.CALLS: "calls",
    Quantity.INPUT: "inputTokens",
    Quantity.OUTPUT: "outputTokens",
    Quantity.COST: "dollars",
    Quantity.MILLISECONDS: "milliseconds",
}
"""The names of figures in documents."""
_USED = (Quantity.CALLS, Quantity.INPUT, Quantity.OUTPUT, Quantity.COST)
_NANO = 9
_CENT = Decimal("0.01")
_UNLIMITED = {
    "model": "nothing limits how long a turn of a model takes (in {nodes}); --turn SECONDS assumes a limit",
    "person": "a person may be asked (in {nodes})",
    "hook": "Python callables take part (in {nodes})",
    "judge": "the world is asked whether the work is done (in {nodes})",
    "calls": "nothing limits how many tools a model calls in a response; --calls SPAN assumes a limit",
    "responses": "nothing limits how often a step asks; --responses SPAN assumes a limit",
    "input": "nothing limits how much a model reads; --input-tokens SPAN assumes a limit",
    "output": "nothing limits how much a model writes; --output-tokens SPAN assumes a limit",
    "model-name": "no model is named for {nodes}; --model PROVIDER:NAME names one",
    "price": "the price table has no row for the model of {nodes}",
    "agent": "the run of an agent has no bound (in {nodes})",
}


def explain_lack(lack: Unlimited) -> str:
    """Return why there is no bound, and what would give one."""
    return _UNLIMITED[lack.what].format(nodes=join_names(lack.nodes))


def list_shown(entry: EntryBounds) -> Iterator[Quantity]:
    """Yield the figures worth showing: those about models only if any is asked, requests if they are no turns."""
    hidden = () if entry.turns.most != 0 else _USED
    return (each for each in NAMES if each not in hidden and (each is not Quantity.REQUESTS or asks_again(entry)))


def asks_again(entry: EntryBounds) -> bool:
    """Tell whether a turn may take several requests."""
    return entry.figures[Quantity.REQUESTS].upper != entry.turns


def find_most(measure: Quantity, figure: Figure) -> int | None:
    """Return the worst case; of time there is none while anything has no limit."""
    return None if measure is Quantity.MILLISECONDS and figure.lacks else figure.upper.most


def format_amount(measure: Quantity, amount: int) -> str:
    """Return `1,200`, `2 min` or `$0.0153`."""
    if measure is Quantity.COST:
        return f"${format_dollars(amount)}"
    return format_duration(amount) if measure is Quantity.MILLISECONDS else f"{amount:,}"


def format_dollars(nano: int) -> str:
    """Return billionths of a US dollar as dollars: two digits behind the point, or as many as there are."""
    dollars = Decimal(nano).scaleb(-_NANO)
    return f"{dollars:,.2f}" if dollars == dollars.quantize(_CENT) else f"{dollars.normalize():,f}"


def round_dollars(nano: int, *, up: bool) -> str:
    """Return dollars with three digits that count, rounded away from what a run may take: a bound stays one."""
    dollars = Decimal(nano).scaleb(-_NANO)
    if not dollars:
        return "0.00"
    unit = Decimal(1).scaleb(min(-2, dollars.adjusted() - 2))
    return f"{dollars.quantize(unit, rounding='ROUND_UP' if up else 'ROUND_DOWN'):,f}"


def describe_least(measure: Quantity, figure: Figure) -> str:
    """Return the shortest case, or that no run is completed."""
    if figure.least is None:
        return "no run is completed"
    if measure is Quantity.COST:
        return f"${round_dollars(figure.least, up=False)}"
    return format_amount(measure, figure.least)


def describe_most(measure: Quantity, figure: Figure) -> str:
    """Return the worst case, or that it has no bound."""
    most = find_most(measure, figure)
    if most is None:
        return "no bound"
    return f"${round_dollars(most, up=True)}" if measure is Quantity.COST else format_amount(measure, most)


def list_nodes(way: Way) -> tuple[str, ...]:
    """Return the nodes of a way in order; those that run together stand one after the other."""
    return tuple(part for part in way if not isinstance(part, Joint))


@value
class MovedFigure:
    """A figure that differs between two plans: of which entry and case, and its values in words.

    `begun` is the entry where there are several.
    """

    entry: str
    begun: str
    measure: Quantity
    case: str
    before: str
    after: str
    amounts: tuple[int | None, ...]

    @property
    def subject(self) -> str:
        """The figure that differs, and its entry if the flow has several."""
        return f"{NAMES[self.measure]}{f' from entry {shorten(self.begun)}' if self.begun else ''}"

    def describe(self, arrow: str) -> str:
        """Return `worst case of turns 20 → 30`."""
        return f"{self.case} of {self.subject} {self.before} {arrow} {self.after}"


Moved = tuple[MovedFigure, ...]
WORST, SHORTEST = "worst case", "shortest case"


def list_moved(old: Sequence[EntryBounds], new: Sequence[EntryBounds]) -> Iterator[MovedFigure]:
    """Yield the figures of entries in both plans that have moved, the worst cases first."""
    before = {each.entry: each for each in old}
    pairs = [(before[each.entry], each) for each in new if each.entry in before]
    for case, (one, other), measure in product((WORST, SHORTEST), pairs, COMPARED):
        figures = one.figures[measure], other.figures[measure]
        if case == WORST:
            amounts = tuple(find_most(measure, each) for each in figures)
            told = [describe_most(measure, each) for each in figures]
        else:
            amounts = tuple(each.least for each in figures)
            told = [describe_least(measure, each) for each in figures]
        if amounts[0] != amounts[1]:
            yield MovedFigure(
                other.entry, other.entry if len(new) > 1 else "", measure, case, told[0], told[1], amounts
            )
