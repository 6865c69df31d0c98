"""A review as one comment for a pull request: the verdict first, details folded, within what GitHub accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec import emitters
from stagec.cli.commands.review.gather import Review, ReviewedFlow, count_severity
from stagec.cli.differences import (
    describe_change,
    escape_cell,
    fence_lines,
    quote_cell,
    quote_markdown,
    write_prose,
)
from stagec.cli.wording import shorten
from stagec.comparison.kind import Grade
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.shelf import member
from stagec.core.value import replace, value
from stagec.core.words import format_count
from stagec.emitters import Emitter
from stagec.picture.document import Fate, Picture, Role
from stagec.picture.failures import Edges, draw_failures
from stagec.picture.overlay import focus_changes
from stagec.picture.reduce import find_exceeded, fit

_LONGEST = 65_000
"""Bytes of a comment: GitHub accepts 65,536 characters, and whoever posts it adds a mark."""
_FLOWS, _SHOWN, _PICTURES = 15, 10, 3
"""Flows in the table, changes and findings that are not folded, and drawings."""
_LARGE = 40
"""Boxes of a drawing, above which only what is near changes is drawn."""
_SIGNS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.NOTE: "💬"}


@value
class CommentPart:
    """A part of the comment: its lines between what opens and closes it. Without `is_cut` it is there whole or not."""

    lines: tuple[str, ...]
    opening: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    rank: int = 0
    is_cut: bool = True

    def fill(self, room: int) -> str:
        """Return as much of it as there is room for, in bytes, and say what is left out."""
        whole = self._join(self.lines)
        if _weigh(whole) <= room:
            return whole
        kept: list[str] = []
        left = room - _weigh(self._join((_tell_rest(len(self.lines)),)))
        for line in self.lines if self.is_cut else ():
            left -= _weigh(line) + 1
            if left < 0:
                break
            kept.append(line)
        made = self._join((*kept, _tell_rest(len(self.lines) - len(kept)))) if kept else _NO_ROOM
        return made if _weigh(made) <= room else ""

    def _join(self, lines: Iterable[str]) -> str:
        return "\n".join((*self.opening, *lines, *self.closing, ""))


_NO_ROOM = "\n_A part is left out here: a comment has no room for it. `stagec review` prints all of it._\n"


def _tell_rest(number: int) -> str:
    return f"\n… and {number:,} more lines, for which a comment has no room. `stagec review` prints all of them."


def _weigh(text: str) -> int:
    return len(text.encode())


def write_comment(review: Review) -> str:
    """Return the comment; what people have written stands in it as code and never as markup."""
    writer = _CommentWriter(review)
    blocks = [*writer.write_head(), *writer.write_pictures(), *writer.write_details()]
    left = _LONGEST
    written = dict.fromkeys(range(len(blocks)), "")
    for at in sorted(written, key=lambda each: blocks[each].rank):
        written[at] = blocks[at].fill(left)
        left -= _weigh(written[at])
    return "".join(written.values())


@value
class _CommentWriter:
    """Writes the parts of the comment about a review."""

    review: Review

    def write_head(self) -> Iterator[CommentPart]:
        """Yield the verdict, the table of flows, and what is worst."""
        sign = "❌" if self.review.is_bad else "✅"
        verdict = f"{self.review.verdict[0].upper()}{self.review.verdict[1:]}"
        subject = "Compared" if self.review.new == "." else f"{quote_markdown(shorten(self.review.new))} compared"
        went_off = f", where it went off {quote_markdown(shorten(self.review.branch))}" if self.review.branch else ""
        yield CommentPart(
            (f"## {sign} {verdict}", "", f"{subject} with {quote_markdown(shorten(self.review.old))}{went_off}.")
        )
        if self.review.changed:
            head = ("", "| Flow | What changes | Runs in flight | What it costs at most |", "|---|---|---|---|")
            rows = [self._write_row(each) for each in self.review.changed[:_FLOWS]]
            rest = len(self.review.changed) - _FLOWS
            yield CommentPart((*rows, *((f"| … | {format_count(rest, 'more flow')} | | |",) if rest > 0 else ())), head)
        breaking = [each for flow in self.review.changed for each in self._list_breaking(flow)]
        yield from _list_some(breaking, "What breaks runs in flight", 1)
        serious = [each for each in self.review.fresh if each.severity is not Severity.NOTE]
        yield from _list_some([_write_finding(each) for each in serious], "New findings", 2)

    def _write_row(self, flow: ReviewedFlow) -> str:
        cells = (quote_cell(shorten(flow.id)), _tell_changes(flow), self._tell_runs(flow), _tell_costs(flow))
        return f"| {' | '.join(cells)} |"

    def _tell_runs(self, flow: ReviewedFlow) -> str:
        broken = flow.count(Grade.BREAKING, self.review.allowed)
        if broken:
            return f"❌ **{broken} breaking**"
        if flow.is_stuck:
            return "❌ not known: errors"
        return "none" if flow.action == "added" or flow.lacks else "✅ continue"

    def _list_breaking(self, flow: ReviewedFlow) -> Iterator[str]:
        lead = f"{quote_markdown(shorten(flow.id))}: " if len(self.review.changed) > 1 else ""
        for each in flow.changes:
            if each.kind.grade is Grade.BREAKING:
                allowed = " (allowed)" if each.kind.code in self.review.allowed else ""
                yield f"- **{each.kind.code}** {lead}{write_prose(each.sentence)}{allowed}"

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
        """Yield all changes and findings, folded."""
        lines = [line for flow in self.review.changed if flow.changes for line in _list_changes(flow)]
        number = sum(len(each.changes) for each in self.review.changed)
        if lines:
            yield CommentPart(tuple(lines), _fold(f"All changes ({number:,})"), _END, rank=8)
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
        yield CommentPart(tuple(lines[_SHOWN:]), _fold(f"{len(lines) - _SHOWN:,} more"), _END, rank=rank + 4)


def _fold(summary: str) -> tuple[str, ...]:
    return ("", "<details>", f"<summary>{summary}</summary>", "")


_END = ("", "</details>")


def _tell_changes(flow: ReviewedFlow) -> str:
    if flow.action is None or flow.action != "changed":
        return f"**{flow.action}**"
    fates = [box.fate for box in flow.picture.boxes.values() if box.role is Role.NODE]
    words = ((Fate.ADDED, "added"), (Fate.REMOVED, "removed"), (Fate.CHANGED, "changed"))
    nodes = ", ".join(f"{fates.count(fate)} {told}" for fate, told in words if fate in fates)
    told = [format_count(len(flow.changes), "change")] if flow.changes else ["changed"]
    return "<br>".join([*told, *([f"nodes: {nodes}"] if nodes else [])])


def _tell_costs(flow: ReviewedFlow) -> str:
    if not flow.moved:
        return "not known" if flow.lacks else "as before" if flow.action == "changed" else ""
    told = dict.fromkeys(f"{'⬆️' if each.is_raised else '⬇️'} {each.describe()}" for each in flow.moved)
    shown = [*told][:_COSTS]
    return escape_cell("<br>".join([*shown, *([f"… and {len(told) - _COSTS} more"] if len(told) > _COSTS else [])]))


_COSTS = 6


def _write_finding(found: Diagnostic) -> str:
    at = quote_markdown(f"{found.at.file}:{found.span.start.line}")
    return f"- {_SIGNS[found.severity]} **{found.code}** {at}: {write_prose(found.message)}"


def _write_picture(emitter: Emitter, picture: Picture, title: str, number: int) -> Iterator[CommentPart]:
    drawn = emitter.emit((picture,)).decode().splitlines()
    opening = ("", "<details open>" if number == 0 else "<details>", f"<summary>{title}</summary>", "", "```mermaid")
    yield CommentPart(tuple(drawn), opening, ("```", *_END), rank=3 + number, is_cut=False)


def _name_plainly(name: str) -> str:
    """Return a name for a summary, which is HTML: letters and the like only."""
    shown = "".join(each if each.isalnum() or each in "-. " else "_" for each in shorten(name))
    return f"<code>{shown}</code>"


def _list_changes(flow: ReviewedFlow) -> Iterator[str]:
    yield from ("", f"**{quote_markdown(shorten(flow.id))}**", "")
    for each in flow.changes:
        told = f"- **{each.kind.code}** {each.kind.grade}: {write_prose(describe_change(each.change, '→'))}"
        yield "\n".join((told, "", *fence_lines(each.change.lines), "")) if each.change.lines else told
