"""Errors in a placeholder: of several only the one to fix first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from stagec.core.json import Json, Object
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.languages.stages.document import (
    RESULT,
    Body,
    Incoming,
    IncomingKind,
    Pipeline,
    Placeholder,
    PlaceholderForm,
    Profile,
    Stage,
)
from stagec.languages.stages.elements import (
    find_uses,
    is_of_element,
    knows_elements,
    promise_elements,
    runs_elements,
    runs_for_elements,
)
from stagec.sources.contract.promise import Presence, Promise, promise

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
"""The text for two opening braces that begin no placeholder."""


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
    """Yield the texts between double braces; of unclosed ones one on each line."""
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
    """Return an unclosed placeholder: up to the beginning of something else, on its own line."""
    line = text[opened.start() : _line_end(text, opened.start(), end)].rstrip()
    span = (opened.start(), opened.start() + len(line))
    return Placeholder(line, replace(file, range=span), PlaceholderForm.UNCLOSED)


def _read_closed(text: str, opened: re.Match[str], closing: re.Match[str], file: Place) -> Placeholder:
    """Return a closed placeholder; of several closing braces, two belong to it, or as many as are opened."""
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


class PlaceholderError(StrEnum):
    """One way in which a placeholder can be wrong."""

    MALFORMED = "malformed"
    EXPRESSION = "expression"
    ENVIRONMENT = "environment"
    FOREIGN = "foreign"
    ATTEMPTS = "attempts"
    HOST = "host"
    CONTEXT_NAME = "context-name"
    CONTEXT_PATH = "context-path"
    UNCERTAIN_CONTEXT_PATH = "uncertain-context-path"
    AT_ENTRY = "at-entry"
    IN_SIBLING = "in-sibling"
    INDEX = "index"
    RESULT_MEMBER = "result-member"
    TRANSCRIPT = "transcript"
    STAGE_FIELD = "stage-field"
    UNLISTED_FIELD = "unlisted-field"
    ITEM = "item"


@value
class WrongPlaceholder:
    """A wrong placeholder. `again` are the others of the stage with the same text.

    `ways` are the paths to the stage on which it is wrong, if not on all; `everywhere` tells that these are all.
    `promised` is what the declared context says of the path.
    """

    stage: Stage
    placeholder: Placeholder
    again: tuple[Placeholder, ...] = ()
    ways: tuple[Incoming, ...] = ()
    everywhere: bool = True
    promised: Promise | None = None


@value
class _Judged:
    error: PlaceholderError
    ways: tuple[Incoming, ...] = ()
    everywhere: bool = True
    promised: Promise | None = None


def find_wrong_placeholders(pipeline: Pipeline, error: PlaceholderError) -> Iterator[WrongPlaceholder]:
    """Yield the placeholders of a pipeline's stages that are wrong in one way, once for each text."""
    for stage, every in pipeline.memo.once("placeholder-errors", lambda: _find_all(pipeline)).get(error, ()):
        found: dict[str, list[tuple[Placeholder, _Judged]]] = {}
        for each, judged in every:
            found.setdefault(_sameness(each), []).append((each, judged))
        for (first, judged), *others in found.values():
            again = tuple(other for other, _ in others)
            yield WrongPlaceholder(stage, first, again, judged.ways, judged.everywhere, judged.promised)


def _find_all(pipeline: Pipeline) -> dict[PlaceholderError, list[tuple[Stage, list[tuple[Placeholder, _Judged]]]]]:
    """Return everything that is wrong with placeholders, by the way in which it is, stage by stage."""
    every: dict[PlaceholderError, list[tuple[Stage, list[tuple[Placeholder, _Judged]]]]] = {}
    for stage in pipeline.stages:
        own: dict[PlaceholderError, list[tuple[Placeholder, _Judged]]] = {}
        judge, declared = _PlaceholderJudge(pipeline, stage), declares_context(pipeline, stage)
        for each in stage.body.placeholders:
            judged = judge.judge(each, declared=declared)
            if judged is not None:
                own.setdefault(judged.error, []).append((each, judged))
        for error, found in own.items():
            every.setdefault(error, []).append((stage, found))
    return every


def declares_context(pipeline: Pipeline, stage: Stage) -> bool:
    """Tell whether all names that a stage is given are declared; its own setup hook may provide others."""
    return isinstance(pipeline.body.get("context"), dict) and "setup" not in stage.conduct.hooks


def _sameness(placeholder: Placeholder) -> str:
    """Return the key that placeholders with one common mistake share: the parts of a block, or the path."""
    inner = placeholder.text.strip("{} \t\r\n")
    if placeholder.form is PlaceholderForm.EXPRESSION and (inner.startswith(("#", "/", "^")) or inner == "else"):
        return "#"
    return inner if placeholder.form is PlaceholderForm.PATH else placeholder.text


