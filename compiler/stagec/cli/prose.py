"""Pages written in Markdown, broken to the width of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap

_ITEM = re.compile(r"(?P<lead>\s*(?:[-*]|\d+\.)\s+)(?P<text>.*)")
_LINK = re.compile(r"\[([^\]]+)\]\([^()\s]+\)")
_WIDEST = 100


def prose(page: str, width: int | None) -> str:
    """Return a page with its paragraphs and list items filled, and links by their texts; all else stays as it is."""
    room = min(width or _WIDEST, _WIDEST)
    return "".join(f"{line}\n" for block in _blocks(page) for line in _fill(block, room))


def _blocks(page: str) -> Iterator[list[str]]:
    """Group the lines that are filled together; an untouchable line is a group of its own, marked by its indent."""
    block: list[str] = []
    fenced = False
    for line in page.strip().splitlines():
        fence = line.lstrip().startswith("```")
        alone = fenced or fence or not line.strip() or line.startswith(("#", "|", "    "))
        if alone or _ITEM.match(line):
            if block:
                yield block
            block = []
        if alone:
            yield ["", line]
        else:
            block.append(line)
        fenced ^= fence
    if block:
        yield block


def _fill(block: list[str], room: int) -> list[str]:
    if block[0] == "":
        return [block[1]]
    item = _ITEM.fullmatch(block[0])
    lead = item["lead"] if item else ""
    text = _LINK.sub(r"\1", " ".join(part.strip() for part in block)[len(lead.lstrip()) :])
    blanks = " " * len(lead)
    return wrap(text, room, initial_indent=lead, subsequent_indent=blanks, break_long_words=False) or [""]
