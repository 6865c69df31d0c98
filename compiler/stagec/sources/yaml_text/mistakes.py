"""The outline of YAML text, line by line, and mistakes that it explains."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

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
        """Return the beginning of the line of an offset."""
        return max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1

    def line_end(self, at: int) -> int:
        """Return the end of the line of an offset, without its break and trailing blanks."""
        ends = [end for end in (self.text.find("\n", at), self.text.find("\r", at)) if end >= 0]
        return at + len(self.text[at : min(ends, default=len(self.text))].rstrip())

    def content(self, at: int) -> tuple[int, int]:
        """Return the bounds of the line of an offset without indentation."""
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
        """Return the bounds of an element between brackets, given an offset at its beginning."""
        end = _FLOW_END.search(self.text, at)
        stop = end.start() if end else len(self.text)
        return at, at + len(self.text[at:stop].rstrip())

    def value(self, at: int) -> tuple[int, int]:
        """Return the bounds of the value on the line of an offset; of a line without a key, all of it."""
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


Mistake = tuple[str, int, int, Mapping[str, object]]
"""Reason, start, end, facts: `character` is the offender, `key` and `value` those of its line."""


_UNSPACED = re.compile(r"[ ]*(?:-[ ]+)*(?:[A-Za-z_][\w.-]*(?P<colon>:)[^\s:/]|(?P<dash>-)[^\s-])")
_FOREIGN_COLON = re.compile(r"[ ]*(?:-[ ]+)*(?P<key>[\w.-]+)[ ]*(?P<colon>[\uff1a\ufe55\ua789\u2236])[ ]*(?P<value>.*)")
_FOREIGN_SPACE = re.compile(
    r"[ ]*(?:-[ ]+)*(?P<key>[\w. -]+):(?P<space>[\xa0\u2000-\u200b\u202f\u3000])\s*(?P<value>.*)"
)
_EQUALS = re.compile(r"[ ]*(?P<key>[A-Za-z_][\w.-]*)[ ]*(?P<sign>=)[ ]*(?P<value>.*)")
_REMARK = re.compile(r"(?://|/\*|<!--)")
_BULLET = re.compile(r"[*+\u2022]\s")
_LOST_BREAK = re.compile(r"(?:[.!?;][ ]+|[\u3002\uff01\uff1f\uff1b][ ]*)(?P<key>[a-z][a-z0-9_-]*)$")
_STRAY = re.compile(r"[,;]$")


def colon(where: Outline, at: int, _since: int | None) -> Mistake | None:
    """Tell a `: ` inside a plain value from a line above that is no key or already has a value."""
    entry = where.entry(at)
    if entry is None or entry.end("key") < at - (len(where.text[:at]) - len(where.text[:at].rstrip(" \t"))):
        return _inside_value(where, at)
    start, _ = where.content(at)
    last = where.before(start)
    return _below(where, start, at) if last >= 0 else _inside_value(where, at)


def _inside_value(where: Outline, at: int) -> Mistake:
    facts = where.facts(at)
    start, end = where.value(at)
    last = where.before(at)
    if start < last < at and where.text[last] in "\"'" and where.text[start] == where.text[last]:
        return _after_quote(where, at)
    lost = _LOST_BREAK.search(where.text, start, at)
    if lost and at + 1 < end:
        return "lost-break", lost.start("key"), at + 1, facts | {"text": f"{lost['key']}:"}
    return "colon", at, at + 1, facts | {"held": ": " if at + 1 < end else ":"}


def _below(where: Outline, start: int, at: int) -> Mistake:
    """Explain a `key:` that the line above it forbids."""
    above = where.content(where.before(start))[0]
    unspaced = explain_spelling(where, above)
    if unspaced:
        return unspaced
    owner = where.above(start, max(where.indent(start) - 1, 0))
    under = where.indent(above) < where.indent(start) or where.indent(start) == 0
    if where.entry(above) is None and under and not where.line(above).startswith("- "):
        return plain_line(where, above)
    facts = {"key": name_of(owner), "text": where.line(start), "character": ":"}
    prose = len(name_of(where.entry(start)).split()) > 1
    if where.entry(above) is None or prose:
        return "colon-below", at, at + 1, facts
    return "nested", start, where.line_end(start), facts


def explain_spelling(where: Outline, at: int) -> Mistake | None:
    """Explain a line whose key and value are not parted as YAML parts them."""
    start, end = where.content(at)
    found = _UNSPACED.match(where.text, where.line_start(start), end)
    if found:
        place = found.start("colon" if found["colon"] else "dash")
        facts = {"character": where.text[place], "text": where.text[start:end]}
        return (
            "missing-space",
            place,
            place + 1,
            facts | {"written": f"{where.text[start : place + 1]} {where.text[place + 1 : end]}"},
        )
    for pattern, group in ((_FOREIGN_COLON, "colon"), (_FOREIGN_SPACE, "space"), (_EQUALS, "sign")):
        other = pattern.match(where.text, where.line_start(start), end)
        if other:
            facts = {"character": other[group], "written": f"{other['key'].strip()}: {other['value']}"}
            return f"foreign-{group}", *other.span(group), facts | {"code": f"U+{ord(other[group]):04X}"}
    return None


def plain_line(where: Outline, at: int) -> Mistake:
    """Explain a line that should be a key and has no colon."""
    start, end = where.content(at)
    text = where.text[start:end]
    found = explain_spelling(where, at)
    if found:
        return found
    if _REMARK.match(text):
        return "remark", start, end, {"text": text}
    if _BULLET.match(text):
        return _bullet(where, start)
    above = where.above(start)
    facts = {"text": text, "key": name_of(above)}
    return ("unindented" if above else "missing-colon"), start, end, facts


def _bullet(where: Outline, start: int) -> Mistake:
    text = where.line(start)
    return "bullet", start, start + 1, {"character": text[0], "written": f"- {text[1:].strip()}"}


def explain_key(where: Outline, at: int, since: int | None) -> Mistake | None:
    """Explain a line that should be a key and is none to the parser."""
    start, _ = where.content(at if since is None else since)
    return _key_start(where, start) or plain_line(where, start)


def _key_start(where: Outline, at: int) -> Mistake | None:
    entry = where.entry(at)
    if entry is None or at != entry.start("key") or where.text[at] in "\"'":
        return None
    return "key-start", at, at + 1, {"character": where.text[at], "key": entry["key"].strip()}


def start_of_value(reason: str) -> Callable[[Outline, int, int | None], Mistake | None]:
    """Return a look at a value that begins with a character of YAML's own."""

    def look(where: Outline, at: int, since: int | None) -> Mistake | None:
        start = at if since is None or reason == "reserved" else since
        if start >= len(where.text):
            return None
        if _BULLET.match(where.text, start) and start == where.content(start)[0]:
            return _bullet(where, start)
        if where.text.startswith("{%", start - 1):
            return reason, start, start + 1, where.facts(start - 1) | {"character": "{%"}
        return _key_start(where, start) or (reason, start, start + 1, where.facts(start))

    return look


