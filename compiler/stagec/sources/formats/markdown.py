"""Markdown with YAML frontmatter; the text below the frontmatter is never parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.core.place import Place, Span
from stagec.core.value import replace, value
from stagec.sources.suppression import Suppression
from stagec.sources.tree import Fault, Format, Parsed

_OPENING = re.compile(r"---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)
_CLOSING_AFTER_RETURN = re.compile(r"(?:(?<=\r)|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_KEY = re.compile(r"[ \t]*[\w.\"'-]+[ \t]*:(?:[ \t]|$)", re.MULTILINE)
_NEARLY = re.compile(r"^[ \t]*(?:-{2,}|\u2014+|\u2013+|\*{3,}|_{3,}|={3,}|---[^\r\n]*)[ \t]*$", re.MULTILINE)


@value
class Fenced:
    """Offsets of the YAML between the fences, end exclusive, and of the body below; `closed` when both fences stand."""

    start: int
    end: int
    body: int
    closed: bool = True


def split(text: str) -> Fenced | None:
    """Return the frontmatter of a text, or None.

    A first line `---` that nothing closes opens a frontmatter only when the next line looks like a key.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None
    start = opening.end()
    closing = (_CLOSING_AFTER_RETURN if "\r" in text else _CLOSING).search(text, start)
    if closing is not None:
        return Fenced(start, closing.start(), closing.end())
    return Fenced(start, len(text), len(text), closed=False) if _KEY.match(text, start) else None


def nearly_closing(text: str, start: int) -> tuple[int, int] | None:
    """Return the first line behind an offset that looks like a closing fence and is none."""
    found = _NEARLY.search(text, start)
    return found.span() if found else None


def read(file: str, text: str, budgets: Budgets) -> Parsed:
    """Return the frontmatter of a text (`{}` when empty, None when there is none) and where its body lies."""
    fenced = split(text)
    if fenced is None:
        return Parsed(body=(0, len(text)))
    body = (fenced.body, len(text))
    if not fenced.closed:
        nearly = nearly_closing(text, fenced.start)
        related = ((Place(file, range=nearly), text[slice(*nearly)]),) if nearly else ()
        report_unclosed = Fault("invalid-frontmatter", Place(file, range=(0, 3)), "unclosed", related=related)
        return Parsed(faults=(report_unclosed,), body=body)
    inside = text[fenced.start : fenced.end]
    parsed = _read_yaml(file, inside, budgets)
    if isinstance(parsed.value, str) and not parsed.faults:
        return _judge_text(file, inside, fenced, len(text))
    moved: list[Fault] = []
    for fault in _one(parsed.faults):
        others = tuple((shift_span(place, fenced.start), why) for place, why in fault.related)
        moved.append(replace(fault, at=shift_span(fault.at, fenced.start), related=others))
    if any(fault.topic == "invalid-yaml" for fault in moved):
        return Parsed(None, tuple(moved), body)
    return _judge_mapping(file, replace(parsed, faults=tuple(moved), body=body), fenced)


def _judge_text(file: str, inside: str, fenced: Fenced, length: int) -> Parsed:
    """Tell keys that lack a space from prose between two separating lines, which is no frontmatter."""
    from stagec.sources.yaml_text.mistakes import Outline, explain_spelling

    found = explain_spelling(Outline(inside), len(inside) - len(inside.lstrip()))
    if found is None:
        return Parsed(body=(0, length))
    _, start, end, facts = found
    fault = _fault(file, "misspelt", (start + fenced.start, end + fenced.start), dict(facts))
    return Parsed(None, (fault,), (fenced.body, length))


def _one(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Return the faults with the first that is about syntax in place of all such: the others are related to it."""
    order = ("invalid-yaml", "repeated-key")
    told = sorted((fault for fault in faults if fault.topic in order), key=lambda fault: order.index(fault.topic))
    if len(told) < len("ab"):
        return faults
    related = (*told[0].related, *((fault.at, "again") for fault in told[1:]))
    return (replace(told[0], related=related), *(fault for fault in faults if fault.topic not in order))


def _read_yaml(file: str, inside: str, budgets: Budgets) -> Parsed:
    from stagec.sources.yaml_text.quick import quick

    given = quick(inside, budgets.depth) if inside.strip("\r\n ") else {}
    if isinstance(given, dict):
        return Parsed(given)
    from stagec.sources.yaml_text.reading import read as read_yaml

    parsed = read_yaml(file, inside, budgets)
    if any(fault.topic == "empty-file" for fault in parsed.faults):
        return Parsed({})
    refused = () if parsed.value is None else _refuse(file, inside, budgets)
    return Parsed(None, refused) if refused else parsed


def _refuse(file: str, inside: str, budgets: Budgets) -> tuple[Fault, ...]:
    """Return a fault for the first anchor, alias or tag: frontmatter does without them."""
    if not any(mark in inside for mark in "&*!"):
        return ()
    from stagec.sources.yaml_text.compose import compose, nodes_of
    from stagec.sources.yaml_text.mistakes import Outline

    root = compose(inside, budgets).root
    for node in nodes_of(root) if root else ():
        if node.anchor or node.kind == "alias" or node.tag:
            reason = "tag" if node.tag and not node.anchor else "anchor"
            return (_fault(file, reason, (node.start, node.start + 1), Outline(inside).facts(node.start)),)
    return ()


def _judge_mapping(file: str, parsed: Parsed, fenced: Fenced) -> Parsed:
    if parsed.faults or isinstance(parsed.value, dict):
        return parsed
    fault = _fault(file, "not-a-mapping", (fenced.start, fenced.end), {"value": parsed.value})
    return Parsed(None, (fault,), parsed.body)


def _fault(file: str, reason: str, where: tuple[int, int], facts: dict[str, object]) -> Fault:
    return Fault("invalid-frontmatter", Place(file, range=where), reason, facts)


def shift_span(place: Place, by: int) -> Place:
    """Return a place whose range, if it has one, begins so many characters further on."""
    return replace(place, range=(place.range[0] + by, place.range[1] + by)) if place.range else place


def _parse(file: str, data: bytes, budgets: Budgets) -> Parsed:
    return read(file, data.decode(), budgets)


def _locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    from stagec.sources.yaml_text.members import spans

    text = data.decode(errors="replace")
    fenced = split(text)
    return spans(text, places, (fenced.start, fenced.end) if fenced else (0, 0))


def _apply(text: str, edits: Iterable[Edit]) -> str:
    from stagec.sources.tree import write_stretches
    from stagec.sources.yaml_text.members import change

    every, fenced = tuple(edits), split(text)
    text = write_stretches(text, every, fenced.body if fenced else 0)
    rest = [edit for edit in every if edit.change is not Change.WRITE]
    if not rest:
        return text
    if fenced is None:
        raise ValueError("the file has no frontmatter")
    inside = (replace(edit, at=shift_span(edit.at, -fenced.start)) for edit in rest)
    return text[: fenced.start] + change(text[fenced.start : fenced.end], inside) + text[fenced.end :]


def _take_suppressions(file: str, data: bytes, _given: Json) -> tuple[Suppression, ...]:
    from stagec.sources.yaml_text.reading import read_suppressions

    text = data.decode()
    fenced = split(text)
    return read_suppressions(file, text, (fenced.start, fenced.end, fenced.body)) if fenced else ()


FORMAT = Format("markdown", (".md", ".markdown", ".mdc", ".prompt"), _parse, _locate, _apply, _take_suppressions)
