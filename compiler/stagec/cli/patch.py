"""Changes of files as a patch on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from stagec.cli.streams import find_canvas, put, put_bytes
from stagec.core.terminal import Paint, Style
from stagec.core.words import visible

_STYLES = {"---": Style.MESSAGE, "+++": Style.MESSAGE, "@": Style.GUTTER, "+": Style.ADDED, "-": Style.REMOVED}


def print_patch(changes: Mapping[str, tuple[bytes, bytes]]) -> None:
    """Print what changes in each file: exact bytes for `patch`, and on a terminal nothing that plays tricks to it.

    A file that had no bytes before is a new one.
    """
    rows = [row for file, (before, after) in sorted(changes.items()) for row in _compare(file, before, after)]
    if sys.stdout.isatty():
        paint = Paint(find_canvas(sys.stdout, os.environ).colour)
        put("".join(f"{paint(visible(row[:-1]), _find_style(row))}\n" for row in rows))
    else:
        put_bytes("".join(rows).encode(errors="surrogateescape"))


def _find_style(row: str) -> Style | None:
    return next((style for start, style in _STYLES.items() if row.startswith(start)), None)


def _compare(file: str, before: bytes, after: bytes) -> Iterator[str]:
    from difflib import unified_diff

    name = visible(file)
    old = f"a/{name}" if before else "/dev/null"
    for row in unified_diff(_split_rows(before), _split_rows(after), old, f"b/{name}"):
        yield row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"


def _split_rows(data: bytes) -> list[str]:
    """Split at line feeds only, as `patch` does."""
    rows = data.decode(errors="surrogateescape").split("\n")
    return [f"{row}\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])
