"""The bounds of a schedule for people."""

from __future__ import annotations

from collections.abc import Sequence

from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import format_duration, join_names, shorten
from stagec.core.words import format_count
from stagec.graph.schedule_bounds import ScheduleBounds
from stagec.plan import Plan

_NODES, _FAILURES = 40, 20
"""How many nodes of a chain, and failures, are printed."""


def draw_schedule(sheet: Sheet, plan: Plan, given: ScheduleBounds) -> None:
    """Write the critical path, the width, how much work is without a checkpoint, and what runs after failures."""
    noun = plan.names.node
    sheet.row("planned", f"{format_duration(given.planned)} if each {noun} takes the time that it states")
    sheet.row("critical", _join_chain(given.critical, sheet.arrow))
    if given.slowest != given.critical:
        sheet.row("slowest", _join_chain(given.slowest, sheet.arrow))
    number = format_count(len(given.width), noun)
    least = "" if given.is_width_exact else "at least "
    free = f"; the plan lets {given.parallel:,} run" if len(given.width) > given.parallel else ""
    sheet.row("width", f"{least}{number} could run at the same time{free}: {join_names(given.width)}")
    if len(given.gap) > 1:
        lost = f"up to {format_duration(given.gap_milliseconds)} of work without a checkpoint in between"
        sheet.row("at risk", f"{lost}: {_join_chain(given.gap, sheet.arrow)}")
    sheet.heading(f"what runs after a failure, once {shorten(plan.id)} is resumed")
    failures: list[Row] = []
    for each in given.failures[:_FAILURES]:
        what = f"{format_count(each.nodes, noun)}, up to {format_duration(each.milliseconds)} in a row"
        failures.append(((shorten(each.node),), (what,)))
    if len(given.failures) > _FAILURES:
        failures.append(((f"and {len(given.failures) - _FAILURES:,} more",), ()))
    sheet.table(failures)


def _join_chain(nodes: Sequence[str], arrow: str) -> str:
    """Return a chain, without its middle when it is long."""
    shown = [shorten(node) for node in nodes]
    if len(shown) > _NODES:
        half = _NODES // 2
        shown = [*shown[:half], f"… ({len(shown) - 2 * half:,} more)", *shown[-half:]]
    return f" {arrow} ".join(shown)
