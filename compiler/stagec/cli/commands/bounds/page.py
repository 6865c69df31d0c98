"""Bounds for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from stagec.cli.commands.bounds.document import BoundedFlow, UnboundedFlow
from stagec.cli.commands.bounds.schedule_page import draw_schedule
from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import format_duration, join_names, shorten
from stagec.core.words import format_count, shorten_digest
from stagec.graph.bounds import EntryBounds, Repetition, Unlimited, UpperBound
from stagec.graph.longest import Joint, Way
from stagec.plan import Plan

_ERRORS, _CYCLES, _PARTS = 8, 8, 60
"""How many errors, cycles and parts of a way are printed."""
_PERIOD = 12
"""How many nodes that come again and again are folded."""


def draw_flow(sheet: Sheet, given: BoundedFlow) -> None:
    """Write the bounds of a flow, for each entry, and what in it may be done again."""
    plan = given.plan
    sheet.heading(plan.id if plan.title is None else f"{plan.id}: {plan.title}")
    sheet.row("from", given.file)
    sheet.row("plan", shorten_digest(given.digest))
    sheet.row("limit", _describe_limit(plan))
    for entry in given.bounds.entries:
        if len(given.bounds.entries) > 1:
            sheet.heading(f"{shorten(plan.id)} from entry {shorten(entry.entry) or repr('')}")
        _draw_entry(sheet, plan, entry)
    if given.bounds.repetitions:
        sheet.heading(f"retries of {shorten(plan.id)}")
        sheet.table(_list_repetitions(given.bounds.repetitions))


def _draw_entry(sheet: Sheet, plan: Plan, entry: EntryBounds) -> None:
    sheet.row("begins", *(shorten(each) for each in (entry.node,) if each is not None))
    sheet.row("steps", _describe_executions(entry))
    sheet.row("turns", _describe_turns(entry))
    sheet.row("time", *_describe_time(entry))
    sheet.row("repeats", *_describe_cycles(entry))
    sheet.row("longest", *_describe_way(entry.longest, sheet.arrow))
    if entry.schedule is not None:
        draw_schedule(sheet, plan, entry.schedule)
    elif entry.slowest != entry.longest:
        sheet.row("slowest", *_describe_way(entry.slowest, sheet.arrow))


def draw_refusal(sheet: Sheet, given: UnboundedFlow) -> None:
    """Write why a flow has no bound, with the place of each error."""
    sheet.heading(shorten(given.flow.id))
    sheet.row("from", given.flow.at.file)
    sheet.row("no bound", f"it has no plan: {given.reason}")
    for each in given.errors[:_ERRORS]:
        start = each.span.start
        sheet.row("", f"{each.at.file}:{start.line}:{start.column}: {each.code} {each.message}")
    if len(given.errors) > _ERRORS:
        sheet.row("", f"and {len(given.errors) - _ERRORS:,} more: 'stagec validate' lists them")


def _describe_limit(plan: Plan) -> str:
    limits = plan.limits
    together = f"; at most {limits.parallel:,} at the same time" if limits.parallel > 1 else ""
    if limits.executions is None:
        return f"none{together}"
    return f"{format_count(limits.executions, 'step')}; a run that needs more ends as {limits.reached}{together}"


def _describe_executions(entry: EntryBounds) -> str:
    if entry.executions.most is None:
        return "no bound: nothing limits how often a run repeats; a limit of executions would"
    why = ", where the limit ends the run" if entry.is_cut else ""
    return f"at most {entry.executions.most:,}{why}{_without_retries(entry.executions, _number)}"


def _describe_turns(entry: EntryBounds) -> str:
    if entry.turns.most is None:
        return "no bound"
    if entry.turns.most == 0:
        return "none"
    return f"at most {entry.turns.most:,}{_without_retries(entry.turns, _number)}"


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
        yield f"at most {format_duration(limited.most)}{_without_retries(limited, format_duration)}"
    else:
        for index, each in enumerate(entry.unlimited):
            yield f"{'no bound' if index == 0 else 'nor'}: {_describe_unlimited(each)}"
        if limited.most:
            yield f"all else takes at most {format_duration(limited.most)}{_without_retries(limited, format_duration)}"


def _describe_unlimited(given: Unlimited) -> str:
    return _UNLIMITED[given.kind].format(nodes=join_names(given.nodes))


_UNLIMITED = {
    "model": "nothing limits how long a turn of a model takes (in {nodes}); --turn SECONDS assumes a limit",
    "person": "a person may be asked (in {nodes})",
    "hook": "Python callables take part (in {nodes})",
    "judge": "the world is asked whether the work is done (in {nodes})",
}


def _describe_cycles(entry: EntryBounds) -> Iterator[str]:
    yield from (join_names(cycle) for cycle in entry.cycles[:_CYCLES])
    if len(entry.cycles) > _CYCLES:
        yield f"{len(entry.cycles) - _CYCLES:,} more"


def _describe_way(way: Way, arrow: str) -> Iterator[str]:
    """Yield a way as `plan → (test | lint) → review`, and what comes again and again as `(check → repair) 3 times`."""
    if way:
        names = [part if isinstance(part, Joint) else shorten(part) for part in way]
        folded = names if Joint.OPEN in way else list(_fold_repeats(names, arrow))
        yield _join_parts(folded[:_PARTS], arrow) + (f" {arrow} …" if len(folded) > _PARTS else "")


def _join_parts(parts: Iterable[str], arrow: str) -> str:
    """Return the parts of a way with what stands between them."""
    text, is_first = "", True
    for part in parts:
        is_name = not isinstance(part, Joint)
        text += f" {arrow} " if not is_first and (is_name or part is Joint.OPEN) else ""
        text += part if is_name or part is not Joint.NEXT else " | "
        is_first = part in {Joint.OPEN, Joint.NEXT}
    return text


def _fold_repeats(names: Sequence[str], arrow: str) -> Iterator[str]:
    """Yield names, and several that come at least twice in a row as one part."""
    at = 0
    while at < len(names):
        times = {period: _count_repeats(names, at, period) for period in range(1, _PERIOD + 1)}
        period = max(times, key=lambda each: each * (times[each] - 1))
        if times[period] > 1:
            inner = f" {arrow} ".join(names[at : at + period])
            yield f"{inner if period == 1 else f'({inner})'} {times[period]} times"
        else:
            yield names[at]
            period = 1
        at += period * times[period]


def _count_repeats(names: Sequence[str], at: int, period: int) -> int:
    """Return how often so many names stand one after the other from an index on."""
    first, times = names[at : at + period], 1
    while names[at + times * period : at + (times + 1) * period] == first:
        times += 1
    return times


def _list_repetitions(given: Iterable[Repetition]) -> Iterator[Row]:
    for each in given:
        yield (shorten(each.node),), tuple(_describe_repetition(each))


def _describe_repetition(given: Repetition) -> Iterator[str]:
    if given.attempts > 1:
        waits = f", with waits of {format_duration(given.wait)} in all" if given.wait else ""
        yield f"at most {format_count(given.attempts, 'attempt')}{waits}"
    if given.action is not None:
        validators = format_count(given.validations, "validator")
        times = f", at most {given.validated} failures" if given.action == "retry" else ""
        yield f"validated by {validators}; then {given.action}{times}"
