"""Pictures below each other in one SVG file, with their titles, what was found in no box, and a legend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.value import value
from stagec.core.words import format_count, visible
from stagec.views.picture.document import (
    FATE_SIGNS,
    SIGNS,
    Box,
    Fate,
    Form,
    Picture,
    Role,
    Stroke,
    describe_fate,
    forms_of,
    head_of,
    list_fates,
)
from stagec.views.picture.layout import lay_out
from stagec.views.picture.layout.document import COLUMN, columns
from stagec.views.svg.drawing import (
    Markup,
    bar,
    classes_of,
    element,
    heads,
    outline_of,
    read_style,
    settle,
    shape,
    still,
    text,
)

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


_MARGIN, _ROW, _TITLE_ROW = 24.0, 17.0, 26.0
_COLUMNS = 100
"""Characters of a line of text; of titles there are fewer, in larger type."""
_READ = 1_000
"""Characters of a title, a remark and the like that are looked at."""
_MOST = 12
"""Findings that are told above a drawing, the heaviest first."""
_NAMED = 8
"""Names in the description of a drawing."""
_SAMPLE, _ENTRY, _TOLD = 260.0, 32.0, 66.0
"""The least width and the height of an entry of the legend, and where its meaning begins."""
_STYLE = """\
.paper { fill: var(--paper); }
svg text.title { font-size: 15px; font-weight: 700; text-anchor: start; }
svg text.row { text-anchor: start; }
svg text.row.error { fill: var(--red); }
svg text.row.warning { fill: var(--amber); }
"""


@value
class Strip:
    """A part of the sheet over its whole width: its markup, drawn from zero downwards, and its size."""

    markup: Markup
    width: float
    height: float


def sheet(pictures: tuple[Picture, ...]) -> str:
    """Return the whole file. Texts of users are letters in it, whatever they hold."""
    forms = forms_of(pictures)
    strips = [strip for picture in pictures for strip in (_head(picture), _drawing(picture, forms))]
    strips.append(_key(pictures, forms, max((strip.width for strip in strips), default=0.0)))
    width, height = max(strip.width for strip in strips), _MARGIN
    placed = []
    for strip in strips:
        placed.append(element("g", {"transform": f"translate(0 {height:.1f})"}, strip.markup))
        height += strip.height
    size: dict[str, str | float] = {"width": width, "height": height, "viewBox": f"0 0 {width:.1f} {height:.1f}"}
    root: dict[str, str | float] = {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"}
    parts = (
        element(
            "title", {"id": "title"}, text(", ".join(visible(each.title[:_READ]) for each in pictures) or "nothing")
        ),
        element("desc", {"id": "desc"}, text("\n".join(map(describe, pictures)))),
        element("style", {}, Markup(settle(read_style(pictures) + _STYLE))),
        element("defs", {}, heads(pictures)),
        element("rect", {"class": "paper", "width": width, "height": height}),
        *placed,
    )
    drawn = element("svg", {**root, "aria-labelledby": "title desc"}, *(Markup(f"\n{part}") for part in parts))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}\n'


def describe(picture: Picture) -> str:
    """Return a drawing in words, for readers who do not see it."""
    nodes = sum(len(box.members) or box.role is Role.NODE for box in picture.boxes.values())
    told = [f"{format_count(nodes, 'node')}, {format_count(len(picture.lines), 'line')}"]
    boxes = picture.boxes.values()
    lists = {
        "runs start at": [box.name for box in boxes if box.role is Role.START],
        "never reached": [box.name for box in boxes if not box.is_reached],
        "no such name": [box.name for box in boxes if box.role is Role.MISSING],
        **{fate.value: [box.name for box in boxes if box.fate is fate] for fate in FATE_SIGNS},
    }
    for heading, names in lists.items():
        shown = [visible(name[:_COLUMNS]) for name in names[:_NAMED]]
        shown += [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        told += [f"{heading}: {', '.join(shown)}"] if shown else []
    lists_of_found = (picture.found, *(box.found for box in boxes), *(line.found for line in picture.lines))
    found = {id(each): each for own in lists_of_found for each in own}
    counts = {each: sum(one.severity is each for one in found.values()) for each in Severity}
    told += [format_count(count, each.value) for each, count in counts.items() if count]
    return f"{visible(picture.title[:_READ])}: {'; '.join(told)}"


def _head(picture: Picture) -> Strip:
    """Return the title of a picture, its remarks, and what was found and belongs to no box and no line."""
    titles = _wrap(picture.title, _COLUMNS * 4 // 5)
    rows = [(row, "") for remark in picture.remarks for row in _wrap(remark)]
    rows += [(row, "changed") for change in picture.changes[:_MOST] for row in _wrap(head_of(change))]
    rows += [(f"… and {len(picture.changes) - _MOST} more", "")] if len(picture.changes) > _MOST else []
    rows += [(row, found.severity.value) for found in _heaviest(picture.found) for row in _wrap(_tell(found))]
    rows += [(f"… and {len(picture.found) - _MOST} more", "")] if len(picture.found) > _MOST else []
    found: list[Markup] = []
    y = 0.0
    for row in titles:
        y += _TITLE_ROW if not found else _ROW + 3
        found.append(element("text", {"class": "title", "x": _MARGIN, "y": y - 8}, text(row)))
    for row, severity in rows:
        found.append(element("text", {"class": f"row {severity}".strip(), "x": _MARGIN, "y": y + 10}, text(row)))
        y += _ROW
    wide = max(columns(row) * COLUMN * 1.25 for row in titles)
    wide = max(wide, *(columns(row) * COLUMN for row, _ in rows), 0.0)
    return Strip(Markup("\n".join(found)), wide + 2 * _MARGIN, y)


def _heaviest(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(found, key=lambda each: -each.severity.weight)[:_MOST]


def _tell(found: Diagnostic) -> str:
    start = found.span.start
    return f"{SIGNS[found.severity]} {found.code} {found.name}, {found.at.file}:{start.line}:{start.column}"


def _wrap(given: str, most: int = _COLUMNS) -> list[str]:
    shown = visible(given[:_READ]) + ("…" if len(given) > _READ else "")
    return wrap(shown, most, break_on_hyphens=False) or ["(empty)"]


def _drawing(picture: Picture, forms: Mapping[str, Form]) -> Strip:
    layout = lay_out(picture)
    return Strip(Markup("\n".join(still(picture, layout, forms))), layout.width, layout.height)


def _key(pictures: tuple[Picture, ...], forms: Mapping[str, Form], room: float) -> Strip:
    """Return the legend, in as many columns as there is room for."""
    entries = list(legend(pictures, forms))
    longest = max((columns(meaning) for _, meaning in entries), default=0)
    wide = max(_SAMPLE, _TOLD + longest * COLUMN + _MARGIN)
    across = max(2, int((room - 2 * _MARGIN) // wide))
    drawn = []
    for at, (sample, meaning) in enumerate(entries):
        moved = {"transform": f"translate({_MARGIN + at % across * wide:.1f} {at // across * _ENTRY:.1f})"}
        told = element("text", {"class": "row", "x": _TOLD, "y": 24}, text(meaning))
        drawn.append(element("g", moved, sample, told))
    high = -(-len(entries) // across) * _ENTRY
    return Strip(Markup("\n".join(drawn)), across * wide + 2 * _MARGIN, high + _MARGIN)
