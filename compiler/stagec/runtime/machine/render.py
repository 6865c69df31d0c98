"""The text that a template makes in a scope: § 3.4 of the format."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from stagec.core.canonical import as_text
from stagec.core.json import Json
from stagec.core.value import value
from stagec.ir.plan.act import Choice, Each, Hole, Template, Text
from stagec.runtime.machine.json_values import MISSING, follow

_LENIENT = frozenset({"failure", "this"})
"""Names below which a hole that leads to nothing is the empty text."""
EVERYWHERE = _LENIENT | {"variable", "stdin"}
"""The same, in system prompts."""


class UnfilledError(Exception):
    """A hole that leads to nothing where there must be something."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__(".".join(map(str, path)))
        self.path = path


@value
class Renderer:
    """Makes texts of templates with the contents of one plan."""

    contents: Mapping[str, str]

    def render(self, template: Template, scope: Mapping[str, Json], lenient: Container[str | int] = _LENIENT) -> str:
        """Return the text of a template in a scope.

        Raise `UnfilledError` for a hole without value whose path does not begin with a lenient name.
        """
        if len(template) == 1 and type(template[0]) is Text:
            return self.contents[template[0].content]
        return "".join(self._pieces(template, scope, lenient))

    def _pieces(self, template: Template, scope: Mapping[str, Json], lenient: Container[str | int]) -> Iterator[str]:
        for piece in template:
            match piece:
                case Text():
                    yield self.contents[piece.content]
                case Hole():
                    yield _fill(piece, scope, lenient)
                case Each():
                    found = follow(scope, piece.path)
                    for element in found if type(found) is list else ():
                        yield from self._pieces(piece.body, {**scope, "this": element}, lenient)
                case Choice():
                    known = follow(scope, piece.path)
                    is_something = known is not MISSING and (type(known) is dict or bool(known))
                    chosen = piece.then if is_something else piece.otherwise
                    yield from self._pieces(chosen, scope, lenient)


def _fill(hole: Hole, scope: Mapping[str, Json], lenient: Container[str | int]) -> str:
    found = follow(scope, hole.path)
    if found is not MISSING:
        return as_text(found)
    if hole.path and hole.path[0] in lenient:
        return ""
    raise UnfilledError(hole.path)
