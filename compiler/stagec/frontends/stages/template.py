"""Find the placeholders in the prompts of stages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.value import replace
from stagec.frontends.stages.document import Body, Placeholder, PlaceholderForm

_BRACES = re.compile(r"""(?P<escape>(?<!\{)\{\{[ \t]*(?P<quote>["'])\{\{(?P=quote)[ \t]*\}\})|\{{2,}|\}{2,}""")
_LINE_BREAK = re.compile(r"[\r\n]")
_DOLLAR = re.compile(r"\$\{(?P<inner>[^{}\n]*)\}")
_SIMPLE = re.compile(r"ctx\.(?P<name>[A-Za-z0-9_]+)")
_NAME = r"[^\W\d][\w-]*"
_PATH = re.compile(rf"{_NAME}(?:\[\d{{1,9}}\])*(?:\.[\w-]+(?:\[\d{{1,9}}\])*)*")
_NEARLY = re.compile(rf"(?:ctx|stage|env|settings)\b[\w\-.\[\]\s]*|{_NAME}[.\[][\w\-.\[\]]*")
_OURS = re.compile(r"\s*(?:ctx|stage)\s*[.\[]")
_PART = re.compile(r"[\w-]+|\[(?P<index>\d+)\]")
_OF_TEMPLATES = frozenset({"else", "elif", "end", "endfor", "endif", "false", "none", "null", "this", "true"})
"""Words that stand alone between braces in richer template languages, and name nothing."""
_USUAL = 2
"""The braces of a placeholder."""
ESCAPE = '{{"{{"}}'
"""What stands for two opening braces that are none of a placeholder."""


def escape(text: str) -> str:
    """Return a text as the prompt of a Markdown stage in which nothing of it is a placeholder."""
    return text.replace("{{", ESCAPE)


def unescape(text: str) -> str:
    """Return a prompt of a Markdown stage with the braces that its escapes stand for; its placeholders stay."""
    return _BRACES.sub(lambda found: "{{" if found["escape"] is not None else found[0], text)


def markdown_body(text: str, body: tuple[int, int], file: Place) -> Body:
    """Return the prompt of a Markdown stage: a stretch of the file's text, in which `{{ctx.task}}` is a placeholder."""
    start, end = body
    literals = tuple(_dollars(text, start, end, file)) if "${" in text else ()
    return Body(text[start:end], replace(file, range=(start, end)), tuple(_braces(text, start, end, file)), literals)


def object_body(text: str, at: Place) -> Body:
    """Return the prompt of a stage object, in which only `${ctx.name}` is a placeholder.

    Every placeholder lies at the whole body: where in it cannot be told once the text has been read.
    """
    found: list[Placeholder] = []
    literals = [
        each
        for each in _braces(text, 0, len(text), at)
        if each.form is PlaceholderForm.PATH and each.path[0] in {"ctx", "stage"} and len(each.path) > 1
    ]
    for each in _dollars(text, 0, len(text), at):
        is_simple = _SIMPLE.fullmatch(each.text, 2, len(each.text) - 1) is not None
        (found if is_simple else literals).append(each)
    return Body(
        text, at, tuple(replace(each, at=at) for each in found), tuple(replace(each, at=at) for each in literals)
    )


def path_of(inner: str) -> tuple[str | int, ...]:
    """Return the names and indexes that a path goes through: `ctx.upstream[0]` is `("ctx", "upstream", 0)`."""
    parts = _PART.finditer(inner)
    return tuple(int(part["index"]) if part["index"] is not None else part[0] for part in parts)


def _dollars(text: str, start: int, end: int, file: Place) -> Iterator[Placeholder]:
    for match in _DOLLAR.finditer(text, start, end):
        if _OURS.match(match["inner"]) and len(path := path_of(match["inner"])) > 1:
            yield Placeholder(match[0], replace(file, range=match.span()), PlaceholderForm.PATH, path)


def _braces(text: str, start: int, end: int, file: Place) -> Iterator[Placeholder]:
    """Yield what stands between double braces; what is opened and never closed is told once a line."""
    opened: re.Match[str] | None = None
    told = start
    for match in _BRACES.finditer(text, start, end):
        if match[0].startswith("}"):
            if opened is not None:
                yield _read_closed(text, opened, match, file)
            opened = None
            continue
        if opened is not None and opened.start() >= told:
            yield _read_unclosed(text, opened, match.start(), file)
            told = _line_end(text, opened.start(), end)
        if match["escape"] is not None:
            yield Placeholder(match[0], replace(file, range=match.span()), PlaceholderForm.ESCAPE)
        opened = match if match["escape"] is None else None
    if opened is not None and opened.start() >= told:
        yield _read_unclosed(text, opened, end, file)


def _line_end(text: str, start: int, end: int) -> int:
    found = _LINE_BREAK.search(text, start, end)
    return end if found is None else found.start()


def _read_unclosed(text: str, opened: re.Match[str], end: int, file: Place) -> Placeholder:
    """Return what is opened and not closed: up to where something else begins, on its own line."""
    line = text[opened.start() : _line_end(text, opened.start(), end)].rstrip()
    span = (opened.start(), opened.start() + len(line))
    return Placeholder(line, replace(file, range=span), PlaceholderForm.UNCLOSED)


def _read_closed(text: str, opened: re.Match[str], closing: re.Match[str], file: Place) -> Placeholder:
    """Return what stands between braces; of several closing ones, two belong to it, or as many as are opened."""
    inner = text[opened.end() : closing.start()].strip()
    path = path_of(inner) if _PATH.fullmatch(inner) else ()
    if not path and _LINE_BREAK.search(inner):
        return _read_unclosed(text, opened, closing.start(), file)
    span = (opened.start(), closing.start() + min(len(opened[0]), len(closing[0])))
    form = _form(inner, path) if len(opened[0]) == _USUAL else PlaceholderForm.MALFORMED
    return Placeholder(
        text[slice(*span)], replace(file, range=span), form, path if form is PlaceholderForm.PATH else ()
    )


def _form(inner: str, path: tuple[str | int, ...]) -> PlaceholderForm:
    match path:
        case ("ctx" | "stage",) | ("ctx" | "stage", int(), *_):
            return PlaceholderForm.MALFORMED
        case (str(word),) if word.lower() in _OF_TEMPLATES:
            return PlaceholderForm.EXPRESSION
        case ():
            pass
        case _:
            return PlaceholderForm.PATH
    if not inner:
        return PlaceholderForm.EMPTY
    return PlaceholderForm.MALFORMED if _NEARLY.fullmatch(inner) else PlaceholderForm.EXPRESSION
