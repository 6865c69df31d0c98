"""What shapes and lines mean: only those that occur in the pictures of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.visible import visible
from stagec.emitters import Form, Picture, Role, Stroke
from stagec.emitters.html.shapes import Markup, bar, element, outline_of, shape

_ROLES = {
    Role.START: "where runs start",
    Role.DONE: "where runs end",
    Role.FAILED: "where runs end with a failure",
    Role.MISSING: "named, but nothing has this name",
    Role.GROUP: "several nodes drawn as one",
    Role.CHOICE: "an answer names the one that follows",
}
_STROKES = {
    Stroke.ENTRY: "starts here",
    Stroke.GO: "goes on with",
    Stroke.FORK: "starts together with others",
    Stroke.CHAIN: "one after the other",
    Stroke.JOIN: "when all have ended",
    Stroke.END: "ends",
}
_WIDTH, _HEIGHT = 44.0, 22.0


def legend(pictures: tuple[Picture, ...], forms: Mapping[str, Form]) -> Iterator[tuple[Markup, str]]:
    """Yield everything that is drawn with its meaning, which is text and no markup."""
    yield from _boxes(pictures, forms)
    yield from _lines(pictures)
    yield from _guess(pictures)


def _boxes(pictures: tuple[Picture, ...], forms: Mapping[str, Form]) -> Iterator[tuple[Markup, str]]:
    boxes = [box for picture in pictures for box in picture.boxes.values()]
    kinds = {(box.role, box.kind if box.role is Role.NODE else None): box for box in boxes}
    for (role, kind), box in kinds.items():
        drawn = element("g", {"class": f"box {role.value}"}, shape(outline_of(box, forms), _WIDTH, _HEIGHT))
        yield _entry(drawn, _ROLES.get(role) or visible((kind or "a node")[:60]))
    if any(box.is_join for box in boxes):
        joining = element("g", {"class": "box node"}, shape("plain", _WIDTH, _HEIGHT), bar("plain", _WIDTH, _HEIGHT))
        yield _entry(joining, "waits for all before it")
    if not all(box.is_reached for box in boxes):
        lost = element("g", {"class": "box node unreached"}, shape("plain", _WIDTH, _HEIGHT))
        yield _entry(lost, "no run comes here")


def _lines(pictures: tuple[Picture, ...]) -> Iterator[tuple[Markup, str]]:
    drawn = {line.stroke for picture in pictures for line in picture.lines}
    for stroke, meaning in _STROKES.items():
        if stroke in drawn:
            ends = {"marker-end": "url(#hollow-ink)" if stroke is Stroke.END else "url(#arrow-ink)"}
            if stroke is Stroke.FORK:
                ends["marker-start"] = "url(#fork-ink)"
            yield _entry(element("path", {"class": f"line {stroke.value}", "d": f"M0 11H{_WIDTH}", **ends}), meaning)


def _guess(pictures: tuple[Picture, ...]) -> Iterator[tuple[Markup, str]]:
    if any(line.is_guess for picture in pictures for line in picture.lines):
        drawn = {"class": "line guess", "d": f"M0 11H{_WIDTH}", "marker-end": "url(#arrow-ink)"}
        yield _entry(element("path", drawn), "probably meant, but written wrongly")


def _entry(drawn: Markup, meaning: str) -> tuple[Markup, str]:
    size: dict[str, str | float] = {"width": _WIDTH + 10, "height": _HEIGHT + 10}
    size["viewBox"] = f"-2 -8 {_WIDTH + 10} {_HEIGHT + 10}"
    return element("svg", {**size, "aria-hidden": "true"}, drawn), meaning
