"""Shelf: one child per input syntax, each defining one `Format`."""

from __future__ import annotations

import re
import sys
from functools import cache

from stagec.core.shelf import members
from stagec.sources.tree import Fault, Format, Parsed

__all__ = ["Fault", "Format", "Parsed", "format_of", "format_shown"]

_FENCE = re.compile(rb"---[ \t]*[\r\n]")


def format_of(file: str) -> Format | None:
    """Return the format whose suffix a file name has, or None."""
    for each in _list_formats():
        if file.lower().endswith(each.suffixes):
            return each
    return None


@cache
def _list_formats() -> tuple[Format, ...]:
    return members(sys.modules[__name__], Format)


def format_of_content(data: bytes) -> Format | None:
    """Return the format that bytes show by how they begin, whatever their file is called: Markdown behind a fence."""
    return format_of(".md") if _FENCE.match(data) else None
