"""From texts with placeholders to templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from stagec.contract.texts import Texts
from stagec.plan.template import Hole, Piece, Template, Text

Part = str | Piece
"""What a template is made of before its texts are kept."""

_VARIABLE = "uv-"
_READ = re.compile(r"\{(uv-[A-Za-z0-9_]+|input_text)\}")
_CONTEXT = re.compile(r"\$\{context\.([^}]*)\}")


def prompt(text: str, texts: Texts, *, stdin: bool) -> Template:
    """Return the template of a step's prompt; `stdin` tells whether `{input_text}` stands for the standard input."""

    def means(found: re.Match[str]) -> Part:
        if found[1].startswith(_VARIABLE):
            return Hole(("variable", found[1].removeprefix(_VARIABLE)))
        return Hole(("stdin",)) if stdin else found[0]

    return joined(_parts(text, _READ, means), texts)


def system_prompt(text: str, texts: Texts, agent: str | None) -> Template:
    """Return the template of a system prompt, in which the agent's name is no variable: it is known."""

    def means(found: re.Match[str]) -> Part:
        if not found[1].startswith(_VARIABLE):
            return found[0]
        name = found[1].removeprefix(_VARIABLE)
        return agent if name == "agent_name" and agent is not None else Hole(("variable", name))

    return joined(_parts(text, _READ, means), texts)


def word(text: str, texts: Texts) -> Template:
    """Return the template of one word of a command line."""
    return joined(_parts(text, _CONTEXT, lambda found: Hole(("input", found[1].strip()))), texts)


def named(template: Template, scope: str) -> Iterator[str]:
    """Yield the names that the holes of a template read of a part of its scope."""
    for piece in template:
        if isinstance(piece, Hole) and piece.path[0] == scope and len(piece.path) > 1:
            yield str(piece.path[1])


def joined(parts: Iterable[Part], texts: Texts) -> Template:
    """Return a template of texts and pieces; texts that follow each other are one, and empty ones none."""
    pieces: list[Piece] = []
    gathered: list[str] = []
    for part in parts:
        if isinstance(part, str):
            gathered.append(part)
        else:
            pieces += _text(gathered, texts)
            pieces.append(part)
            gathered.clear()
    return (*pieces, *_text(gathered, texts))


def _text(gathered: list[str], texts: Texts) -> list[Piece]:
    text = "".join(gathered)
    return [Text(texts.text(text))] if text else []


def _parts(text: str, pattern: re.Pattern[str], means: Callable[[re.Match[str]], Part]) -> Iterator[Part]:
    end = 0
    for found in pattern.finditer(text):
        yield text[end : found.start()]
        yield means(found)
        end = found.end()
    yield text[end:]
