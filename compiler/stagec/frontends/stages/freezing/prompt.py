"""From the body of a stage to the template of its prompt."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.contract.texts import Texts
from stagec.core.json import Json, Object
from stagec.frontends.stages.document import Body, Form, Placeholder, Stage
from stagec.plan.canonical import as_text
from stagec.plan.template import Hole, Path, Piece, Template, Text


def prompt(stage: Stage, texts: Texts) -> Template:
    """Return the prompt of a stage: what it reads of the context is a hole, what it says of itself is put in."""
    pieces: list[Piece] = []
    gathered = ""
    for part in _parts(stage):
        if isinstance(part, str):
            gathered += part
            continue
        pieces += [*_text(gathered, texts), part]
        gathered = ""
    return (*pieces, *_text(gathered, texts))


def _text(gathered: str, texts: Texts) -> list[Piece]:
    return [Text(texts.text(gathered))] if gathered else []


def _parts(stage: Stage) -> Iterator[str | Hole]:
    body, end = stage.body, 0
    for each in body.placeholders:
        start = _start(body, each, end)
        yield body.text[end:start]
        yield _part(stage, each)
        end = start + len(each.text)
    yield body.text[end:]


def _start(body: Body, placeholder: Placeholder, after: int) -> int:
    """Return where a placeholder begins in its body; in one that was read from JSON it is looked for."""
    if placeholder.at.range is not None and body.at.range is not None:
        return placeholder.at.range[0] - body.at.range[0]
    return body.text.index(placeholder.text, after)


def _part(stage: Stage, placeholder: Placeholder) -> str | Hole:
    if placeholder.form is Form.PATH and placeholder.path[0] == "ctx":
        return Hole(placeholder.path)
    if placeholder.form is Form.PATH and placeholder.path[0] == "stage":
        return as_text(_member(stage.members, placeholder.path[1:]))
    return placeholder.text


def _member(members: Object, path: Path) -> Json:
    """Return what a stage says of itself at a path, null where it says nothing."""
    found: Json = members
    for key in path:
        if isinstance(found, dict):
            found = found.get(str(key))
        elif isinstance(found, list) and isinstance(key, int) and key < len(found):
            found = found[key]
        else:
            return None
    return found
