"""What a scaffold is: the files of a new member of a shelf, with a visible mark wherever something is to be written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.words import quote

MARK = "PLACEHOLDER"
"""Stands wherever a contributor has something to write; a law refuses it in the project."""


@value
class Scaffold:
    """How a member of a shelf begins.

    `files(words)` returns its files, by path from the top of the checkout,
    from the words of its name; `takes` tells a contributor which words those are.
    """

    takes: str
    files: Callable[[tuple[str, ...]], Mapping[str, str]]


def identifier(words: tuple[str, ...], takes: str) -> str:
    """Return the one word of a name as it is written in Python, or raise `Failure`."""
    if len(words) != 1 or not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", words[0]):
        raise Failure(f"expected {takes} in lower case, got {quote(' '.join(words))}")
    return words[0].replace("-", "_")


def filled(template: str, **words: str) -> str:
    """Return a template with `@name@` replaced by what each name stands for, and the mark where `@@` stands."""
    for name, word in words.items():
        template = template.replace(f"@{name}@", word)
    return template.replace("@@", MARK)
