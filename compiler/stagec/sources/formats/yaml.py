"""YAML 1.2 by the core schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Edit
from stagec.core.json import Json
from stagec.core.place import Place, Span
from stagec.sources.suppression import Suppression
from stagec.sources.tree import Format, Parsed


def _parse(file: str, data: bytes, budgets: Budgets) -> Parsed:
    from stagec.sources.yaml_text.quick import quick

    text = data.decode()
    given = quick(text, budgets.depth)
    if given is not None:
        return Parsed(given)
    from stagec.sources.yaml_text.reading import read

    return read(file, text, budgets)


def _locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    from stagec.sources.yaml_text.members import spans

    return spans(data.decode(errors="replace"), places)


def _apply(text: str, edits: Iterable[Edit]) -> str:
    from stagec.sources.yaml_text.members import change

    return change(text, edits)


def _take_suppressions(file: str, data: bytes, _given: Json) -> tuple[Suppression, ...]:
    from stagec.sources.yaml_text.reading import read_suppressions

    return read_suppressions(file, data.decode())


FORMAT = Format("yaml", (".yaml", ".yml"), _parse, _locate, _apply, _take_suppressions)
