"""Markdown for comments: texts of anybody as code and never as markup, tables, and comments that services accept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from stagec.core.value import value
from stagec.core.words import visible


def quote_markdown(text: str) -> str:
    """Return a text as code in Markdown, whatever is in it."""
    shown = visible(text)
    ticks = "`"
    while ticks in shown:
        ticks += "`"
    pad = " " if shown[:1] in {"`", " ", ""} or shown.endswith(("`", " ")) else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


_TOKENS = re.compile(r"""'[^']*'[,;:.?]*|"(?:[^"\\…]|\\.)*["…][,;:.?]*|\S+""")
_PLAIN = re.compile(r"\(?(?:[A-Za-z]+(?:-[a-z]+)*(?:'s)?|\d{1,3}(?:,\d{3})*)\)?[,;:.?]?|→|->|=|[+~]")
_NAMED = re.compile(r"'([^\s']+)'([,;:.?]*)")


def write_prose(text: str) -> str:
    """Return a sentence in Markdown: plain words as they are, and everything else as code.

    Others may have written what it names: nothing in it is markup, a link, a mention of somebody or a reference.
    """
    parts: list[str] = []
    code: list[str] = []
    braces = brackets = 0  # that are open after these words: what stands in JSON is part of it
    for token in _TOKENS.findall(text):
        named = _NAMED.fullmatch(token)
        if braces > 0 or brackets > 0 or (named is None and not _PLAIN.fullmatch(token)):
            code.append(token)
            braces += token.count("{") - token.count("}")
            brackets += token.count("[") - token.count("]")
            continue
        parts += [_quote_words(code)] if code else []
        parts.append(token if named is None else f"{quote_markdown(named[1])}{named[2]}")
        code, braces, brackets = [], 0, 0
    return " ".join([*parts, *([_quote_words(code)] if code else [])])


def _quote_words(words: list[str]) -> str:
    """Return words as code; a mark of punctuation at their end stands behind it."""
    text = " ".join(words)
    bare = text.rstrip(",;:") or text
    return quote_markdown(bare) + text[len(bare) :]


def quote_cell(text: str) -> str:
    """Return a text as code in a cell of a table in Markdown."""
    return escape_cell(quote_markdown(text))


def escape_cell(text: str) -> str:
    """Return Markdown for a cell of a table: a bar would end the cell, also in code."""
    return text.replace("|", "\\|")


def fence_lines(lines: tuple[str, ...]) -> Iterator[str]:
    """Yield lines as a block of a difference in Markdown, whatever is in them."""
    shown = [visible(line) for line in lines]
    longest = max((len(run) for line in shown for run in line.split() if set(run) == {"`"}), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"  {line}" for line in (f"{fence}diff", *shown, fence))


@value
class MarkdownTable:
    """A table: the titles of its columns; all columns but the first are `numbers` or texts."""

    titles: tuple[str, ...]
    numbers: bool = False

    @property
    def head(self) -> tuple[str, str]:
        """The lines above the rows."""
        first, *others = "---", *("---:" if self.numbers else "---" for _ in self.titles[1:])
        return "|" + "".join(f" {each} |" if each else " |" for each in self.titles), f"|{'|'.join((first, *others))}|"

    def row(self, *cells: str) -> str:
        """Return a row of Markdown; cells that lack at its end are empty."""
        return "|" + "".join(f" {each} |" for each in cells) + " |" * (len(self.titles) - len(cells))


_LONGEST = 65_000
"""Bytes of a comment: GitHub accepts 65,536 characters, and whoever posts it adds a mark."""


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


def join_parts(parts: Sequence[CommentPart]) -> str:
    """Return the parts in their order, as far as there is room: those of a low rank come in first."""
    left = _LONGEST
    written = dict.fromkeys(range(len(parts)), "")
    for at in sorted(written, key=lambda each: parts[each].rank):
        written[at] = parts[at].fill(left)
        left -= _weigh(written[at])
    return "".join(written.values())
