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
from itertools import islice

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


_MOST = 20
"""So many findings are told of one file."""


@rule(since="0.1", origin=("agent-files:hidden-characters",), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    return islice(_list_findings(tree), _MOST) if tree.may_hide else iter(())


def _list_findings(tree: Tree) -> Iterator[Finding]:
    text = _FLAG.sub(lambda flag: " " * len(flag[0]), tree.data.decode(errors="replace"))
    start = 0
    for line in text.split("\n"):
        is_from_right = not line.isascii() and any(unicodedata.bidirectional(each) in _FROM_RIGHT for each in line)
        for found in _HIDDEN.finditer(line, 0 if start else 1):
            message = _describe(found, line, is_from_right=is_from_right)
            if message is not None:
                at = Place(tree.file, range=(start + found.start(), start + found.end()))
                yield Finding(at, message)
        start += len(line) + 1


def _describe(found: re.Match[str], line: str, *, is_from_right: bool) -> str | None:
    """Say what some characters hide; nothing of those that their language needs."""
    start, end = found.span()
    if found["tags"]:
        return f"{len(found[0])} characters that nobody sees spell {quote(_spell(found[0]))}"
    if found["selectors"]:
        return f"{len(found[0])} characters that nobody sees stand here one behind the other"
    names = ", ".join(f"U+{ord(each):04X}" for each in sorted(set(found[0])))
    if found["blank"]:
        around = line[max(start - 1, 0) : start] + line[end : end + 1]
        is_joiner = not around.isascii() and (_UNSPACED.search(around) or "\u200b" not in found[0])
        return None if is_joiner and end - start == 1 else f"nobody sees {names}, which a model reads"
    return None if is_from_right else f"{names} turns the direction of a line that has no text from right to left"


def _spell(tags: str) -> str:
    plain = (chr(ord(each) - 0xE0000) for each in tags)
    return "".join(each for each in plain if each.isprintable())