def after_value(where: Outline, at: int, since: int | None) -> Mistake | None:
    """Explain text behind a closing bracket or quote: `[a] | [b]`, `"x" y`."""
    here = since if since is not None and where.text[since : since + 1] in {"|", ">"} else at
    last = where.before(here)
    if here >= len(where.text) or last < where.line_start(here) or where.text[last] not in "]}\"'":
        return None
    closing = where.text[last]
    if closing in "\"'":
        return quotes(where, here, None)
    facts = where.facts(where.value(here)[0]) | {"character": where.text[here], "bracket": closing}
    if where.text[here] in "]}":
        return "extra-bracket", here, here + 1, facts
    return "after-bracket", here, where.line_end(here), facts


def quotes(where: Outline, at: int, _since: int | None) -> Mistake | None:
    """Tell a quote that was never closed from text behind a quoted value."""
    last = where.before(at)
    mark = where.text[last : last + 1]
    if not mark or mark not in "\"'" or last < where.line_start(at):
        return None
    # the offset of the quote that another one closes
    opened = last
    for opening in re.finditer(rf"(?:[:?-][ \t]+|[\[{{,][ \t]*|^[ \t]*){mark}", where.text[:last], re.MULTILINE):
        opened = opening.end() - 1
    # the line in which the quoted text ends looks like one that has nothing to do with it
    looks = where.entry(last) is not None or where.line(last).startswith("- ")
    if opened < where.line_start(last) and looks and where.indent(last) <= where.indent(opened):
        return "unclosed-quote", opened, opened + 1, where.facts(opened)
    return _after_quote(where, at)


def _after_quote(where: Outline, at: int) -> Mistake:
    mark = where.text[where.before(at)]
    entry = where.entry(at)
    if entry is not None and at < entry.end("key"):
        return "after-key", at, at + 1, {"character": where.text[at], "key": entry["key"].strip()}
    facts = where.facts(where.value(at)[0]) | {"character": where.text[at], "quote": mark}
    end = where.line_end(at)
    if _STRAY.match(where.text, at, end):
        return "stray", at, end, facts
    return "after-quote", at, end, facts | {"escaped": "''" if mark == "'" else '\\"'}


def flow(where: Outline, at: int, since: int | None) -> Mistake | None:
    """Tell a bracket that is never closed from a missing comma."""
    if since is None:
        return None
    if where.text[since : since + 1] not in {"[", "{"}:  # the parser's mark of a bracket at the very end is off by one
        since = max(where.text.rfind("[", 0, since), where.text.rfind("{", 0, since), 0)
    start, _ = where.content(since)
    if where.text.startswith("{{", start) and since <= start + 1:
        return plain_line(where, start)
    if at >= len(where.text) or where.line_start(at) != where.line_start(since):
        return (
            "unclosed-bracket",
            since,
            since + 1,
            where.facts(where.value(since)[0]) | {"character": where.text[since]},
        )
    if where.text[at] == ":":
        return "flow-colon", at, at + 1, where.facts(at)
    return "missing-comma", at, at + 1, where.facts(where.value(at)[0]) | {"character": where.text[at]}


def indentation(where: Outline, at: int, _since: int | None) -> Mistake:
    """Explain a line that stands further in or out than it may."""
    start, end = where.content(min(at, max(len(where.text) - 1, 0)))
    own, above = where.indent(start), where.above(start)
    if above and where.line(start).startswith("-") and where.indent(above.start()) == own and above["value"]:
        return "list-after-value", start, start + 1, {"key": name_of(above), "text": where.line(start)}
    # the indentations of the lines above that are still open, the nearest first
    at = start
    found: list[int] = []
    items = where.text[at] == "-"
    for _ in range(200):
        last = where.before(where.line_start(at))
        if last < 0:
            break
        at, _end = where.content(last)
        fits = where.text[at] != "#" and (not items or where.text[at] == "-")
        if fits and (not found or where.indent(at) < found[-1]):
            found.append(where.indent(at))
    facts = {"text": where.text[start:end], "indent": own, "allowed": tuple(sorted(found))}
    return "indentation", start, min(start + 1, len(where.text)), facts
