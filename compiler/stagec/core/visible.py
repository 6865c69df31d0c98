"""Text that anybody may have written, made safe to print: nothing in it moves the cursor, hides or commands."""

from __future__ import annotations

import re

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
    """Return what is shown of each character of a text."""
    shown = [_visible(character, encoding) for character in text]
    for match in _COMMAND.finditer(text):
        shown[match.start()] = r"\x23"
    return shown


def escape_ci_commands(line: str) -> str:
    """Return a line that does not begin with `::`, behind which build services find a command."""
    return line.replace(":", r"\x3a", 1) if line.lstrip().startswith("::") else line


def ellipsis(encoding: str) -> str:
    """Return the sign for what was left out, as an encoding can write it."""
    return "…" if _encodable("…", encoding) else "..."


def _visible(character: str, encoding: str) -> str:
    if not character.isprintable() and character not in _KEPT:
        return character.encode("unicode_escape").decode()
    if character.isascii() or _encodable(character, encoding):
        return character
    return "..." if character == "…" else character.encode("unicode_escape").decode()


def _encodable(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
