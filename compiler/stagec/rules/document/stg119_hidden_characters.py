"""A text has characters that a model reads and nobody sees.

## Why this matters
Characters for tags, of no width, or for the direction of writing can hold instructions, or make a line look like
another one. A reviewer sees nothing of them.

## How to fix
Remove the characters. The message says what they spell. Emoji, languages that need joiners, and texts from right to
left are no mistake.
"""

import re
import unicodedata
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_TAG = "\U000e0000-\U000e007f"
_FLAG = re.compile(f"\U0001f3f4[{_TAG}]+\U000e007f")
_HIDDEN = re.compile(
    f"(?P<tags>[{_TAG}]+)|(?P<selectors>[\U000e0100-\U000e01ef]{{2,}})"
    "|(?P<blank>[\u200b-\u200d\u2060-\u2064\ufeff]+)|(?P<turn>[\u202a-\u202e\u2066-\u2069])"
)
_FROM_RIGHT = frozenset({"R", "AL"})
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer, which mark where a line can break."""


@rule(since="0.1", origin=("agent-files:hidden-characters",), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    if not tree.may_hide:
        return
    text = tree.data.decode(errors="replace")
    shown = _FLAG.sub(lambda flag: " " * len(flag[0]), text)
    for found in _HIDDEN.finditer(shown, 1):
        message = _describe(found, shown)
        if message is not None:
            yield Finding(Place(tree.file, range=found.span()), message)


def _describe(found: re.Match[str], text: str) -> str | None:
    """Say what some characters hide; nothing of those that their language needs."""
    start, end = found.span()
    if found["tags"]:
        return f"{len(found[0])} characters that nobody sees spell {quote(_spell(found[0]))}"
    if found["selectors"]:
        return f"{len(found[0])} characters that nobody sees stand here one behind the other"
    around = text[max(start - 1, 0) : start] + text[end : end + 1]
    names = ", ".join(dict.fromkeys(f"U+{ord(each):04X}" for each in found[0]))
    if found["blank"]:
        is_needed = not around.isascii() and (_UNSPACED.search(around) or not set(found[0]) & {"\u200b"})
        return None if is_needed and len(found[0]) == 1 else f"nobody sees {names}, which a model reads"
    line = text[text.rfind("\n", 0, start) + 1 : (text.find("\n", end) + 1 or len(text))]
    is_needed = any(unicodedata.bidirectional(each) in _FROM_RIGHT for each in line)
    return None if is_needed else f"{names} turns the direction of a line that has no text from right to left"


def _spell(tags: str) -> str:
    plain = (chr(ord(each) - 0xE0000) for each in tags)
    return "".join(each for each in plain if each.isprintable())
