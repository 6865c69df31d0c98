"""Names between brackets: how people write placeholders in one template language or another."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator

from stagec.core.value import value

_NAME = r"[A-Za-z_][\w-]{0,99}(?:\.[\w-]{1,99}|\[\d{1,9}\]){0,20}"
_BRACKETED = re.compile(
    r"(?<!\\)(?P<open>\{\{\{?|[$#@%]\{|\[\[|\{)[ \t]{0,8}"
    rf"(?P<name>{_NAME})[ \t]{{0,8}}(?P<close>\}}{{1,3}}|\]\])"
    r"|(?P<statement>\{%[^%\n]{1,200}%\}|<%[^%\n]{1,200}%>|\{\{[#/^][^{}\n]{1,200}\}\})"
)
_BRACKET = re.compile(r"[{\[<]")
_SIGILS = "$#@%"
"""Characters before a bracket in some syntaxes."""
_WORD = re.compile(_NAME)
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]{1,500}(?<!`)\1(?!`)")
_CLOSING = {"{{{": "}}}", "{{": "}}", "[[": "]]"}
_STATEMENT = 2
"""The characters that open a statement: `{%`, `<%`, or `{{` before `#` or `/`."""


@value
class Bracketed:
    """Names between brackets: where they begin and end, what opens them, and the names, one or those of a statement.

    `is_code` tells that they stand in code, `is_fenced` in a block of it: there brackets may mean what they say.
    """

    start: int
    end: int
    opener: str
    names: tuple[str, ...]
    is_code: bool = False
    is_fenced: bool = False


def find_bracketed(text: str, besides: Container[str] = ()) -> Iterator[Bracketed]:
    """Yield the names between brackets in a Markdown text, in order, except those behind some openers. Linear."""
    matches = (match for match in _find_matches(text) if match["open"] not in besides)
    found = [each for match in matches if (each := _read(match)) is not None and each.opener not in besides]
    # the blocks of code of a text; one that is never closed goes on to the end
    if found:
        known: list[tuple[int, int]] = []
        opened: re.Match[str] | None = None
        for match in _FENCE.finditer(text):
            if opened is None:
                opened = match
            elif match["mark"].startswith(opened["mark"]):
                known.append((opened.start(), match.end()))
                opened = None
        fences = known if opened is None else [*known, (opened.start(), len(text))]
    else:
        fences = []
    inline = [match.span() for match in _INLINE.finditer(text)] if found else []
    for each in found:
        fenced = _is_inside(each.start, fences)
        code = fenced or _is_inside(each.start, inline)
        yield Bracketed(each.start, each.end, each.opener, each.names, code, fenced)


def _find_matches(text: str) -> Iterator[re.Match[str]]:
    """Yield the texts between brackets; to find a bracket first is much faster."""
    end = 0
    for bracket in _BRACKET.finditer(text):
        at = bracket.start()
        if at < end:
            continue
        sigil = at > end and text[at - 1] in _SIGILS and _BRACKETED.match(text, at - 1)
        match = sigil or _BRACKETED.match(text, at)
        if match is not None:
            yield match
            end = match.end()


def _read(match: re.Match[str]) -> Bracketed | None:
    statement, opener = match["statement"], match["open"]
    if statement is not None:
        names = tuple(word[0] for word in _WORD.finditer(statement))
        return Bracketed(*match.span(), statement[:_STATEMENT], names) if names else None
    closing = _CLOSING.get(opener, "}")
    if not match["close"].startswith(closing):
        return None
    end = match.end() - len(match["close"]) + len(closing)
    return Bracketed(match.start(), end, opener, (match["name"],))


def _is_inside(place: int, spans: list[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (place, place)) - 1
    return at >= 0 and place < spans[at][1]
