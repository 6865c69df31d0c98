"""Markdown with YAML frontmatter; the text below the frontmatter is never parsed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.edit import Edit
from stagec.core.place import Place, Span
from stagec.core.value import replace
from stagec.sources.formats.markdown.frontmatter import read, shift_span, split
from stagec.sources.tree import Format, Parsed


def _parse(file: str, data: bytes, budgets: Budgets) -> Parsed:
    return read(file, data.decode(), budgets)


def _locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    from stagec.sources.yaml_text.members import spans

    text = data.decode(errors="replace")
    fenced = split(text)
    return spans(text, places, (fenced.start, fenced.end) if fenced else (0, 0))


def _apply(text: str, edits: Iterable[Edit]) -> str:
    from stagec.sources.yaml_text.edit import change

    fenced = split(text)
    if fenced is None:
        raise ValueError("the file has no frontmatter")
    inside = (_shift_place(edit, -fenced.start) for edit in edits)
    return text[: fenced.start] + change(text[fenced.start : fenced.end], inside) + text[fenced.end :]


def _shift_place(edit: Edit, by: int) -> Edit:
    return replace(edit, at=shift_span(edit.at, by))


FORMAT = Format("markdown", (".md", ".markdown", ".mdc", ".prompt"), _parse, _locate, _apply)
