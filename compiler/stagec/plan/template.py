"""Prompts with holes: what stands as it is, and what is put in when a node acts."""

from __future__ import annotations

from stagec.core.value import value

Path = tuple[str | int, ...]


@value
class Text:
    """A piece of a template that stands as it is."""

    content: str


@value
class Hole:
    """A piece of a template that the value at a path of the scope is put into."""

    path: Path


@value
class Each:
    """A piece of a template that is repeated for every element of the list at a path."""

    path: Path
    body: tuple[Piece, ...]


@value
class Choice:
    """A piece of a template that depends on whether there is anything at a path."""

    path: Path
    then: tuple[Piece, ...] = ()
    otherwise: tuple[Piece, ...] = ()


Piece = Text | Hole | Each | Choice


Template = tuple[Piece, ...]
