"""Markdown with YAML frontmatter; the text below the frontmatter is never parsed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.edit import Edit
from stagec.core.place import Place, Span
from stagec.sources.formats.markdown.fences import split
from stagec.sources.formats.markdown.frontmatter import read
from stagec.sources.tree import Format, Parsed


def _parse(file: str, data: bytes, budgets: Budgets) -> Parsed:
    return read(file, data.decode(), budgets)


def _locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    from stagec.sources.yaml_text.spans import spans

    text = data.decode(errors="replace")
    fenced = split(text)
    return spans(text, places, (fenced.start, fenced.end) if fenced else (0, 0))


def _apply(text: str, edits: Iterable[Edit]) -> str:
    from stagec.sources.yaml_text.changes import change

    fenced = split(text)
    if fenced is None:
        raise ValueError("the file has no frontmatter")
    return text[: fenced.start] + change(text[fenced.start : fenced.end], edits) + text[fenced.end :]


FORMAT = Format("markdown", (".md", ".markdown"), _parse, _locate, _apply)
