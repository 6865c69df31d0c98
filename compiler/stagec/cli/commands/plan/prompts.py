"""Templates as people read them: the text, with the path of each value that is put in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import assert_never

from stagec.cli.commands.plan.sheet import Run
from stagec.core.json import Json
from stagec.core.paint import Style
from stagec.core.words import quote
from stagec.plan.template import Choice, Each, Hole, Path, Piece, Template, Text

_PLAIN = re.compile(r"[\w$@#/:+-]+")


def runs(template: Template, contents: Mapping[str, str]) -> Iterator[Run]:
    """Yield a template piece by piece: `{{path}}`, `{{#each path}}…{{/each}}`, `{{#if path}}…{{else}}…{{/if}}`."""
    todo: list[Piece | str] = [*reversed(template)]
    while todo:  # no recursion: templates may be nested to any depth
        piece = todo.pop()
        match piece:
            case str():
                yield piece, Style.HOLE
            case Text():
                yield contents[piece.content], None
            case Hole():
                yield f"{{{{{path_text(piece.path)}}}}}", Style.HOLE
            case Each():
                todo += reversed([f"{{{{#each {path_text(piece.path)}}}}}", *piece.body, "{{/each}}"])
            case Choice():
                other = ["{{else}}", *piece.otherwise] if piece.otherwise else []
                todo += reversed([f"{{{{#if {path_text(piece.path)}}}}}", *piece.then, *other, "{{/if}}"])
            case _:
                assert_never(piece)


def line(template: Template, contents: Mapping[str, str]) -> str:
    """Return a template as one text."""
    return "".join(text for text, _ in runs(template, contents))


def path_text(path: Path) -> str:
    """Return `parsed.items.0`, with quotes around names that could be read otherwise."""
    return ".".join(str(part) if isinstance(part, int) or _PLAIN.fullmatch(part) else quote(part) for part in path)


def value_text(given: Json) -> str:
    """Return a value as people write it: a text that could be nothing else without quotes."""
    from json import dumps

    if isinstance(given, str) and _PLAIN.fullmatch(given) and given not in _WORDS and not given[:1].isdigit():
        return given
    try:
        return dumps(given, ensure_ascii=False)
    except RecursionError:
        return "…"


_WORDS = {"true", "false", "null", "present", "absent"}
