"""The prompts of next attempts: templates with holes, repetitions and choices, in double braces."""

from __future__ import annotations

import re

from stagec.contract.texts import Texts
from stagec.frontends.registry.freezing.templates import Part, joined
from stagec.plan.template import Choice, Each, Hole, Path, Template

_DEEPEST = 32
"""Blocks inside each other; deeper ones stand as they are written."""
_NAME = r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*"
_TAG = re.compile(rf"\{{\{{(?:#(?P<opened>each|if)\s+(?P<of>{_NAME})|/(?P<closed>each|if)|(?P<name>{_NAME}))\}}\}}")
_EACH, _ELSE, _THIS = "each", "else", "this"


def retry_prompt(text: str, texts: Texts) -> Template:
    """Return the template of a text in which `{{x}}`, `{{#each x}}` and `{{#if x}}` stand for what a failure says.

    What is not closed, or closes nothing, stands as it is written. Linear.
    """
    reading = _Reading(texts)
    end = 0
    for tag in _TAG.finditer(text):
        reading.keep(text[end : tag.start()])
        reading.read(tag)
        end = tag.end()
    reading.keep(text[end:])
    return reading.whole()


class _Block:
    """A block that is open: the tag that opened it, what it is a block of, and what stands in it so far.

    `others` is what stands behind `{{else}}`, that tag first.
    """

    def __init__(self, tag: str, kind: str, path: Path) -> None:
        self.tag = tag
        self.kind = kind
        self.path = path
        self.parts: list[Part] = []
        self.others: list[Part] = []

    def as_written(self) -> tuple[Part, ...]:
        """Return the block as if its tag opened none."""
        return (self.tag, *self.parts, *self.others)


class _Reading:
    """The blocks that are open, the outermost first, and the ones inside them that are too deep to be any."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._open = [_Block("", "", ())]
        self._deeper: list[str] = []
        self._eaches = 0

    def keep(self, part: Part) -> None:
        """Add a part to the innermost block."""
        block = self._open[-1]
        (block.others or block.parts).append(part)

    def read(self, tag: re.Match[str]) -> None:
        """Read one tag."""
        if tag["opened"] is not None:
            self._begin(tag)
        elif tag["closed"] is not None:
            self._end(tag)
        elif tag["name"] == _ELSE:
            self._turn(tag[0])
        else:
            self.keep(Hole(self._path(tag["name"])))

    def whole(self) -> Template:
        """Return the template of all that was read; what is still open stands as it is written."""
        while len(self._open) > 1:
            for part in self._open.pop().as_written():
                self.keep(part)
        return joined(self._open[0].parts, self._texts)

    def _begin(self, tag: re.Match[str]) -> None:
        kind = tag["opened"]
        if len(self._open) > _DEEPEST:
            self._deeper.append(kind)
            self.keep(tag[0])
            return
        self._open.append(_Block(tag[0], kind, self._path(tag["of"])))
        self._eaches += kind == _EACH

    def _end(self, tag: re.Match[str]) -> None:
        kind = tag["closed"]
        if self._deeper or self._open[-1].kind != kind:
            if self._deeper and self._deeper[-1] == kind:
                self._deeper.pop()
            self.keep(tag[0])
            return
        block = self._open.pop()
        self._eaches -= kind == _EACH
        inside = joined(block.parts, self._texts)
        self.keep(
            Each(block.path, inside)
            if kind == _EACH
            else Choice(block.path, inside, joined(block.others[1:], self._texts))
        )

    def _turn(self, tag: str) -> None:
        block = self._open[-1]
        if self._deeper or block.kind != "if" or block.others:
            self.keep(tag)
        else:
            block.others.append(tag)

    def _path(self, name: str) -> Path:
        path = name.split(".")
        return tuple(path) if path[0] == _THIS and self._eaches else ("failure", *path)
