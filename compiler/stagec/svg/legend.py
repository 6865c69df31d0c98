"""The legend of drawings: a sample of everything that occurs in them, with its meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.words import visible
from stagec.picture.document import Box, Fate, Form, Picture, Role, Stroke, describe_fate, list_fates
from stagec.svg.shapes import Markup, bar, classes_of, element, outline_of, shape

_ROLES = {
    Role.START: "where runs start",
    Role.DONE: "where runs end",
    Role.FAILED: "where runs end with a failure",
    Role.INTERRUPTED: "where runs end and wait for somebody",
    Role.MISSING: "named, but nothing has this name",
    Role.GROUP: "several nodes drawn as one",
    Role.EVERY: "all that fail alike",
    Role.CHOICE: "an answer names the one that follows",
}
_STROKES = {
    Stroke.ENTRY: "starts here",
    Stroke.GO: "continues with",
    Stroke.FORK: "starts together with others",
    Stroke.CHAIN: "one after the other",
    Stroke.JOIN: "when all have ended",
    Stroke.END: "ends",
}
_FATES = {
    fate: f"{describe_fate(fate)}: {look}"
    for fate, look in (
        (Fate.ADDED, "thick border and line"),
        (Fate.REMOVED, "dashed, struck out"),
        (Fate.CHANGED, "border and line of dashes and dots"),
    )
}
_WIDTH, _HEIGHT = 44.0, 22.0
_LONGEST = 60
"""Characters of a kind."""

Entry = tuple[Markup, str]
"""A sample, and what it means, which is text and no markup."""


def legend(pictures: tuple[Picture, ...], forms: Mapping[str, Form]) -> Iterator[Entry]:
    """Yield everything that is drawn."""
    boxes = [box for picture in pictures for box in picture.boxes.values()]
    yield from ((_sample(drawn), meaning) for drawn, meaning in _boxes(boxes, forms))
    strokes = {line.stroke for picture in pictures for line in picture.lines}
    plainly = " same" if any(picture.fate for picture in pictures) else ""
    for stroke, meaning in _STROKES.items():
        if stroke in strokes:
            ends = {"marker-end": "url(#hollow-ink)" if stroke is Stroke.END else "url(#arrow-ink)"}
            if stroke is Stroke.FORK:
                ends["marker-start"] = "url(#fork-ink)"
            yield _sample(_line(stroke.value + plainly, ends)), meaning
    for fate in list_fates(pictures):
        plain = element("g", {"class": f"box node {fate}"}, shape(Form.PLAIN, _WIDTH / 3, _HEIGHT))
        ends = {"marker-end": f"url(#arrow-{fate})", "d": f"M{_WIDTH / 3 + 4:.0f} 11H{_WIDTH + 4}"}
        yield _sample(plain, element("path", {"class": f"line {fate}", **ends})), _FATES[fate]
    if any(line.is_guess for picture in pictures for line in picture.lines):
        yield _sample(_line("guess", {"marker-end": "url(#arrow-ink)"})), "probably meant, but written wrongly"


def _boxes(boxes: Iterable[Box], forms: Mapping[str, Form]) -> Iterator[Entry]:
    known = list(boxes)
    kinds = {(box.role, box.kind if box.role is Role.NODE else None): box for box in known}
    for (role, kind), box in kinds.items():
        outline = outline_of(box, forms)
        classes = (*classes_of(box, outline), *(("same",) if box.fate else ()))
        drawn = element("g", {"class": " ".join(classes)}, shape(outline, _WIDTH, _HEIGHT))
        yield drawn, _ROLES.get(role) or visible((kind or "a node")[:_LONGEST])
    plain = shape(Form.PLAIN, _WIDTH, _HEIGHT)
    if any(box.is_join for box in known):
        joining = element("g", {"class": "box node"}, plain, bar(Form.PLAIN, _WIDTH, _HEIGHT))
        yield joining, "waits for all before it"
    if not all(box.is_reached for box in known):
        yield element("g", {"class": "box node unreached"}, plain), "no run comes here"


def _line(look: str, ends: Mapping[str, str]) -> Markup:
    return element("path", {"class": f"line {look}", "d": f"M0 11H{_WIDTH}", **ends})


def _sample(*drawn: Markup) -> Markup:
    size: dict[str, str | float] = {"width": _WIDTH + 10, "height": _HEIGHT + 10}
    size["viewBox"] = f"-2 -8 {_WIDTH + 10} {_HEIGHT + 10}"
    return element("svg", {**size, "aria-hidden": "true"}, *drawn)
