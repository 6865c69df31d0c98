"""How messages name things and times: quoted, safe to print, and never so long that the sentence drowns."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice

_LONGEST = 80
_MOST = 8
_DIGITS = 12


def quote(text: object) -> str:
    """Return a user's text in quotes, with control characters escaped and the middle of a long one left out."""
    whole = str(text)
    shown = whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST // 2]}…{whole[-_LONGEST // 4 :]}"
    return repr(shown)


def listing(names: Collection[object], last: str = "and") -> str:
    """Return `'a', 'b' and 'c'`, and how many more there are when there are many."""
    quoted = [quote(name) for name in islice(names, _MOST)]
    if len(names) > _MOST:
        quoted.append(f"{len(names) - _MOST} more")
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def format_count(number: int, noun: str) -> str:
    """Return `1 error`, `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def with_article(kind: str) -> str:
    """Return `an object`, `a number`; `null` has no article."""
    return kind if kind == "null" else f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def shorten_digest(digest: str) -> str:
    """Return a digest such as `sha256:…` with its first twelve digits, enough to tell a few apart."""
    kind, _, digits = digest.rpartition(":")
    return f"{kind}:{digits[:_DIGITS]}" if kind else digits[:_DIGITS]


_COMMAND = re.compile(r"(?<=#)#(?=\[|vso\[)")
"""Build services obey `##[…]` and `##vso[…]` anywhere in a line of output."""
_KEPT = "\u3000"
"""Wide blanks stand between words of Chinese and Japanese text; Python does not call them printable."""


def visible(text: str, encoding: str = "utf-8") -> str:
    """Return a text as one line in which control characters, direction marks and the like are shown escaped.

    What the encoding cannot write is escaped too, so that writing never fails.
    """
    harmless = text.isascii() and text.isprintable() and "##" not in text
    return text if harmless else "".join(visible_characters(text, encoding))


def visible_characters(text: str, encoding: str = "utf-8") -> list[str]:
    """Return the shown text of each character."""
    shown: list[str] = []
    for character in text:
        if not character.isprintable() and character not in _KEPT:
            shown.append(character.encode("unicode_escape").decode())
        elif character.isascii() or _encodable(character, encoding):
            shown.append(character)
        else:
            shown.append("..." if character == "…" else character.encode("unicode_escape").decode())
    for match in _COMMAND.finditer(text):
        shown[match.start()] = r"\x23"
    return shown


def escape_ci_commands(line: str) -> str:
    """Return a line that does not begin with `::`, behind which build services find a command."""
    return line.replace(":", r"\x3a", 1) if line.lstrip().startswith("::") else line


def ellipsis(encoding: str) -> str:
    """Return the sign for what was left out, as an encoding can write it."""
    return "…" if _encodable("…", encoding) else "..."


def _encodable(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000


def format_duration(milliseconds: int) -> str:
    """Return `1 h 30 min`, `2.5 s` or `250 ms`."""
    if 0 < milliseconds < _SECOND:
        return f"{milliseconds} ms"
    parts, rest = [], milliseconds
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        many, rest = divmod(rest, size)
        parts += [f"{many:,} {unit}"] if many else []
    seconds = f"{rest / _SECOND:.3f}".rstrip("0").rstrip(".")
    return " ".join([*parts, *([f"{seconds} s"] if rest or not parts else [])])
