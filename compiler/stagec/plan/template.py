"""Prompts with holes: what stands as it is, and what is put in when a node acts."""

from __future__ import annotations

from collections.abc import Container, Mapping

from stagec.core.value import value

Path = tuple[str | int, ...]
DEEPEST = 100
"""How deep pieces may be nested, and any JSON in a plan."""


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


def inside(piece: Piece) -> tuple[Piece, ...]:
    """Return the pieces that stand inside a piece."""
    match piece:
        case Each():
            return piece.body
        case Choice():
            return (*piece.then, *piece.otherwise)
        case _:
            return ()


def is_shallow(template: Template) -> bool:
    """Tell whether the pieces of a template are nested so little that they can be walked by recursion."""
    level = template
    for _ in range(DEEPEST):
        if _NESTING.isdisjoint(map(type, level)):
            return True
        level = tuple(inner for each in level for inner in inside(each))
    return _NESTING.isdisjoint(map(type, level))


_NESTING = {Each, Choice}


Scope = Mapping[str | int, Container[str | int] | None]
"""What a template can refer to: names, each with those below it, None where these are not known beforehand."""


def strays(template: Template, scope: Scope) -> list[Path]:
    """Return every path of a template at which its scope has nothing; the body of `each` has `this` besides."""
    found = []
    todo = [(template, scope)]
    for pieces, around in todo:  # grows while it is walked
        for piece in pieces:
            if isinstance(piece, Text):
                continue
            path = piece.path
            if not path or path[0] not in around:
                leads = False
            else:
                below = around[path[0]]
                leads = below is None or len(path) == 1 or path[1] in below
            if not leads:
                found.append(piece.path)
            if type(piece) is Each:
                todo.append((piece.body, {**around, "this": None}))
            elif type(piece) is Choice:
                todo.extend(((piece.then, around), (piece.otherwise, around)))
    return found
