"""Parts of a comment of limited length: what does not fit is left out, the least important first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagec.core.value import value

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
