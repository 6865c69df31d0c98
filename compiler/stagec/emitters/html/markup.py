"""Markup that is escaped by construction: text gets in through `text`, attributes through `element`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import NewType

Markup = NewType("Markup", str)

_VOID = frozenset({"br", "input", "link", "meta"})


def text(given: str) -> Markup:
    """Return a text as markup that shows it."""
    return Markup(escape(given))


def element(name: str, attributes: Mapping[str, str | float], *inner: Markup) -> Markup:
    """Return an element; coordinates are written in tenths."""
    told = "".join([f' {key}="{_attribute(each)}"' for key, each in attributes.items()])
    return Markup(f"<{name}{told}>" if name in _VOID else f"<{name}{told}>{''.join(inner)}</{name}>")


def joined(parts: Iterable[Markup]) -> Markup:
    """Return several pieces of markup one after the other."""
    return Markup("".join(parts))


def _attribute(given: str | float) -> str:
    return escape(given) if isinstance(given, str) else f"{given:.1f}".removesuffix(".0")
