"""What a scaffold is: the files of a new member of a shelf, with a visible mark wherever something is to be written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.words import quote
from stagec.templates import render

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


def fill(template: str, **values: str) -> str:
    """Return a template of the shelf with its variables filled in, and the mark wherever something is to be written."""
    return render("stagec_dev.scaffolds", template, mark=MARK, **values)


def make_one_word_scaffold(takes: str, templates: Mapping[str, str]) -> Scaffold:
    """Return the scaffold of a member whose name is one word: `templates` are its files, by paths with `{name}`."""

    def files(words: tuple[str, ...]) -> Mapping[str, str]:
        name = identifier(words, takes)
        values = {"name": name, "suffix": name.replace("_", "-")}
        return {path.format(name=name): fill(template, **values) for path, template in templates.items()}

    return Scaffold(takes, files)
