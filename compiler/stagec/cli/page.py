"""The page of one rule, for reading in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.cli.catalogue import Entry
from stagec.cli.prose import prose
from stagec.core.canvas import Canvas
from stagec.core.visible import visible


def page(each: Entry, canvas: Canvas) -> str:
    """Return the rule's name, its page, and where it comes from."""
    rule = each.rule
    title = f"{rule.code} {rule.name} ({rule.severity}{', only when selected' if each.family.optional else ''})"
    facts = {
        "family": [each.family.name],
        "groups": rule.groups,
        "since": [rule.since],
        "origin": rule.origin,
        "url": [each.url],
    }
    lines = [visible(line, canvas.encoding) for line in prose(rule.explanation, canvas.width).splitlines()]
    body = [_heading(line, canvas) if line.startswith("#") else line for line in lines]
    told = [f"{name + ':' if first else '':<8}{text}" for name, texts in facts.items() for first, text in _first(texts)]
    return "".join(f"{line}\n" for line in (_heading(title, canvas), "", *body, "", *told))


def _heading(line: str, canvas: Canvas) -> str:
    return f"\x1b[1m{line}\x1b[0m" if canvas.colour else line


def _first(texts: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """Tell the first text from those that stand below it."""
    return ((index == 0, text) for index, text in enumerate(texts))
