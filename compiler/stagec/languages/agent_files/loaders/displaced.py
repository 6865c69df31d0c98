"""Frontmatter that does not count because something stands before it."""

from __future__ import annotations

import re

from stagec.core.budgets import Budgets
from stagec.core.value import value
from stagec.languages.agent_files.loaders.frontmatter import FrontmatterBlock, find_refusal, read_block
from stagec.sources.tree import Fault

_LINE = re.compile(r"^[ \t]*---[ \t]*$", re.MULTILINE)
_HEADLESS = re.compile(
    r"(?:\ufeff)?(?P<keys>[a-z][\w-]*:[^\n]*\n(?:[a-z][\w-]*:[^\n]*\n|[ \t]+[^\n]*\n){0,40})---[ \t]*(?:\r?\n|\Z)"
)
"""Keys from the first line on, and a line that ends them."""
_REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r"\s*(?P<marks>```+|~~~+)[^\n`]*\n\s*")
_MOST_BEFORE = 3
"""Lines with something in them before a frontmatter; behind more of them it is an example in a text."""
_FURTHEST = 2_000


@value
class Displaced:
    """Where a frontmatter begins and ends that nobody reads.

    `is_harmless` tells whether only blanks stand before it, `is_fenced` whether one code block holds all of the file;
    `last_line` is the last line of that block. `refusal` is why it is no YAML.
    `is_headless` tells that only its first line is missing.
    """

    start: int
    end: int
    is_harmless: bool = False
    is_fenced: bool = False
    last_line: tuple[int, int] | None = None
    refusal: Fault | None = None
    is_headless: bool = False


def find_displaced(file: str, text: str, budgets: Budgets) -> Displaced | None:
    """Return the frontmatter that stands behind a few lines or in one code fence with all of the file."""
    headless = _HEADLESS.match(text)
    if headless is not None and any(f"\n{name}:" in f"\n{headless['keys']}" for name in _TELLING):
        return Displaced(headless.start("keys"), headless.end(), is_headless=True)
    opening = _LINE.search(text, 0, _FURTHEST)
    before = "" if opening is None else text[: opening.start()]
    closing = None if opening is None else _LINE.search(text, opening.end())
    if opening is None or closing is None:
        return None
    fence = _FENCE.fullmatch(_REMARK.sub("", before))
    said = [line for line in _REMARK.sub("", before).splitlines() if line.strip()]
    if len(said) > _MOST_BEFORE or (fence is None and any("```" in line or "~~~" in line for line in said)):
        return None
    inside = text[opening.end() : closing.start()]
    parsed = read_block(FrontmatterBlock(file, inside, opening.end()), budgets)
    refusal = find_refusal(parsed)
    members = parsed.value if isinstance(parsed.value, dict) else {}
    if not any(name in members for name in _TELLING) and refusal is None:
        return None
    if not members and not _KEY.search(inside):
        return None
    is_bare = fence is not None and not _REMARK.search(before)
    last = None if fence is None else _find_last_fence(text, fence["marks"])
    return Displaced(opening.start(), closing.end(), not before.strip(), is_bare and last is not None, last, refusal)


def _find_last_fence(text: str, marks: str) -> tuple[int, int] | None:
    """Return where the last line of a text is, if it ends the code block that begins with some marks."""
    found = re.search(rf"\n[ ]{{0,3}}{marks}[`~]*\s*\Z", text)
    return None if found is None else (found.start() + 1, len(text))


_TELLING = ("name", "description", "tools", "mode", "agent", "applyTo", "allowed-tools", "argument-hint", "model", "on")
_KEY = re.compile(r"^(?:name|description|tools|allowed-tools|applyTo|mode)[ \t]*:", re.MULTILINE)
