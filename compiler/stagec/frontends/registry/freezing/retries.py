"""The prompts of next attempts: templates with holes, repetitions and choices, in double braces."""

from __future__ import annotations

from stagec.contract.texts import Texts
from stagec.frontends.registry.blocks import Role, Tag, tags
from stagec.frontends.registry.freezing.templates import Part, joined
from stagec.plan.template import Choice, Each, Hole, Path, Template

_EACH, _THIS = "each", "this"


def retry_prompt(text: str, texts: Texts) -> Template:
    """Return the template of a text in which `{{x}}`, `{{#each x}}` and `{{#if x}}` stand for what a failure says.

    A tag that means nothing stands as it is written. Linear.
    """
    reading = _Reading(texts)
    end = 0
    for tag in tags(text):
        if tag.role is not Role.NONE:
            reading.keep(text[end : tag.start])
            reading.read(tag)
            end = tag.end
    reading.keep(text[end:])
    return reading.whole()


class _Block:
    """A block that is open: its kind, what it is a block of, and what stands in it, before and behind `{{else}}`."""

    def __init__(self, kind: str, path: Path) -> None:
        self.kind = kind
        self.path = path
        self.parts: list[Part] = []
        self.before: list[Part] = []


class _Reading:
    """The blocks that are open, the outermost first."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._open = [_Block("", ())]

    def keep(self, part: Part) -> None:
        """Add a part to the innermost block."""
        self._open[-1].parts.append(part)

    def read(self, tag: Tag) -> None:
        """Read one tag; those of blocks are balanced."""
        block = self._open[-1]
        match tag.role:
            case Role.OPEN:
                self._open.append(_Block(tag.kind, self._path(tag.name)))
            case Role.TURN:
                block.before, block.parts = block.parts, []
                block.kind = "else"
            case Role.CLOSE:
                self._open.pop()
                self.keep(self._closed(block))
            case _:
                self.keep(Hole(self._path(tag.name)))

    def whole(self) -> Template:
        """Return the template of all that was read."""
        return joined(self._open[0].parts, self._texts)

    def _closed(self, block: _Block) -> Each | Choice:
        inside, before = joined(block.parts, self._texts), joined(block.before, self._texts)
        if block.kind == _EACH:
            return Each(block.path, inside)
        return Choice(block.path, before, inside) if block.kind == "else" else Choice(block.path, inside, ())

    def _path(self, name: str) -> Path:
        path = name.split(".")
        is_element = path[0] == _THIS and any(each.kind == _EACH for each in self._open)
        return tuple(path) if is_element else ("failure", *path)
