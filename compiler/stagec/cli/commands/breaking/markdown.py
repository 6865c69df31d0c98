"""What changes mean, as a comment on a review."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from stagec.cli.differences import describe_change, quote_markdown
from stagec.cli.sides import ComparedSide
from stagec.comparison.classify import JudgedFlow
from stagec.comparison.kind import Grade
from stagec.core.words import format_count


def write_comment(
    before: ComparedSide, after: ComparedSide, flows: Iterable[JudgedFlow], allowed: Container[str]
) -> str:
    """Return the comment; what people have written stands in it as code and never as markup."""
    changed = [each for each in flows if each.changes]
    sides = f"from {quote_markdown(before.label)} to {quote_markdown(after.label)}"
    if not changed:
        return f"### Runs in flight\n\nNothing has changed {sides}.\n"
    blocks = "\n".join(line for each in changed for line in _write_flow(each, allowed))
    return f"### Runs in flight\n\n{format_count(len(changed), 'flow')} with changes {sides}.\n{blocks}\n"


def _write_flow(given: JudgedFlow, allowed: Container[str]) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.flow)}"
    for grade in Grade:
        found = [each for each in given.changes if each.kind.grade is grade]
        if found:
            yield f"\n**{format_count(len(found), f'{grade} change')}**\n"
        for each in found:
            told = each.sentence if grade is Grade.BREAKING else describe_change(each.change, "→")
            accepted = " (allowed)" if each.kind.code in allowed else ""
            yield f"- {each.kind.code} {each.kind.name}: {quote_markdown(told)}{accepted}"
