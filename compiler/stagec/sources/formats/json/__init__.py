"""JSON as RFC 8259 has it: read at the speed of C, explained slowly when something is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.edit import Edit
from stagec.core.place import Place, Span
from stagec.sources.formats.json.parse import parse
from stagec.sources.tree import Format


def _locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    from stagec.sources.formats.json.outline import locate

    return locate(data, places)


def _apply(text: str, edits: Iterable[Edit]) -> str:
    from stagec.sources.formats.json.edit import apply

    return apply(text, edits)


FORMAT = Format("json", (".json",), parse, _locate, _apply)