@value
class _PlaceholderJudge:
    """Judges the placeholders of a stage."""

    pipeline: Pipeline
    stage: Stage

    def judge(self, placeholder: Placeholder, *, declared: bool) -> _Judged | None:
        """Return the mistake in a placeholder, if any."""
        if placeholder.form is PlaceholderForm.ESCAPE:
            return None
        if placeholder.form is not PlaceholderForm.PATH:
            return _Judged(
                PlaceholderError.EXPRESSION
                if placeholder.form is PlaceholderForm.EXPRESSION
                else PlaceholderError.MALFORMED
            )
        root, *rest = placeholder.path
        match root:
            case "ctx":
                return self._judge_context(rest, declared=declared)
            case "stage":
                return self._judge_own(rest)
            case "env" | "settings":
                return _Judged(PlaceholderError.ENVIRONMENT)
            case _:
                return _Judged(PlaceholderError.FOREIGN)

    def _judge_context(self, path: list[str | int], *, declared: bool) -> _Judged | None:
        name, *rest = path
        match name:
            case "attempts":
                return _Judged(PlaceholderError.ATTEMPTS)
            case "host":
                return _Judged(PlaceholderError.HOST)
            case "upstream":
                return self._judge_upstream(rest)
            case "workflowRunId" | "stageExecutionId":
                return _Judged(PlaceholderError.CONTEXT_PATH) if rest else None
            case _ if is_of_element(self.pipeline, name):
                return self._judge_element(str(name), rest)
            case _:
                return self._judge_declared(str(name), rest) if declared else None

    def _judge_element(self, name: str, rest: list[str | int]) -> _Judged | None:
        """Judge a path into the element for which a stage runs, or the number of it."""
        if not runs_for_elements(self.pipeline, self.stage):
            is_known = (
                self.pipeline.is_whole and knows_elements(self.pipeline) and self.stage.name in find_uses(self.pipeline)
            )
            return _Judged(PlaceholderError.ITEM) if is_known else None
        for promised in promise_elements(self.pipeline, self.stage, name, [*map(str, rest)]):
            error = None if promised is None else _ERRORS.get(promised.presence)
            if error is not None:
                return _Judged(error, promised=promised)
        return None

    def _judge_declared(self, name: str, rest: list[str | int]) -> _Judged | None:
        context = self.pipeline.context or {}
        if name not in context:
            return _Judged(PlaceholderError.CONTEXT_NAME)
        promised = promise(self.pipeline.schemas, context[name], map(str, rest)) if rest else None
        error = None if promised is None else _ERRORS.get(promised.presence)
        return None if error is None else _Judged(error, promised=promised)

    def _judge_own(self, path: list[str | int]) -> _Judged | None:
        name = path[0]
        if name in {"id", "name"} and len(path) == 1:
            return None
        if not _is_there(self.stage.members, path):
            return _Judged(PlaceholderError.STAGE_FIELD)
        return _Judged(PlaceholderError.UNLISTED_FIELD)

    def _judge_upstream(self, path: list[str | int]) -> _Judged | None:
        """Judge a path into results: first whether there can be one, then what it says of itself, then every way."""
        ways = self.pipeline.incoming.get(self.stage.id or "", ())
        if self.stage.profile is Profile.OBJECT:
            return None  # it stands for the whole list, which may be empty
        is_known = knows_elements(self.pipeline) and (ways or not runs_elements(self.pipeline))
        if not path and (not is_known or any(way.elements is not None for way in ways)):
            return None  # all results, in the order of the list, as far as it can be read
        if ways and not any(way.sources for way in ways):
            return _Judged(_error_of(ways[0]), ways)
        if not path or not isinstance(path[0], int):
            return _Judged(PlaceholderError.INDEX)
        match path[1:]:
            case ["transcript", *_]:
                return _Judged(PlaceholderError.TRANSCRIPT)
            case [member, *rest] if member not in RESULT or (rest and member in _ENDS):
                return _Judged(PlaceholderError.RESULT_MEMBER)
        index = path[0]
        short = self.pipeline.memo.once(("short", self.stage.at, index), lambda: self._list_short(ways, index))
        return _Judged(_error_of(short[0]), short, len(short) == len(ways)) if short else None

    def _list_short(self, ways: tuple[Incoming, ...], index: int) -> tuple[Incoming, ...]:
        """Return the ways on which fewer results are handed over than an index needs.

        Of a broken fan-out siblings may be missing: then it is not known how many results are handed over.
        """
        return tuple(
            way
            for way in ways
            if (index >= len(way.sources) or way.elements is not None)
            and (
                way.elements is not None
                or way.kind is not IncomingKind.JOIN
                or (self.pipeline.is_whole and len(way.sources) >= _SIBLINGS)
            )
        )


_ERRORS = {
    Presence.IMPOSSIBLE: PlaceholderError.CONTEXT_PATH,
    Presence.POSSIBLE: PlaceholderError.UNCERTAIN_CONTEXT_PATH,
    Presence.UNDECLARED: PlaceholderError.UNCERTAIN_CONTEXT_PATH,
}
"""The error in a path into a value of the context, by the promise of its schema."""


def _is_there(members: Object, path: list[str | int]) -> bool:
    found: Json = members
    for key in path:
        if isinstance(found, dict) and key in found:
            found = found[str(key)]
        elif isinstance(found, list) and isinstance(key, int) and key < len(found):
            found = found[key]
        else:
            return False
    return True


_ENDS = frozenset(RESULT) - {"parsed", "output"}
"""The members of a result that have no members of their own."""


_SIBLINGS = 2
"""A fan-out of fewer is a mistake of its own."""


def _error_of(way: Incoming) -> PlaceholderError:
    return {IncomingKind.ENTRY: PlaceholderError.AT_ENTRY, IncomingKind.SIBLING: PlaceholderError.IN_SIBLING}.get(
        way.kind, PlaceholderError.INDEX
    )
