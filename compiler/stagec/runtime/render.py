"""The text that a template makes in a scope: § 3.4 of the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.json import Json
from stagec.core.value import value
from stagec.plan.canonical import as_text
from stagec.plan.template import Choice, Each, Hole, Template, Text
from stagec.runtime.values import MISSING, follow

_LENIENT = frozenset({"failure", "this"})
"""Scopes in which a hole that leads to nothing is the empty text."""


class UnfilledError(Exception):
    """A hole that leads to nothing where there must be something."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__(".".join(map(str, path)))
        self.path = path


@value
class Renderer:
    """Makes texts of templates with the contents of one plan."""

    contents: Mapping[str, str]

    def render(self, template: Template, scope: Mapping[str, Json]) -> str:
        """Return the text of a template in a scope; raise `UnfilledError` for a hole without value."""
        return "".join(self._pieces(template, scope))

    def _pieces(self, template: Template, scope: Mapping[str, Json]) -> Iterator[str]:
        for piece in template:
            match piece:
                case Text():
                    yield self.contents[piece.content]
                case Hole():
                    yield _filled(piece, scope)
                case Each():
                    found = follow(scope, piece.path)
                    for element in found if type(found) is list else ():
                        yield from self._pieces(piece.body, {**scope, "this": element})
                case Choice():
                    yield from self._pieces(piece.then if _is_something(piece, scope) else piece.otherwise, scope)


def _filled(hole: Hole, scope: Mapping[str, Json]) -> str:
    found = follow(scope, hole.path)
    if found is not MISSING:
        return as_text(found)
    if hole.path and hole.path[0] in _LENIENT:
        return ""
    raise UnfilledError(hole.path)


def _is_something(choice: Choice, scope: Mapping[str, Json]) -> bool:
    found = follow(scope, choice.path)
    return found is not MISSING and (type(found) is dict or bool(found))
