"""Changes as a comment on a review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.cli.differences import describe_change, fence_lines, quote_markdown
from stagec.cli.figures import Moved
from stagec.cli.sides import ComparedSide
from stagec.comparison.change import Action
from stagec.comparison.flows import FlowChanges
from stagec.core.words import format_count

_VERBS = {Action.ADDED: "Added", Action.REMOVED: "Removed", Action.CHANGED: "Changed"}


def write_comment(
    before: ComparedSide, after: ComparedSide, flows: Iterable[FlowChanges], figures: Iterable[Moved]
) -> str:
    """Return the comment; what people have written stands in it as code and never as markup."""
    changed = [each for each in zip(flows, figures, strict=True) if each[0].action is not None]
    sides = f"from {quote_markdown(before.label)} to {quote_markdown(after.label)}"
    if not changed:
        return f"### Flows\n\nNothing has changed {sides}.\n"
    blocks = "\n".join(line for each, moved in changed for line in _write_flow(each, moved))
    return f"### Flows\n\n{format_count(len(changed), 'flow')} with changes {sides}.\n{blocks}\n"


def _write_flow(given: FlowChanges, moved: Moved) -> Iterator[str]:
    if given.old is None or given.new is None:
        yield f"\n#### Flow {quote_markdown(given.flow)}: {given.action}"
        return
    yield f"\n#### Flow {quote_markdown(given.flow)}: {format_count(len(given.changes), 'change')}\n"
    for each in given.changes:
        yield f"- **{_VERBS[each.action]}** ({each.part.value}) {quote_markdown(describe_change(each, '→'))}"
        if each.lines:
            yield from ("", *fence_lines(each.lines), "")
    if moved:
        yield from ("", "| what runs take | before | after |", "|---|---:|---:|")
    for one in moved:
        yield f"| {one.case} of {one.subject} | {one.before} | {one.after} |"
