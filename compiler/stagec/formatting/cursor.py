"""A place in a text that moves forward, and the comments that it has passed."""

from __future__ import annotations

import re

_REST_OF_LINE = re.compile(r"([ \t]*)(#[^\n]*)?(?=\n|\Z)")
_LINE = re.compile(r"\n([ \t]*)(?:(#[^\n]*)|(?=\n|\Z))")
_GAP = "  "
"""What stands before a comment that something else than blanks was before."""

Comment = tuple[int, str]
"""The column of a comment and its text; a blank line has none."""


class UnusualLayoutError(ValueError):
    """A form that is left as its author wrote it, and the line on which it stands."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class Cursor:
    """A place in a text. `passed` are the comments and blank lines that belong to nothing yet."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.passed: list[Comment] = []
        first = _REST_OF_LINE.match(text, at)
        if first:
            self._pass(first)
            self.collect()

    def refuse(self) -> UnusualLayoutError:
        """Return the error that what stands here is in an unusual form."""
        rest = self.text[self.at :]
        return UnusualLayoutError(self.text.count("\n", 0, self.at + len(rest) - len(rest.lstrip())) + 1)

    def move(self, to: int, allowed: str = "") -> str:
        """Go on to an offset; return what stands in between besides blanks, which is in the allowed characters."""
        found = self.text[self.at : to].strip(" \t\n")
        if found not in allowed:
            raise self.refuse()
        self.at = to
        return found

    def take(self, mark: re.Pattern[str]) -> str:
        """Go on behind a mark, which has to be here, and return it."""
        match = mark.match(self.text, self.at)
        if match is None:
            raise self.refuse()
        self.at = match.end()
        return match[0]

    def is_at_end_of_line(self) -> bool:
        """Tell whether nothing but blanks and a comment is left of the line, both of which were passed."""
        return self.at >= len(self.text) or self.text[self.at] == "\n"

    def take_trail(self) -> str:
        """Return the comment on the rest of the line with the blanks before it; nothing if there is something else."""
        rest = _REST_OF_LINE.match(self.text, self.at)
        if rest is None:
            return ""
        self.at = rest.end()
        is_spaced = bool(rest[1]) and "\t" not in rest[1]
        return (rest[1] if is_spaced else _GAP) + rest[2].rstrip() if rest[2] else ""

    def collect(self) -> None:
        """Pass the lines below, at the end of a line, that hold a comment or nothing."""
        while line := _LINE.match(self.text, self.at):
            self._pass(line)

    def claim(self, column: int = 0) -> tuple[str, ...]:
        """Return the comments passed up to the last one before any that stands left of a column; blank lines as ""."""
        count = end = 0
        for number, (indent, text) in enumerate(self.passed, 1):
            if text and indent < column:
                break
            count = number
            end = number if text else end
        taken = self.passed[: end if column else count]
        del self.passed[: len(taken)]
        lines = [text for _, text in taken]
        return tuple(each for number, each in enumerate(lines) if each or (number and lines[number - 1]) or not number)

    def _pass(self, line: re.Match[str]) -> None:
        self.passed.append((len(line[1]), (line[2] or "").rstrip()))
        self.at = line.end()
