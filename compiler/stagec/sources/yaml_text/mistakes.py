"""The commonest mistakes in YAML: which characters of which line are to blame when a parser stops somewhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Mistake = tuple[str, int, int, Mapping[str, object]]
"""Reason, start, end, facts: `character` is the offender, `key` and `value` those of its line."""

_ENTRY = re.compile(
    r"""(?P<lead>[ \t]*(?:[-?][ ]+)*)(?P<key>"[^"]*"|'[^']*'|[^\s:#][^:]*?)[ \t]*:(?:[ \t]+(?P<value>.*))?$"""
)
_UNSPACED = re.compile(r"[ ]*(?:-[ ]+)*(?:[A-Za-z_][\w.-]*(?P<colon>:)[^\s:/]|(?P<dash>-)[^\s-])")
_LONGEST_LINE = 10_000


class Text:
    """A text with the questions that mistakes ask of it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def line_start(self, at: int) -> int:
        """Return where the line of an offset begins."""
        return max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1

    def line_end(self, at: int) -> int:
        """Return where the line of an offset ends, its break and trailing blanks left out."""
        ends = [end for end in (self.text.find("\n", at), self.text.find("\r", at)) if end >= 0]
        return at + len(self.text[at : min(ends, default=len(self.text))].rstrip())

    def entry(self, at: int) -> re.Match[str] | None:
        """Return the line of an offset as `key: value`."""
        start = self.line_start(at)
        return _ENTRY.match(self.text, start, min(self.line_end(start), start + _LONGEST_LINE))

    def facts(self, at: int) -> dict[str, object]:
        """Return the offending character, and key and value of its line."""
        entry = self.entry(at)
        character = self.text[at : at + 1]
        if entry is None:
            return {"character": character, "key": "", "value": self.text[slice(*self.content(at))].removeprefix("- ")}
        return {"character": character, "key": entry["key"].strip("\"'"), "value": entry["value"] or ""}

    def before(self, at: int) -> int:
        """Return the offset of the last character before another that is not blank, or -1."""
        return len(self.text[max(0, at - _LONGEST_LINE) : at].rstrip()) - 1 + max(0, at - _LONGEST_LINE)

    def content(self, at: int) -> tuple[int, int]:
        """Return where the line of an offset begins and ends without indentation."""
        start = self.line_start(at)
        end = self.line_end(start)
        return end - len(self.text[start:end].lstrip()), end


def colon(where: Text, at: int, _since: int | None) -> Mistake | None:
    """Tell a `: ` inside a plain value from a line above that is no key or already has a value."""
    start, _ = where.content(at)
    entry = where.entry(at)
    if entry is None or entry.end("key") < at - _blanks(where.text, at):
        return "colon", at, at + 1, where.facts(at)
    last = where.before(start)
    if last < 0:
        return "colon", at, at + 1, where.facts(at)
    return _line_above(where, last, start)


def _line_above(where: Text, last: int, start: int) -> Mistake:
    above, end = where.content(last)
    unspaced = _UNSPACED.match(where.text, where.line_start(above), end)
    if unspaced:
        return _missing_space(where, unspaced)
    if where.entry(above) is None:
        return "missing-colon", above, end, {"text": where.text[above:end]}
    return "nested", start, where.line_end(start), {"key": where.facts(above)["key"]}


def _missing_space(where: Text, unspaced: re.Match[str]) -> Mistake:
    at = unspaced.start("colon" if unspaced["colon"] else "dash")
    start, end = where.content(at)
    return "missing-space", at, at + 1, {"character": where.text[at], "text": where.text[start:end]}


def broken_key(where: Text, at: int, since: int | None) -> Mistake | None:
    """Explain a line that should be a key and has no colon."""
    start, end = where.content(at if since is None else since)
    unspaced = _UNSPACED.match(where.text, where.line_start(start), end)
    return (
        _missing_space(where, unspaced) if unspaced else ("missing-colon", start, end, {"text": where.text[start:end]})
    )


def start_of_value(reason: str) -> Callable[[Text, int, int | None], Mistake | None]:
    """Return a look at a value that begins with a character of YAML's own."""

    def look(where: Text, at: int, since: int | None) -> Mistake | None:
        start = at if since is None or reason == "reserved" else since
        return (reason, start, start + 1, where.facts(start)) if start < len(where.text) else None

    return look


def after_value(where: Text, at: int, since: int | None) -> Mistake | None:
    """Explain text behind a closing bracket or quote: `[a] | [b]`, `"x" y`."""
    here = since if since is not None and where.text[since : since + 1] in {"|", ">"} else at
    last = where.before(here)
    if last < where.line_start(here) or where.text[last] not in "]}\"'":
        return None
    closing = where.text[last]
    if closing in "\"'":
        return quotes(where, here, None)
    return "after-bracket", here, where.line_end(here), where.facts(here) | {"bracket": closing}


def quotes(where: Text, at: int, _since: int | None) -> Mistake | None:
    """Tell a quote that was never closed from text behind a quoted value."""
    last = where.before(at)
    mark = where.text[last : last + 1]
    if not mark or mark not in "\"'" or last < where.line_start(at):
        return None
    if where.text.count(mark, where.line_start(last), last + 1) % 2:
        opened = where.text.rfind(f": {mark}", 0, last)
        if opened >= 0:
            return "unclosed-quote", opened + 2, opened + 3, where.facts(opened + 2)
    return "after-quote", at, where.line_end(at), where.facts(at) | {"quote": mark}


def flow(where: Text, at: int, since: int | None) -> Mistake | None:
    """Tell a bracket that is never closed from a missing comma."""
    if since is None:
        return None
    if where.text[since : since + 1] not in {"[", "{"}:  # the parser's mark of a bracket at the very end is off by one
        since = max(where.text.rfind("[", 0, since), where.text.rfind("{", 0, since), 0)
    if at >= len(where.text) or where.line_start(at) != where.line_start(since):
        return "unclosed-bracket", since, since + 1, where.facts(since)
    if where.text[at] == ":":
        return "flow-colon", at, at + 1, where.facts(at)
    return "missing-comma", at, at + 1, where.facts(at)


def _blanks(text: str, at: int) -> int:
    return len(text[:at]) - len(text[:at].rstrip(" \t"))
