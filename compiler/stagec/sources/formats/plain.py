"""Text without structure: what a file is when no other format answers to its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Edit
from stagec.core.place import START, Place, Span
from stagec.sources.tree import Format, Lines, Parsed, write_stretches


def _parse(_file: str, _data: bytes, _budgets: Budgets) -> Parsed:
    return Parsed()


def _locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    lines = Lines(data.decode(errors="replace"))
    return {place: lines.span(*place.range) if place.range else START for place in places}


def _apply(text: str, edits: Iterable[Edit]) -> str:
    return write_stretches(text, edits)


FORMAT = Format("plain", (".txt",), _parse, _locate, _apply)
