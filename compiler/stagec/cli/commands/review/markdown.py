"""A review as one comment for a pull request: the verdict first, details folded, within what GitHub accepts."""

from __future__ import annotations

from collections.abc import Iterator

from stagec import emitters
from stagec.cli.commands.review.comment_part import CommentPart, join_parts
from stagec.cli.commands.review.costs import MovedBound
from stagec.cli.commands.review.gather import Review, ReviewedFlow, count_severity
from stagec.cli.differences import (
    describe_change,
    escape_cell,
    fence_lines,
    quote_cell,
    quote_markdown,
    write_prose,
)
from stagec.cli.figures import explain_lack
from stagec.cli.wording import shorten
from stagec.comparison.kind import Grade
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.shelf import member
from stagec.core.value import replace, value
from stagec.core.words import format_count
from stagec.emitters import Emitter
from stagec.graph.figures import Unlimited
from stagec.graph.usage import Quantity
from stagec.picture.document import Fate, Picture, Role
from stagec.picture.failures import Edges, draw_failures
from stagec.picture.overlay import focus_changes
from stagec.picture.reduce import find_exceeded, fit

_FLOWS, _SHOWN, _PICTURES = 15, 10, 3
"""Flows in the table, changes and findings that are not folded, and drawings."""
_FEW, _COSTS = 3, 4
"""Flows of which the table shows several bounds, and how many."""
_LARGE = 40
"""Boxes of a drawing, above which only what is near changes is drawn."""
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
        sign = "❌" if self.review.is_bad else "⚠️" if self.review.warnings else "✅"
        verdict = f"{self.review.verdict[0].upper()}{self.review.verdict[1:]}"
        subject = "Compared" if self.review.new == "." else f"{quote_markdown(shorten(self.review.new))} compared"
        went_off = f", where it went off {quote_markdown(shorten(self.review.branch))}" if self.review.branch else ""
        yield CommentPart(
            (f"## {sign} {verdict}", "", f"{subject} with {quote_markdown(shorten(self.review.old))}{went_off}.")
        )
        if self.review.changed:
            head = ("", "| Flow | What changes | Runs in flight | What a run costs at most |", "|---|---|---|---|")
            rows = [self._write_row(each) for each in self.review.changed[:_FLOWS]]
            rest = len(self.review.changed) - _FLOWS
            yield CommentPart((*rows, *((f"| … | {format_count(rest, 'more flow')} | | |",) if rest > 0 else ())), head)
            yield from self._explain_lack()
        breaking = [each for flow in self.review.changed for each in self._list_breaking(flow)]
        yield from _list_some(breaking, "What breaks runs in flight", 1)
        serious = [each for each in self.review.fresh if each.severity is not Severity.NOTE]
        yield from _list_some([_write_finding(each) for each in serious], "New findings", 2)
        yield from self._list_rest(breaks=bool(breaking))

    def _explain_lack(self) -> Iterator[CommentPart]:
        """Yield why it is not known what runs cost, where that matters."""
        nodes: dict[str, dict[str, None]] = {}
        for lack in (lack for flow in self.review.changed if flow.costs.moved for lack in flow.costs.lacks):
            nodes.setdefault(lack.kind, {}).update(dict.fromkeys(lack.nodes))
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
        cells = (quote_cell(shorten(flow.id)), self._tell_changes(flow), self._tell_runs(flow), self._tell_costs(flow))
        return f"| {' | '.join(cells)} |"

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
        lines = [line for flow in self.review.changed if flow.changes for line in _list_changes(flow)]
        number = sum(len(each.changes) for each in self.review.changed)
        if lines:
            yield CommentPart(tuple(lines), _fold(f"All changes ({number:,})"), _END, rank=8)
        moved = tuple(
            f"| {quote_cell(shorten(flow.id))} | {quote_cell(shorten(each.entry)) if each.entry else ''} "
            f"| {escape_cell(f'{_point(each)}{each.describe()}')} |"
            for flow in self.review.changed
            for each in flow.costs.moved
        )
        if moved:
            head = ("| Flow | Entry | At most |", "|---|---|---|")
            yield CommentPart(moved, (*_fold(f"What runs take at most ({len(moved):,})"), *head), _END, rank=8)
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
                yield CommentPart(tuple(map(_write_finding, found)), _fold(summary), _END, rank=9)


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


def _write_finding(found: Diagnostic) -> str:
    at = quote_markdown(f"{found.at.file}:{found.span.start.line}")
    return f"- {_SIGNS[found.severity]} **{found.code}** {at}: {write_prose(found.message)}"


def _write_picture(emitter: Emitter, picture: Picture, title: str, number: int) -> Iterator[CommentPart]:
    drawn = emitter.emit((picture,)).decode().splitlines()
    opening = ("", "<details open>" if number == 0 else "<details>", f"<summary>{title}</summary>", "", "```mermaid")
    yield CommentPart(tuple(drawn), opening, ("```", *_END), rank=4 + number, is_cut=False)


def _name_plainly(name: str) -> str:
    """Return a name for a summary, which is HTML: letters and the like only."""
    shown = "".join(each if each.isalnum() or each in "-. " else "_" for each in shorten(name))
    return f"<code>{shown}</code>"


def _list_changes(flow: ReviewedFlow) -> Iterator[str]:
    yield from ("", f"**{quote_markdown(shorten(flow.id))}**", "")
    for each in flow.changes:
        told = f"- **{each.kind.code}** {each.kind.grade}: {write_prose(describe_change(each.change, '→'))}"
        yield "\n".join((told, "", *fence_lines(each.change.lines), "")) if each.change.lines else told
