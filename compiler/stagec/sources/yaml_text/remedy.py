"""Which part of a broken YAML text was surely meant as plain text, so that quotes around it fix the text."""

from __future__ import annotations

import re

from stagec.core.budgets import Budgets
from stagec.sources.yaml_text.compose import compose
from stagec.sources.yaml_text.edit import write_value
from stagec.sources.yaml_text.outline import Outline

_LONGEST = 100_000
_UNSURE_AFTER_BRACKET = frozenset(",]}")
_APOSTROPHES = re.compile(r"(?:[^']|(?<=\w)'(?=\w))+")
_WORDS_IN_QUOTES = re.compile(r'[^"]*\s"\S[^"]*"(?!\w)[^"]*(?:\s"\S[^"]*"(?!\w)[^"]*)*')
_TAG = re.compile(r"<([a-z]+)>")
_TEMPLATE = re.compile(r"\{[ ]*\{.*\}[ ]*\}")

Quotable = tuple[int, int, str]
"""Where a value begins and ends, and the text that it was meant to be."""


def remedy(text: str, reason: str, at: int, budgets: Budgets) -> Quotable | None:
    """Return what quotes would fix, if no other reading of the author's intent is likely and the text is then sound."""
    where = Outline(text)
    if reason not in _SURE or len(text) > _LONGEST or not where.entry(at):
        return None
    start, end = where.value(at)
    value = text[start:end]
    if not start <= at < end or " #" in value or _goes_on(where, end):
        return None
    meant = value if reason != "after-quote" else _unwrap(value)
    if meant is None or not _SURE[reason](value, at - start):
        return None
    return (start, end, meant) if _mends(text, (start, end, meant), budgets) else None


def _sure(_value: str, _at: int) -> bool:
    return True


def _is_prose(value: str, at: int) -> bool:
    """Tell whether several words, which can be no key, stand before a colon, and no tag is left open."""
    whole = all(f"</{tag}>" in value for tag in _TAG.findall(value))
    return len(value[:at].split()) > 1 and value[0] not in "[{\"'" and whole


def _is_template(value: str, _at: int) -> bool:
    return _TEMPLATE.fullmatch(value) is not None


def _begins_value(value: str, at: int) -> bool:
    return (at == 0 and value[0] not in _UNSURE_AFTER_BRACKET) or value.startswith("{%")


_SURE = {
    "colon": _is_prose,
    "alias": _begins_value,
    "reserved": _begins_value,
    "after-bracket": lambda value, at: value[at] not in _UNSURE_AFTER_BRACKET,
    "after-quote": _sure,
    "key-not-text": _is_template,
}


def _unwrap(value: str) -> str | None:
    """Return the text that quotes were put around although it holds others of their kind, when it can be told."""
    mark, inner = value[0], value[1:-1]
    if mark not in "\"'" or "\\" in value or not inner:
        return None
    if value[-1] != mark:
        return value
    if mark == "'":
        return inner if _APOSTROPHES.fullmatch(inner) else None
    return inner if _WORDS_IN_QUOTES.fullmatch(inner) else None


def _goes_on(where: Outline, end: int) -> bool:
    """Tell whether the lines below continue a value."""
    rest = where.text[end:].lstrip(" \t\r\n")
    return bool(rest) and where.indent(len(where.text) - len(rest)) > where.indent(end)


def _mends(text: str, quotable: Quotable, budgets: Budgets) -> bool:
    start, end, meant = quotable
    quoted = write_value(meant)
    trouble = compose(text[:start] + quoted + text[end:], budgets).trouble
    return trouble is None or trouble.start > start + len(quoted)
