"""Bounds for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from stagec.cli.commands.bounds.measured import BoundedFlow, UnboundedFlow, describe_basis
from stagec.cli.commands.bounds.schedule_page import draw_schedule
from stagec.cli.figures import asks_again, describe_least, describe_most, explain_lack
from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import format_duration, join_names, shorten
from stagec.core.words import format_count, quote, shorten_digest
from stagec.graph.bounds import Repetition
from stagec.graph.figures import EntryBounds, Figure, UpperBound
from stagec.graph.usage import Quantity
from stagec.graph.way import Joint, Way
from stagec.plan import Plan

_ERRORS, _CYCLES, _PARTS = 8, 8, 60
"""How many errors, cycles and parts of a way are printed."""
_PERIOD = 12
"""How many nodes that come again and again are folded."""


def draw_flow(sheet: Sheet, given: BoundedFlow) -> None:
    """Write the bounds of a flow, for each entry, and what in it may be done again."""
    plan = given.plan
    sheet.heading(plan.id if plan.title is None else f"{plan.id}: {plan.title}")
    sheet.row("from", given.name_file(given.file))
    sheet.row("plan", shorten_digest(given.digest))
    limits = plan.limits
    together = f"; at most {limits.parallel:,} at the same time" if limits.parallel > 1 else ""
    if limits.executions is None:
        limit = f"none{together}"
    else:
        limit = f"{format_count(limits.executions, 'step')}; a run that needs more ends as {limits.reached}{together}"
    sheet.row("limit", limit)
    for line in describe_basis(given):
        sheet.row("assumes", line)
    for entry in given.bounds.entries:
        if len(given.bounds.entries) > 1:
            sheet.heading(f"{shorten(plan.id)} from entry {shorten(entry.entry) or repr('')}")
        _draw_entry(sheet, plan, entry)
    if given.bounds.repetitions:
        sheet.heading(f"retries of {shorten(plan.id)}")
        sheet.table(_list_repetitions(given.bounds.repetitions))


def _draw_entry(sheet: Sheet, plan: Plan, entry: EntryBounds) -> None:
    figures = entry.figures
    sheet.row("begins", *(shorten(each) for each in (entry.node,) if each is not None))
    if entry.executions.most is None:
        executions = "no bound: nothing limits how often a run repeats; a limit of executions would"
    else:
        why = ", where the limit ends the run" if entry.is_cut else ""
        executions = f"at most {entry.executions.most:,}{why}{_without_retries(entry.executions, _number)}"
    sheet.row("steps", f"{executions}{_at_least(Quantity.EXECUTIONS, figures[Quantity.EXECUTIONS])}")
    sheet.row("turns", _describe_turns(entry))
    if asks_again(entry):
        sheet.row("requests", *_describe_use(Quantity.REQUESTS, figures[Quantity.REQUESTS]))
    if entry.turns.most != 0:
        for label, measure in _USED.items():
            sheet.row(label, *_describe_use(measure, figures[measure]))
    sheet.row("time", *_describe_time(entry))
    cycles = [join_names(cycle) for cycle in entry.cycles[:_CYCLES]]
    if len(entry.cycles) > _CYCLES:
        cycles.append(f"{len(entry.cycles) - _CYCLES:,} more")
    sheet.row("repeats", *cycles)
    _draw_ways(sheet, entry)
    if entry.schedule is not None:
        draw_schedule(sheet, plan, entry.schedule)


_USED = {"calls": Quantity.CALLS, "input": Quantity.INPUT, "output": Quantity.OUTPUT, "cost": Quantity.COST}
"""The rows about what models use."""


def _draw_ways(sheet: Sheet, entry: EntryBounds) -> None:
    """Write the ways that take most and least, each once."""
    told: list[Way] = []
    for label, measure, is_most in _WAYS:
        figure = entry.figures[measure]
        way = figure.longest if is_most else figure.shortest
        if entry.schedule is None and way and way not in told:
            told.append(way)
            sheet.row(label, *describe_way(way, sheet.arrow))


_WAYS = (
    ("longest", Quantity.EXECUTIONS, True),
    ("slowest", Quantity.MILLISECONDS, True),
    ("dearest", Quantity.COST, True),
    ("shortest", Quantity.EXECUTIONS, False),
    ("cheapest", Quantity.COST, False),
)


def draw_refusal(sheet: Sheet, given: UnboundedFlow) -> None:
    """Write why a flow has no bound, with the place of each error."""
    sheet.heading(shorten(given.refused.flow.id))
    sheet.row("from", given.name_file(given.refused.flow.at.file))
    sheet.row("no bound", f"it has no plan: {given.refused.reason}")
    for each in given.errors[:_ERRORS]:
        start = each.span.start
        sheet.row("", f"{given.name_file(each.at.file)}:{start.line}:{start.column}: {each.code} {each.message}")
    if len(given.errors) > _ERRORS:
        sheet.row("", f"and {len(given.errors) - _ERRORS:,} more: {quote(given.refused.command)} lists them")


def _describe_turns(entry: EntryBounds) -> str:
    least = _at_least(Quantity.TURNS, entry.figures[Quantity.TURNS])
    if entry.turns.most is None:
        return f"no bound{least}"
    if entry.turns.most == 0:
        return "none"
    return f"at most {entry.turns.most:,}{_without_retries(entry.turns, _number)}{least}"


def _at_least(measure: Quantity, figure: Figure) -> str:
    if figure.least is None:
        return "; no run is completed"
    return f"; at least {describe_least(measure, figure)}" if figure.least else ""


def _describe_use(measure: Quantity, figure: Figure) -> Iterator[str]:
    """Yield how much of something models use, or what would have to be known."""
    if figure.upper.most is not None:
        unit = " tokens" if measure in {Quantity.INPUT, Quantity.OUTPUT} else ""
        yield f"at most {describe_most(measure, figure)}{unit}{_at_least(measure, figure)}"
        return
    for index, each in enumerate(figure.lacks):
        yield f"{'no bound' if index == 0 else 'nor'}: {explain_lack(each)}"
    if not figure.lacks:
        yield "no bound"
    unknown = {"model-name", "price"} & {each.kind for each in figure.lacks}
    if figure.least and not unknown:
        yield f"at least {describe_least(measure, figure)}"


def _number(given: int) -> str:
    return f"{given:,}"


def _without_retries(given: UpperBound, write: Callable[[int], str]) -> str:
    if given.first is None or given.first == given.most:
        return ""
    return f"; without retries {write(given.first)}"


def _describe_time(entry: EntryBounds) -> Iterator[str]:
    """Yield how long a run takes, or what in it has no limit and how long everything else takes."""
    limited = entry.milliseconds
    if limited.most is None:
        yield "no bound"
    elif not entry.unlimited:
        least = _at_least(Quantity.MILLISECONDS, entry.figures[Quantity.MILLISECONDS])
        yield f"at most {format_duration(limited.most)}{_without_retries(limited, format_duration)}{least}"
    else:
        for index, each in enumerate(entry.unlimited):
            yield f"{'no bound' if index == 0 else 'nor'}: {explain_lack(each)}"
        if limited.most:
            yield f"all else takes at most {format_duration(limited.most)}{_without_retries(limited, format_duration)}"


def describe_way(way: Way, arrow: str) -> Iterator[str]:
    """Yield a way as `plan → (test | lint) → review`, and what comes again and again as `(check → repair) 3 times`."""
    if way:
        names = [part if isinstance(part, Joint) else shorten(part) for part in way]
        folded = names if Joint.OPEN in way else list(_fold_repeats(names, arrow))
        # the parts of a way with what stands between them
        parts = folded[:_PARTS]
        text, is_first = "", True
        for part in parts:
            is_name = not isinstance(part, Joint)
            text += f" {arrow} " if not is_first and (is_name or part is Joint.OPEN) else ""
            text += part if is_name or part is not Joint.NEXT else " | "
            is_first = part in {Joint.OPEN, Joint.NEXT}
        yield text + (f" {arrow} …" if len(folded) > _PARTS else "")


def _fold_repeats(names: Sequence[str], arrow: str) -> Iterator[str]:
    """Yield names, and several that come at least twice in a row as one part."""
    at = 0
    while at < len(names):
        times: dict[int, int] = {}
        for period in range(1, _PERIOD + 1):
            times[period] = 1
            while names[at + times[period] * period :][:period] == names[at : at + period]:
                times[period] += 1
        period = max(times, key=lambda each: each * (times[each] - 1))
        if times[period] > 1:
            inner = f" {arrow} ".join(names[at : at + period])
            yield f"{inner if period == 1 else f'({inner})'} {times[period]} times"
        else:
            yield names[at]
            period = 1
        at += period * times[period]


def _list_repetitions(given: Iterable[Repetition]) -> Iterator[Row]:
    for each in given:
        repetition: list[str] = []
        if each.attempts > 1:
            waits = f", with waits of {format_duration(each.wait)} in all" if each.wait else ""
            repetition.append(f"at most {format_count(each.attempts, 'attempt')}{waits}")
        if each.action is not None:
            validators = format_count(each.validations, "validator")
            times = f", at most {each.validated} failures" if each.action == "retry" else ""
            repetition.append(f"validated by {validators}; then {each.action}{times}")
        yield (shorten(each.node),), tuple(repetition)
