"""The lines of a YAML text as its author sees them: keys with their values, items, and what stands above what."""

from __future__ import annotations

import re

_ENTRY = re.compile(
    r"""(?P<lead>[ \t]*+(?:[-?][ \t]++)*+)"""
    r"""(?P<key>"[^"\r\n]*+"(?=[ \t]*+:)|'[^'\r\n]*+'(?=[ \t]*+:)|[^\s:#](?:[^:\r\n]|:(?=[^\s]))*+)"""
    r"""[ \t]*+:(?:[ \t]++(?P<value>.*))?$"""
)
_ITEM = re.compile(r"-[ \t]+")
_FLOW_END = re.compile(r"[,\]}\r\n]|$")
_MOST = 500
"""Lines that are searched for what a line belongs to."""


class Outline:
    """A text with the questions that mistakes ask of its lines; offsets count from the beginning of the text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def line_start(self, at: int) -> int:
        """Return where the line of an offset begins."""
        return max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1

    def line_end(self, at: int) -> int:
        """Return where the line of an offset ends, its break and trailing blanks left out."""
        ends = [end for end in (self.text.find("\n", at), self.text.find("\r", at)) if end >= 0]
        return at + len(self.text[at : min(ends, default=len(self.text))].rstrip())

    def content(self, at: int) -> tuple[int, int]:
        """Return where the line of an offset begins and ends without indentation."""
        start = self.line_start(at)
        end = self.line_end(start)
        return end - len(self.text[start:end].lstrip(" \t")), end

    def line(self, at: int) -> str:
        """Return the line of an offset without indentation."""
        return self.text[slice(*self.content(at))]

    def indent(self, at: int) -> int:
        """Return by how many characters the line of an offset is indented."""
        return self.content(at)[0] - self.line_start(at)

    def before(self, at: int) -> int:
        """Return the offset of the last character before another that is not blank, or -1."""
        while at > 0 and self.text[at - 1].isspace():
            at -= 1
        return at - 1

    def entry(self, at: int) -> re.Match[str] | None:
        """Return the line of an offset as `key: value`."""
        start = self.line_start(at)
        return _ENTRY.match(self.text, start, self.line_end(start))

    def above(self, at: int, most: int | None = None) -> re.Match[str] | None:
        """Return the nearest line above that is a `key: value` and indented by at most so much, or as this line is."""
        limit = self.indent(at) if most is None else most
        for _ in range(_MOST):
            last = self.before(self.line_start(at))
            if last < 0:
                return None
            at, _end = self.content(last)
            found = self.entry(at)
            if found and self.indent(at) <= limit:
                return found
        return None

    def owner(self, at: int) -> re.Match[str] | None:
        """Return the key above whose value the line of an offset is part of."""
        indent = self.indent(at)
        found = self.above(at)
        if found and self.indent(found.start()) == indent and not found["value"] and self.line(at).startswith("-"):
            return found
        return self.above(at, indent - 1) if indent else found

    def token(self, at: int) -> tuple[int, int]:
        """Return where an element between brackets begins and ends, given an offset at its beginning."""
        end = _FLOW_END.search(self.text, at)
        stop = end.start() if end else len(self.text)
        return at, at + len(self.text[at:stop].rstrip())

    def value(self, at: int) -> tuple[int, int]:
        """Return where the value on the line of an offset begins and ends; of a line without a key, all of it."""
        entry = self.entry(at)
        if entry is not None and entry["value"]:
            return entry.span("value")
        start, end = self.content(at)
        dash = _ITEM.match(self.text, start, end) if entry is None else None
        return (dash.end() if dash else start), end

    def facts(self, at: int) -> dict[str, object]:
        """Return the offending character, the value it stands in, and the key of that; `item` tells of list items."""
        entry = self.entry(at)
        facts: dict[str, object] = {"character": self.text[at : at + 1]}
        if entry is not None and at <= entry.start("key"):
            return facts | {"key": "", "value": entry["key"].strip()}
        start, end = self.value(at)
        owner = self.owner(at) if entry is None else None
        inside = (self._opens_flow(start) and at > start) or (
            owner is not None and self._opens_flow(owner.start("value"))
        )
        start, end = self.token(at) if inside else (start, end)
        facts |= {"key": name_of(entry or owner), "value": self.text[start:end]}
        dashed = entry is None and self.line(at).startswith("- ")
        return facts | {"item": True} if inside or dashed else facts

    def _opens_flow(self, at: int) -> bool:
        return at >= 0 and self.text[at : at + 1] in {"[", "{"}


def name_of(entry: re.Match[str] | None) -> str:
    """Return the key of a line without its quotes, or nothing."""
    return entry["key"].strip().strip("\"'") if entry else ""
