"""Slips of the pen."""

from __future__ import annotations

from random import Random


def misspell(word: str, chance: Random) -> str:
    """Return a word with one slip: a letter left out, doubled or wrong, or two in the wrong order."""
    at = [index for index, letter in enumerate(word) if letter.isalnum()]
    if len(at) < 2:
        return f"{word}x"
    slips = (_leave_out, _double, _exchange, _mistake)
    for slip in chance.sample(slips, len(slips)):
        found = slip(word, chance.choice(at[1:]))
        if found not in {word, ""} and found.lower() != word.lower():
            return found
    return f"{word}x"


def _leave_out(word: str, at: int) -> str:
    return word[:at] + word[at + 1 :]


def _double(word: str, at: int) -> str:
    return word[:at] + word[at] + word[at:]


def _exchange(word: str, at: int) -> str:
    return word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]


def _mistake(word: str, at: int) -> str:
    return word[:at] + ("q" if word[at] != "q" else "z") + word[at + 1 :]


def change_case(word: str) -> str:
    """Return a word in another case."""
    return word.upper() if word != word.upper() else word.lower()
