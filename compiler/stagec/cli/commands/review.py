"""`stagec review`: everything that a reviewer has to know of a change, on one page or in one comment."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import product
from math import inf
from pathlib import Path
from typing import Annotated, Any

import click

from stagec.change.comparison.change import Action
from stagec.change.comparison.compare import compare_flow
from stagec.change.comparison.kind import Grade
from stagec.change.comparison.situation import JudgedChange, judge_flow
from stagec.cli import options
from stagec.cli.agent_rights import (
    ReportedAgent,
    ReportedSetting,
    ReviewedAgent,
    ReviewedGrant,
    compare_agents,
    compare_grants,
)
from stagec.cli.baselines import report_known
from stagec.cli.differences import ReportedJudgement, describe_change, read_codes
from stagec.cli.drawn_sides import DrawnChanges, FlowPair, draw_sides
from stagec.cli.figures import COMPARED, NAMES, NAMES_IN_JSON, explain_lack, find_most, format_amount, round_dollars
from stagec.cli.git import find_merge_base
from stagec.cli.limits import load_configuration
from stagec.cli.markdown import (
    CommentPart,
    MarkdownTable,
    escape_cell,
    fence_lines,
    join_parts,
    quote_cell,
    quote_markdown,
    write_prose,
)
from stagec.cli.report import ReportForm
from stagec.cli.running.assumptions import CostOptions, assume, models
from stagec.cli.running.options import prices
from stagec.cli.sheet import Row, Sheet
from stagec.cli.streams import show_progress
from stagec.cli.wording import shorten
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit
from stagec.core.shelf import member
from stagec.core.value import replace, value
from stagec.core.words import format_count
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.figures import Assumptions, EntryBounds, Unlimited
from stagec.ir.graph.usage import Quantity
from stagec.ir.plan import Plan
from stagec.ir.plan.codec import HIDDEN, Count, Positive, words
from stagec.sources.project.baseline import fingerprint
from stagec.views import emitters
from stagec.views.emitters import Emitter
from stagec.views.picture.document import Fate, Picture, Role
from stagec.views.picture.draw import Edges, draw_failures, find_exceeded, fit
from stagec.views.picture.overlay import focus_changes


@value
class MovedBound:
    """The most of something that runs from an entry take, before and after; None if nothing bounds it.

    It `is_new` when the flow was not there before.
    """

    entry: str
    measure: Quantity
    before: int | None
    after: int | None
    is_new: bool = False

    @property
    def is_raised(self) -> bool:
        """Whether runs may take more than they could."""
        return not self.is_new and _weigh_costs(self.after) > _weigh_costs(self.before)

    @property
    def now(self) -> str:
        """Return `12 steps`, `$1.20`, `no bound of turns`."""
        if self.after is None:
            return f"no bound of {NAMES[self.measure]}"
        has_unit = self.measure in {Quantity.COST, Quantity.MILLISECONDS}
        return _show(self.measure, self.after) + ("" if has_unit else f" {NAMES[self.measure]}")

    @property
    def was(self) -> str:
        """Return ` (was 20)`, and nothing where nothing was there."""
        return "" if self.is_new else f" (was {_show(self.measure, self.before)})"

    def describe(self) -> str:
        """Return `12 steps (was 20)`."""
        return f"{self.now}{self.was}"


def _show(measure: Quantity, given: int | None) -> str:
    if given is None:
        return "no bound"
    return f"${round_dollars(given, up=True)}" if measure is Quantity.COST else format_amount(measure, given)


def _weigh_costs(amount: int | None) -> float:
    return inf if amount is None else amount


_TOKENS = (Quantity.INPUT, Quantity.OUTPUT)
_ORDER = (Quantity.COST, Quantity.MILLISECONDS, Quantity.EXECUTIONS, Quantity.TURNS, Quantity.CALLS, *_TOKENS)
"""The quantities, in the order in which people ask for them."""


@value
class Costs:
    """The moved bounds of a flow, and the present ones, entry by entry."""

    moved: tuple[MovedBound, ...] = ()
    now: tuple[EntryBounds, ...] = ()

    @property
    def dearest(self) -> str:
        """The most money that a run costs, `$1.20`; empty if it is unknown or zero."""
        amounts = [each.figures[Quantity.COST].upper.most for each in self.now]
        most = max(map(_weigh_costs, amounts), default=0)
        return "" if most in {0, inf} else _show(Quantity.COST, int(most))

    @property
    def lacks(self) -> tuple[Unlimited, ...]:
        """Why it is not known how much money a run costs."""
        return tuple(lack for each in self.now for lack in each.figures[Quantity.COST].lacks)

    def select_worst(self) -> tuple[MovedBound, ...]:
        """Return of each thing that has moved the entry that takes most: money first, tokens only without money."""
        found: list[MovedBound] = []
        for measure in _ORDER:
            some = [each for each in self.moved if each.measure is measure]
            if some and not (measure in _TOKENS and found and found[0].measure is Quantity.COST):
                found.append(max(some, key=lambda each: (_weigh_costs(each.after), _weigh_costs(each.before))))
        return tuple(found)


def compare_costs(old: Plan | None, new: Plan, given: Assumptions) -> Costs:
    """Return the bounds of runs from the same entry that differ, and all bounds of a new flow."""
    now = bound(new, given).entries
    earlier = () if old is None else now if old == new else bound(old, given).entries
    before = {each.entry: each for each in earlier}
    moved: list[MovedBound] = []
    for entry, measure in product(now, COMPARED):
        after = find_most(measure, entry.figures[measure])
        known = before.get(entry.entry)
        was = None if known is None else find_most(measure, known.figures[measure])
        if (known is None and old is None and after) or (known is not None and was != after):
            moved.append(MovedBound(entry.entry, measure, was, after, is_new=known is None))
    return Costs(tuple(moved), now)


@value
class ReviewedFlow:
    """A flow of two sides: what has become of it, its changes, what its runs take, and its drawing.

    `lacks` tells which sides have no plan, so that nothing can be compared, and is empty otherwise. It `is_stuck` when
    it had a plan, with which runs may have begun, and has none any more.
    """

    id: str
    action: Action | None
    changes: tuple[JudgedChange, ...]
    costs: Costs
    picture: Picture
    lacks: tuple[str, ...] = ()
    is_stuck: bool = False

    def count(self, grade: Grade, allowed: frozenset[str]) -> int:
        """Return how many changes are of a grade and not allowed."""
        return sum(each.kind.grade is grade and each.kind.code not in allowed for each in self.changes)


@value
class Review:
    """Everything about two sides; of findings the new ones, the fixed ones, and those on both sides.

    `changed` are the flows that differ, or that cannot be compared: those that break come first. `branch` is the
    revision from which the newer side started, empty where nobody asked for it. `agents` are the agent files that
    differ, `grants` the permission rules, modes, folders, hooks and servers.
    """

    old: str
    new: str
    flows: tuple[ReviewedFlow, ...]
    changed: tuple[ReviewedFlow, ...]
    fresh: tuple[Diagnostic, ...]
    gone: tuple[Diagnostic, ...]
    kept: tuple[Diagnostic, ...]
    allowed: frozenset[str]
    branch: str = ""
    agents: tuple[ReviewedAgent, ...] = ()
    grants: tuple[ReviewedGrant, ...] = ()

    @property
    def breaking(self) -> int:
        """How many changes break runs in flight and are not allowed."""
        return sum(each.count(Grade.BREAKING, self.allowed) for each in self.flows)

    @property
    def errors(self) -> int:
        """How many errors are new."""
        return count_severity(self.fresh, Severity.ERROR)

    @property
    def warnings(self) -> int:
        """How many warnings are new."""
        return count_severity(self.fresh, Severity.WARNING)

    @property
    def stuck(self) -> int:
        """How many flows had a plan, with which runs may have begun, and have none any more."""
        return sum(each.is_stuck for each in self.flows)

    @property
    def wider(self) -> int:
        """How many settings differ with which agents may do more."""
        return sum(each.is_wider for each in self.grants)

    @property
    def is_bad(self) -> bool:
        """Whether something breaks or may break, or an error is new."""
        return bool(self.breaking or self.errors or self.stuck)

    @property
    def verdict(self) -> str:
        """The verdict, in one line."""
        broken = f"{format_count(self.breaking, 'change')} {'breaks' if self.breaking == 1 else 'break'} runs in flight"
        told = [broken] if self.breaking else []
        told += [format_count(self.errors, "new error")] if self.errors else []
        hidden = f"errors hide what {format_count(self.stuck, 'flow')} {'breaks' if self.stuck == 1 else 'break'}"
        told += [hidden] if self.stuck and not self.errors else []
        if not told:
            unseen = sum(bool(each.lacks) for each in self.flows)
            if self.changed:
                told.append("nothing breaks runs in flight")
            elif unseen:
                told.append(f"no change is seen, and errors hide parts of {format_count(unseen, 'flow')}")
            elif self.flows or not self.agents:
                told.append(f"no {'flow' if self.flows else 'agent'} has changed")
            else:
                told.append(f"{format_count(len(self.agents), 'agent')} changed")
            told.append("no new errors")
        gaining = sum(bool(each.gained) for each in self.agents)
        told += [f"{format_count(gaining, 'agent')} may call more tools"] if gaining else []
        told += [f"{format_count(self.wider, 'setting')} may allow more"] if self.wider else []
        told += [format_count(self.warnings, "new warning")] if self.warnings else []
        return ", ".join(told)


def count_severity(found: Iterable[Diagnostic], severity: Severity) -> int:
    """Return how many diagnostics are of a severity."""
    return sum(each.severity is severity for each in found)


def gather(drawn: DrawnChanges, allowed: frozenset[str], given: Assumptions) -> Review:
    """Return the review of two sides; figures about the cost of runs rest on assumptions."""
    flows = tuple(
        _review(pair, picture, drawn, given) for pair, picture in zip(drawn.pairs, drawn.pictures, strict=True)
    )
    differing = (each for each in flows if each.action is not None)
    changed = tuple(sorted(differing, key=lambda each: (-each.count(Grade.BREAKING, allowed), not each.is_stuck)))
    known = [{key: each for each, key in fingerprint(side.diagnostics)} for side in (drawn.old, drawn.new)]
    fresh, gone = (tuple(some[key] for key in some if key not in other) for some, other in (known[::-1], known))
    kept = tuple(known[1][key] for key in known[1] if key in known[0])
    findings = (_rank(fresh), _rank(gone), _rank(kept))
    agents = compare_agents(drawn.old.agents, drawn.new.agents)
    grants = compare_grants(drawn.old.grants, drawn.new.grants)
    return Review(drawn.old.label, drawn.new.label, flows, changed, *findings, allowed, agents=agents, grants=grants)


def _rank(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(found, key=lambda each: -each.severity.weight))


def _review(pair: FlowPair, picture: Picture, drawn: DrawnChanges, given: Assumptions) -> ReviewedFlow:
    old, new = (None if each is None else each.plan for each in (pair.old, pair.new))
    sides = ((pair.old, drawn.old.label), (pair.new, drawn.new.label))
    lacks = tuple(label for side, label in sides if side is not None and side.plan is None)
    if pair.old is None or pair.new is None:
        action = Action.ADDED if pair.old is None else Action.REMOVED
        changes = judge_flow(compare_flow(pair.id, old, new)).changes if old or new else ()
        costs = Costs() if new is None else compare_costs(None, new, given)
        return ReviewedFlow(pair.id, action, changes, costs, picture, lacks)
    if old is None or new is None:
        changed = None if picture.fate is Fate.SAME else Action.CHANGED
        return ReviewedFlow(pair.id, changed, (), Costs(), picture, lacks, is_stuck=old is not None)
    changes = pair.changes or ()
    costs = compare_costs(old, new, given)
    return ReviewedFlow(pair.id, Action.CHANGED if changes else None, changes, costs, picture)


_FLOWS, _SHOWN, _PICTURES = 15, 10, 3
"""Flows in the table, changes and findings that are not folded, and drawings."""
_FEW, _COSTS = 3, 4
"""Flows of which the table shows several bounds, and how many."""
_LARGE = 40
"""Boxes of a drawing, above which only what is near changes is drawn."""
_CHANGED = MarkdownTable(("Flow", "What changes", "Runs in flight", "What a run costs at most"))
_MOVED = MarkdownTable(("Flow", "Entry", "At most"))
_SIGNS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.NOTE: "💬"}


def write_comment(review: Review) -> str:
    """Return the comment; what people have written stands in it as code and never as markup."""
    writer = _CommentWriter(review)
    return join_parts([*writer.write_head(), *writer.write_pictures(), *writer.write_details()])


@value
class _CommentWriter:
    """Writes the parts of the comment about a review."""

    review: Review

    def write_head(self) -> Iterator[CommentPart]:
        """Yield the verdict, the table of flows, and what is worst."""
        gains = self.review.wider or any(each.gained for each in self.review.agents)
        sign = "❌" if self.review.is_bad else "⚠️" if self.review.warnings or gains else "✅"
        verdict = f"{self.review.verdict[0].upper()}{self.review.verdict[1:]}"
        subject = "Compared" if self.review.new == "." else f"{quote_markdown(shorten(self.review.new))} compared"
        went_off = f", where it went off {quote_markdown(shorten(self.review.branch))}" if self.review.branch else ""
        yield CommentPart(
            (f"## {sign} {verdict}", "", f"{subject} with {quote_markdown(shorten(self.review.old))}{went_off}.")
        )
        if self.review.changed:
            rows = [self._write_row(each) for each in self.review.changed[:_FLOWS]]
            rest = len(self.review.changed) - _FLOWS
            more = (_CHANGED.row("…", format_count(rest, "more flow")),) if rest > 0 else ()
            yield CommentPart((*rows, *more), ("", *_CHANGED.head))
            yield from self._explain_lack()
        yield from _list_some([_write_agent_markdown(each) for each in self.review.agents], "What agents may do", 2)
        yield from _list_some([_write_grant_markdown(each) for each in self.review.grants], "What settings allow", 2)
        breaking = [each for flow in self.review.changed for each in self._list_breaking(flow)]
        yield from _list_some(breaking, "What breaks runs in flight", 1)
        serious = [each for each in self.review.fresh if each.severity is not Severity.NOTE]
        yield from _list_some([_write_finding_markdown(each) for each in serious], "New findings", 2)
        yield from self._list_rest(breaks=bool(breaking))

    def _explain_lack(self) -> Iterator[CommentPart]:
        """Yield the reasons why the cost of runs is unknown."""
        nodes: dict[str, dict[str, None]] = {}
        for lack in (lack for flow in self.review.changed if flow.costs.moved for lack in flow.costs.lacks):
            nodes.setdefault(lack.what, {}).update(dict.fromkeys(lack.nodes))
        for kind, names in nodes.items():
            why = explain_lack(Unlimited(kind, tuple(names)))
            yield CommentPart(("", f"What a run costs in money is not known: {write_prose(why)}."))

    def _list_rest(self, *, breaks: bool) -> Iterator[CommentPart]:
        """Yield the first changes that break nothing; a flow that is new or gone has one, which the table tells."""
        lines = [
            f"- {self._lead(flow)}{write_prose(describe_change(each.change, '→'))}"
            for flow in self.review.changed
            for each in flow.changes
            if flow.action == "changed" and each.kind.grade is not Grade.BREAKING
        ]
        rest = len(lines) - _SHOWN
        told = [*lines[:_SHOWN], *([f"- … and {format_count(rest, 'more change')}, below"] if rest > 0 else [])]
        if told:
            yield CommentPart(tuple(told), ("", f"**What {'else ' if breaks else ''}changes**", ""), rank=3)

    def _lead(self, flow: ReviewedFlow) -> str:
        return f"{quote_markdown(shorten(flow.id))}: " if len(self.review.changed) > 1 else ""

    def _write_row(self, flow: ReviewedFlow) -> str:
        told = (self._tell_changes(flow), self._tell_runs(flow), self._tell_costs(flow))
        return _CHANGED.row(quote_cell(shorten(flow.id)), *told)

    def _tell_changes(self, flow: ReviewedFlow) -> str:
        sides = [told for label, told in ((self.review.old, "before"), (self.review.new, "now")) if label in flow.lacks]
        errors = [f"errors {' and '.join(sides)}"] if sides else []
        if flow.action is None or flow.action != "changed":
            return "<br>".join([f"**{flow.action}**", *errors])
        fates = [box.fate for box in flow.picture.boxes.values() if box.role is Role.NODE]
        words = ((Fate.ADDED, "added"), (Fate.REMOVED, "removed"), (Fate.CHANGED, "changed"))
        nodes = ", ".join(f"{fates.count(fate)} {told}" for fate, told in words if fate in fates)
        told = [format_count(len(flow.changes), "change")] if flow.changes else ["changed"]
        return "<br>".join([*told, *([f"nodes: {nodes}"] if nodes else []), *errors])

    def _tell_runs(self, flow: ReviewedFlow) -> str:
        broken = flow.count(Grade.BREAKING, self.review.allowed)
        if broken:
            return f"❌ **{broken} breaking**"
        if flow.is_stuck:
            return "❌ not known: errors"
        return "none" if flow.action == "added" or flow.lacks else "✅ continue"

    def _tell_costs(self, flow: ReviewedFlow) -> str:
        costs = flow.costs
        if not costs.moved:
            money = f": {costs.dearest}" if costs.dearest else ""
            return f"as before{money}" if costs.now else "not known" if flow.lacks else "none"
        told: list[str] = []
        if not any(each.measure is Quantity.COST for each in costs.moved):
            told.append(f"{costs.dearest} as before" if costs.dearest else "money: not known")
        for each in costs.select_worst()[: _COSTS if len(self.review.changed) <= _FEW else 1]:
            now = f"**{each.now}**" if each.measure is Quantity.COST else each.now
            told.append(f"{_point(each)}{now}{each.was}")
        return escape_cell("<br>".join(told))

    def _list_breaking(self, flow: ReviewedFlow) -> Iterator[str]:
        for each in flow.changes:
            if each.kind.grade is Grade.BREAKING:
                allowed = " (allowed)" if each.kind.code in self.review.allowed else ""
                yield f"- **{each.kind.code}** {self._lead(flow)}{write_prose(each.sentence)}{allowed}"

    def write_pictures(self) -> Iterator[CommentPart]:
        """Yield the drawings of flows."""
        emitter = member(emitters, "mermaid", Emitter)
        for number, flow in enumerate(self.review.changed[:_PICTURES]):
            bare = replace(flow.picture, remarks=(), changes=())  # what they say stands above
            picture = draw_failures(bare, emitter.edges)
            if len(picture.boxes) > _LARGE:
                picture = draw_failures(focus_changes(bare, 1), Edges.MAIN)
            pictures = fit((picture,), emitter.limits)
            if find_exceeded(pictures, emitter.limits) is None:
                yield from _write_picture(emitter, pictures[0], f"Drawing of {_name_plainly(flow.id)}", number)
        rest = len(self.review.changed) - _PICTURES
        if rest > 0:
            yield CommentPart(
                ("", f"{format_count(rest, 'more flow')} without a drawing here: `stagec graph --diff` draws them.")
            )

    def write_details(self) -> Iterator[CommentPart]:
        """Yield all changes, bounds and findings, folded."""
        lines = [line for flow in self.review.changed if flow.changes for line in _list_changes_markdown(flow)]
        number = sum(len(each.changes) for each in self.review.changed)
        if lines:
            yield CommentPart(tuple(lines), _fold(f"All changes ({number:,})"), _END, rank=8)
        moved = tuple(
            _MOVED.row(
                quote_cell(shorten(flow.id)),
                quote_cell(shorten(each.entry)) if each.entry else "",
                escape_cell(f"{_point(each)}{each.describe()}"),
            )
            for flow in self.review.changed
            for each in flow.costs.moved
        )
        if moved:
            yield CommentPart(moved, (*_fold(f"What runs take at most ({len(moved):,})"), *_MOVED.head), _END, rank=8)
        notes = tuple(each for each in self.review.fresh if each.severity is Severity.NOTE)
        folded = {
            "New notes": notes,
            "Findings as before": self.review.kept,
            "Findings that are gone": self.review.gone,
        }
        for told, found in folded.items():
            counted = ((count_severity(found, each), each.value) for each in Severity)
            summary = f"{told} ({', '.join(format_count(count, noun) for count, noun in counted if count)})"
            if found:
                yield CommentPart(tuple(map(_write_finding_markdown, found)), _fold(summary), _END, rank=9)


def _list_some(lines: list[str], heading: str, rank: int) -> Iterator[CommentPart]:
    """Yield a list, of which what is beyond the first lines is folded."""
    if lines:
        yield CommentPart(tuple(lines[:_SHOWN]), ("", f"**{heading}**", ""), rank=rank)
    if len(lines) > _SHOWN:
        yield CommentPart(tuple(lines[_SHOWN:]), _fold(f"{len(lines) - _SHOWN:,} more"), _END, rank=rank + 6)


def _fold(summary: str) -> tuple[str, ...]:
    return ("", "<details>", f"<summary>{summary}</summary>", "")


_END = ("", "</details>")


def _point(bound: MovedBound) -> str:
    return "" if bound.is_new else "⬆️ " if bound.is_raised else "⬇️ "


def _write_finding_markdown(found: Diagnostic) -> str:
    at = quote_markdown(f"{found.at.file}:{found.span.start.line}")
    return f"- {_SIGNS[found.severity]} **{found.code}** {at}: {write_prose(found.message)}"


def _write_agent_markdown(given: ReviewedAgent) -> str:
    sign = "⬆️ " if given.gained else "⬇️ " if given.lost else ""
    head = f"{given.shown.noun} {quote_markdown(shorten(given.shown.name))} ({quote_markdown(given.shown.file)})"
    action = "" if given.action is Action.CHANGED else f" **{given.action}**"
    told = "; ".join(map(write_prose, given.describe("→")))
    return f"- {sign}{head}{action}{': ' if told else ''}{told}"


def _write_grant_markdown(given: ReviewedGrant) -> str:
    name = f" {quote_markdown(shorten(given.shown.name))}" if given.shown.name else ""
    head = f"{'⬆️' if given.is_wider else '⬇️'} {given.shown.noun}{name} ({quote_markdown(given.shown.file)})"
    action = "" if given.action is Action.CHANGED else f" **{given.action}**"
    told = write_prose(given.describe("→"))
    return f"- {head}{action}{': ' if told else ''}{told}"


def _write_picture(emitter: Emitter, picture: Picture, title: str, number: int) -> Iterator[CommentPart]:
    drawn = emitter.emit((picture,)).decode().splitlines()
    opening = ("", "<details open>" if number == 0 else "<details>", f"<summary>{title}</summary>", "", "```mermaid")
    yield CommentPart(tuple(drawn), opening, ("```", *_END), rank=4 + number, is_cut=False)


def _name_plainly(name: str) -> str:
    """Return a name for a summary, which is HTML: letters and the like only."""
    shown = "".join(each if each.isalnum() or each in "-. " else "_" for each in shorten(name))
    return f"<code>{shown}</code>"


def _list_changes_markdown(flow: ReviewedFlow) -> Iterator[str]:
    yield from ("", f"**{quote_markdown(shorten(flow.id))}**", "")
    for each in flow.changes:
        told = f"- **{each.kind.code}** {each.kind.grade}: {write_prose(describe_change(each.change, '→'))}"
        yield "\n".join((told, "", *fence_lines(each.change.lines), "")) if each.change.lines else told


_MEASURES = {**NAMES_IN_JSON, Quantity.EXECUTIONS: "steps", Quantity.COST: "cost", Quantity.MILLISECONDS: "time"}
_MOST_OF_IT = "The most of it, null where nothing bounds it; milliseconds for time, billionths of a US dollar for cost."


@value
class ReportedBound:
    """The most of something that runs from an entry take; before is null also for an added flow."""

    entry: Annotated[str, "The name that selects the entry."]
    measure: Annotated[str, "The quantity.", words(*(_MEASURES[each] for each in COMPARED))]
    before: Annotated[int | None, _MOST_OF_IT]
    after: Annotated[int | None, _MOST_OF_IT]


@value
class ReportedFlow:
    """A flow of either side."""

    flow: Annotated[str, "The id of the flow."]
    action: Annotated[Action | None, "The change of the flow; null without any."]
    without_plan: Annotated[tuple[str, ...], "The sides of which no plan can be made: then changes are not all known."]
    changes: Annotated[tuple[ReportedJudgement, ...], "Every change, the worst first."]
    bounds: Annotated[
        tuple[ReportedBound, ...],
        "The upper bounds of runs that differ; of an added flow, all bounds.",
    ]

    @classmethod
    def of(cls, flow: ReviewedFlow, allowed: Container[str]) -> ReportedFlow:
        """Return the report of a flow; `allowed` are the codes that are let through."""
        changes = tuple(ReportedJudgement.of(each, allowed) for each in flow.changes)
        bounds = (
            ReportedBound(each.entry, _MEASURES[each.measure], each.before, each.after) for each in flow.costs.moved
        )
        return cls(flow.id, flow.action, flow.lacks, changes, tuple(bounds))


@value
class ReportedFinding:
    """A diagnostic of stagec validate."""

    code: Annotated[str, "The code of the rule."]
    name: Annotated[str, "The name of the rule."]
    severity: Annotated[Severity, "How grave it is."]
    message: Annotated[str, "The sentence for the user."]
    file: Annotated[str, "The file, from the root of the project."]
    line: Annotated[Positive, "The line, from 1."]
    column: Annotated[Positive, "The column, from 1."]

    @classmethod
    def of(cls, given: Diagnostic) -> ReportedFinding:
        """Return the report of a diagnostic."""
        start = given.span.start
        return cls(given.code, given.name, given.severity, given.message, given.at.file, start.line, start.column)


@value
class SortedFindings:
    """Findings of both sides, the gravest first."""

    new: Annotated[tuple[ReportedFinding, ...], "Findings on the newer side only."]
    gone: Annotated[tuple[ReportedFinding, ...], "Findings on the older side only."]
    kept: Annotated[tuple[ReportedFinding, ...], "Findings on both sides."]


@value
class ReviewReport:
    """The changes between two sides, with those that break runs, their costs and their findings."""

    against: Annotated[str, "The user's name of the older side."]
    branch: Annotated[str | None, "The revision from which the newer side started (`--merge-base`); null otherwise."]
    path: Annotated[str, "The user's name of the newer side."]
    verdict: Annotated[str, "The verdict, in one line for people."]
    breaking: Annotated[Count, "How many changes break runs in flight and are not allowed."]
    new_errors: Annotated[Count, "How many errors only the newer side has."]
    stuck: Annotated[Count, "How many flows had a plan, with which runs may have begun, and have errors now."]
    flows: Annotated[tuple[ReportedFlow, ...], "Every flow of both sides, by name."]
    agents: Annotated[
        tuple[ReportedAgent, ...],
        "Agents, commands, skills, prompts and workflows of other tools that differ, those that gain tools first.",
    ]
    settings: Annotated[
        tuple[ReportedSetting, ...],
        "Permission rules, permission modes, folders, hooks and servers that differ, those that may allow more first.",
    ]
    findings: Annotated[SortedFindings, "Findings of both sides, the gravest first."]
    review: Annotated[Review, HIDDEN]

    @classmethod
    def of(cls, review: Review) -> ReviewReport:
        """Return the report of a review."""
        found = (tuple(map(ReportedFinding.of, each)) for each in (review.fresh, review.gone, review.kept))
        return cls(
            against=review.old,
            branch=review.branch or None,
            path=review.new,
            verdict=review.verdict,
            breaking=review.breaking,
            new_errors=review.errors,
            stuck=review.stuck,
            flows=tuple(ReportedFlow.of(each, review.allowed) for each in review.flows),
            agents=tuple(map(ReportedAgent.of, review.agents)),
            settings=tuple(map(ReportedSetting.of, review.grants)),
            findings=SortedFindings(*found),
            review=review,
        )

    def draw(self, sheet: Sheet) -> None:
        """Write the review for people."""
        draw_review(sheet, self.review)


FORM = ReportForm("review", "review", ReviewReport)


_MOST = 20
"""Findings that are shown."""


def draw_review(sheet: Sheet, review: Review) -> None:
    """Write the verdict, what has changed in each flow, and the findings: new ones, and how many others there are."""
    sheet.heading(review.verdict)
    sheet.row("before", f"{review.old}, where it went off {review.branch}" if review.branch else review.old)
    sheet.row("now", review.new)
    for flow in review.changed:
        told = format_count(len(flow.changes), "change") if flow.changes else "changed"
        sheet.heading(f"{shorten(flow.id)}: {told if flow.action == 'changed' else f'flow {flow.action}'}")
        for label in flow.lacks:
            sheet.row("errors", f"the flow has errors in {label}: what its changes mean is not known")
        for each in flow.costs.moved:
            sheet.row("bounds", f"{f'{shorten(each.entry)}: ' if each.entry else ''}at most {each.describe()}")
        if flow.changes:
            sheet.table(_list_changes_page(flow, review.allowed, sheet.arrow))
    for agent in review.agents:
        action = "" if agent.action is Action.CHANGED else f" {agent.action}"
        sheet.heading(f"{agent.shown.noun} {shorten(agent.shown.name)}{action}")
        sheet.row("file", agent.shown.file)
        for told in agent.describe(sheet.arrow):
            sheet.row("change", told)
    for grant in review.grants:
        action = "changed" if grant.action is Action.CHANGED else grant.action
        sheet.heading(f"{grant.shown.noun} {shorten(grant.shown.name)}".rstrip() + f" {action}")
        sheet.row("file", grant.shown.file)
        if told := grant.describe(sheet.arrow):
            sheet.row("change", told)
    if review.fresh:
        sheet.heading(format_count(len(review.fresh), "new finding"))
        sheet.table(_list_findings(review.fresh))
    sheet.heading(f"{format_count(len(review.kept), 'finding')} as before, {len(review.gone)} gone")


def _list_changes_page(flow: ReviewedFlow, allowed: frozenset[str], arrow: str) -> Iterator[Row]:
    for each in flow.changes:
        is_breaking = each.kind.grade is Grade.BREAKING
        told = each.sentence if is_breaking else describe_change(each.change, arrow)
        accepted = " (allowed)" if each.kind.code in allowed else ""
        yield (each.kind.code, each.kind.grade.value), (f"{told}{accepted}",)


def _list_findings(found: Iterable[Diagnostic]) -> Iterator[Row]:
    known = tuple(found)
    for each in known[:_MOST]:
        at = f"{each.at.file}:{each.span.start.line}:{each.span.start.column}"
        yield (each.code, Severity(each.severity).value, at), (each.message,)
    if len(known) > _MOST:
        yield ("", "", ""), (f"and {len(known) - _MOST} more",)


@value
class ReviewRequest:
    """The arguments and options as given; None where one is absent."""

    against: str
    path: str = "."
    merge_base: bool = False
    flow: str | None = None
    allow: tuple[str, ...] = ()
    prices: Path | None = None
    models: tuple[str, ...] = ()
    output_format: str = "text"


def run(request: ReviewRequest) -> Exit:
    """Print the review, and return the exit status."""
    allowed = read_codes(request.allow)
    path = Path(request.path)
    with show_progress("reviewing …"):
        beside = path if path.exists() and request.path != "-" else Path()
        cost = CostOptions(prices=request.prices, models=request.models)
        given = assume(cost, load_configuration((beside,))).assumptions
        old = find_merge_base(request.against, beside) if request.merge_base else request.against
        drawn = draw_sides(old, request.path, request.flow, needs_flow=False)
        review = gather(drawn, allowed, given)
        review = replace(review, branch=request.against if request.merge_base else "")
    FORM.put(ReviewReport.of(review), request.output_format, markdown=lambda: write_comment(review))
    report_known(drawn.new.acceptance)
    return Exit.FINDINGS if review.is_bad else Exit.CLEAN


@click.command(short_help="Review a change: breaking changes, cost and findings.")
@click.argument("path", metavar="[PATH|PLAN]", default=".")
@click.option("--against", required=True, metavar="REV|PLAN", help="The older version: a revision, plan or folder.")
@click.option(
    "--merge-base",
    is_flag=True,
    help="Compare with the merge base of HEAD and the revision.",
)
@click.option("--flow", metavar="ID", help="Review only the flow with this id.")
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE",
    help="Treat breaking changes with this code as compatible; repeatable.",
)
@prices
@models
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def review(context: click.Context, /, **given: Any) -> None:
    """Review the changes of the flows and agent files in PATH, by default the current folder.

    The verdict comes first: whether changes break runs in flight, and whether errors are new. Then come the changes of
    each flow, the changes of its bounds, the tools that agents gain and lose, what settings allow, and the findings,
    new ones first.
    `markdown` is one comment for a pull request, with a drawing of each flow, and short enough for GitHub.

    Exit status: 0 no breaking change and no new error, 1 a breaking change, a new error, or errors that prevent the
    comparison, 2 usage or environment, 3 nothing to review, 4 internal error.
    """
    context.exit(run(ReviewRequest(**given)))
