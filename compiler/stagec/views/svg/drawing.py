"""A picture in SVG: lines, labels and boxes, in tiles that a page can leave out while nobody sees them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from math import fsum, inf
from typing import NewType

from stagec.core.diagnostic import Diagnostic
from stagec.core.words import visible
from stagec.views.picture.document import (
    FATE_SIGNS,
    SIGNS,
    Area,
    Box,
    Form,
    Line,
    Picture,
    Role,
    Stroke,
    arrange,
    describe_fate,
    describe_labels,
)
from stagec.views.picture.layout import Face, Frame, Layout, Point, Route
from stagec.views.picture.layout.document import BADGE_ROW, BAR, CAPTION_ROW, ROW, badge_width

Markup = NewType("Markup", str)


def text(given: str) -> Markup:
    """Return a text as markup that shows it."""
    return Markup(escape(given))


def element(name: str, attributes: Mapping[str, str | float], *inner: Markup) -> Markup:
    """Return an element; coordinates are written in tenths."""
    told = "".join([f' {key}="{_attribute(each)}"' for key, each in attributes.items()])
    return Markup(f"<{name}{told}>{''.join(inner)}</{name}>")


def _attribute(given: str | float) -> str:
    return escape(given) if isinstance(given, str) else f"{given:.1f}".removesuffix(".0")


_SLANT = 11.0
_ROLES = {
    Role.START: "pill",
    Role.DONE: "ring",
    Role.FAILED: "octagon",
    Role.INTERRUPTED: "funnel",
    Role.MISSING: "note",
    Role.GROUP: "stack",
    Role.EVERY: "card",
    Role.CHOICE: "signpost",
}
_DOUBLE = {"ring": "ring", Form.DOUBLE_OCTAGON: "octagon"}
"""Outlines with another one inside."""
_ROUND = {"pill", "ring", Form.ROUNDED}
_CORNERS = {
    Form.HEXAGON: "Lt Rt rm Rb Lb lm",
    Form.DOUBLE_OCTAGON: "Lt Rt rT rB Rb Lb lB lT",
    Form.SLANTED: "Lt rt Rb lb",
    Form.HOUSE: "lT mt rT rb lb",
    "octagon": "Lt Rt rT rB Rb Lb lB lT",
    "funnel": "lt rt Rb Lb",
    "note": "lt Rt rT rb lb",
    "card": "Lt rt rb lb lT",
    "signpost": "lt Rt rm Rb lb Lm",
}
"""The corners of outlines, clockwise: l left, r right, t top, b bottom, m middle, capital letters a little inside."""


_UPPER: Mapping[str, tuple[float, float, float]] = {
    Form.ROUNDED: (0.3, 0.3, 0.0),
    Form.HEXAGON: (1.0, 1.0, 0.0),
    Form.DOUBLE_OCTAGON: (1.0, 1.0, 0.0),
    Form.SLANTED: (1.0, 0.0, 0.0),
    Form.HOUSE: (0.0, 0.0, 1.0),
}
"""How far from the left, the right and the top an outline is as wide as its box at the top, in slants."""


def outline_of(box: Box, forms: Mapping[str, Form]) -> str:
    """Return the name of the outline of a box, given the forms of all kinds."""
    return _ROLES.get(box.role) or forms.get(box.kind or "", Form.PLAIN)


def classes_of(box: Box, outline: str) -> tuple[str, ...]:
    """Return the classes of the styles of a box: what it stands for, and the form of its kind."""
    own = ("box", box.role.value)
    return (*own, f"form-{outline.replace(' ', '-')}") if box.role is Role.NODE else own


def shape(outline: str, width: float, height: float) -> Markup:
    """Return the shape of a box whose left upper corner is at zero."""
    inner = ""
    if outline in _DOUBLE:
        inner = _path(_DOUBLE[outline], 4, 4, width - 4, height - 4)
    if outline == Form.BARS:
        inner = f"M6 0V{height:.1f}M{width - 6:.1f} 0V{height:.1f}"
    back = element("path", {"class": "shape", "d": _path("plain", 6, -5, width + 6, height - 5)})
    main = element("path", {"class": "shape", "d": _path(outline, 0, 0, width, height)})
    more = element("path", {"class": "inner", "d": inner})
    return Markup((back if outline == "stack" else "") + main + (more if inner else ""))


def bar(outline: str, width: float, height: float) -> Markup:
    """Return the bar at the top of a box that waits for others, within its outline."""
    left, right, top = (each * _slant(height) for each in _UPPER.get(outline, (0.0, 0.0, 0.0)))
    return element("rect", {"class": "bar", "x": left, "y": top, "width": width - left - right, "height": BAR})


def _path(outline: str, left: float, top: float, right: float, bottom: float) -> str:
    if outline in _ROUND:
        return _round(left, top, right, bottom, 9 if outline == Form.ROUNDED else (bottom - top) / 2)
    slant = _slant(bottom - top)
    horizontal = {"l": left, "L": left + slant, "m": (left + right) / 2, "R": right - slant, "r": right}
    vertical = {"t": top, "T": top + slant, "m": (top + bottom) / 2, "B": bottom - slant, "b": bottom}
    corners = _CORNERS.get(outline, "lt rt rb lb").split()
    return "M" + "L".join(f"{horizontal[each[0]]:.1f} {vertical[each[1]]:.1f}" for each in corners) + "Z"


def _slant(height: float) -> float:
    return min(_SLANT, height / 3)


def _round(left: float, top: float, right: float, bottom: float, radius: float) -> str:
    radius = min(radius, (bottom - top) / 2, (right - left) / 2)
    arc = f"A{radius:.1f} {radius:.1f} 0 0 1"
    return (
        f"M{left + radius:.1f} {top:.1f}H{right - radius:.1f}{arc} {right:.1f} {top + radius:.1f}"
        f"V{bottom - radius:.1f}{arc} {right - radius:.1f} {bottom:.1f}"
        f"H{left + radius:.1f}{arc} {left:.1f} {bottom - radius:.1f}"
        f"V{top + radius:.1f}{arc} {left + radius:.1f} {top:.1f}Z"
    )


_VARIABLE = re.compile(r"(--[\w-]+): ([^;]+);")
_ROOT = re.compile(r":root \{[^}]*\}\n")
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\n.*?\n\}\n", re.DOTALL)


def read_style(pictures: Iterable[Picture] | None = None) -> str:
    """Return the style of drawings, with variables for colours that follow the reader's choice of light or dark.

    What has become of boxes and lines is in it if any of the drawings shows that, areas if any has some. Without
    drawings it is the style of those that are yet to come: each of one flow or one plan, and not compared.
    """
    from importlib.resources import files

    shown = () if pictures is None else tuple(pictures)
    has_areas = pictures is None or any(each.areas for each in shown)
    names = ["drawing.css"] + ["fates.css"] * _are_compared(shown) + ["areas.css"] * has_areas
    return "".join(files("stagec.views.svg").joinpath(name).read_text("utf-8") for name in names)


def _are_compared(pictures: Iterable[Picture]) -> bool:
    return any(each.fate is not None for each in pictures)


def read_colours(style: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the colours of a style by the names of their variables, on light and on dark ground."""
    dark = _DARK.search(style)
    light = _ROOT.search(_DARK.sub("", style))
    bright = dict(_VARIABLE.findall(light[0])) if light else {}
    return bright, bright | (dict(_VARIABLE.findall(dark[0])) if dark else {})


def settle(style: str) -> str:
    """Return a style with its colours in it: many programs that show SVG know no variables.

    The rules for dark ground come last, for readers who prefer it; programs that do not know them leave them out.
    """
    light, dark = read_colours(style)
    rules = _ROOT.sub("", _DARK.sub("", style))
    coloured = "".join(f"{rule}\n" for rule in rules.splitlines() if "var(" in rule)
    return f"{_paint(rules, light)}@media (prefers-color-scheme: dark) {{\n{_paint(coloured, dark)}}}\n"


def _paint(rules: str, colours: Mapping[str, str]) -> str:
    return re.sub(r"var\((--[\w-]+)\)", lambda found: colours[found[1]], rules)


def heads(pictures: Sequence[Picture] = ()) -> Markup:
    """Return the definitions of what lines begin and end with, in each of their colours; those of fates if needed."""
    found = []
    for colour in ("ink", "red", *(fate.value for fate in FATE_SIGNS if _are_compared(pictures))):
        for name, outline, tip in _HEADS:
            size: dict[str, str | float] = {"markerWidth": 10, "markerHeight": 8, "markerUnits": "userSpaceOnUse"}
            place: dict[str, str | float] = {"orient": "auto-start-reverse", "refX": tip, "refY": 4}
            drawn = element("path", {"class": f"mark {name} {colour}", "d": outline})
            found.append(element("marker", {"id": f"{name}-{colour}", **size, **place}, drawn))
    return Markup("".join(found))


_HEADS = (
    ("arrow", "M0 0L9 4L0 8Z", 9.0),
    ("hollow", "M1 1L9 4L1 7Z", 9.0),
    ("fork", "M0 4L5 1L10 4L5 7Z", 10.0),
)
"""Each with its outline and where its tip is."""


_TILE = 1_500
_MOST, _LENGTHY = 1_000_000.0, 4_000.0
"""Lines longer than the second are not dashed in a drawing whose lines exceed the first: browsers are too slow."""
_SAID = 200
"""Characters of a name that are read out."""
_WHOLE = 2_000
"""Characters of the title of a box or a label, which has what is shortened in the drawing."""


_HIDDEN = 12.0
"""How far behind its box a line to the same box begins: not every shape reaches the border of its frame."""


Drawn = tuple[Frame, Markup]


def svg(picture: Picture, layout: Layout, forms: Mapping[str, Form]) -> Markup:
    """Return the drawing of a picture for a page, on which every box and line can be chosen by its number."""
    boxes = []
    for at, (name, box) in enumerate(picture.boxes.items()):
        frame, face = layout.frames[name], layout.faces[name]
        badges = (badge.text for badge in face.badges)
        said = " ".join([visible(box.name[:_SAID]), face.caption, *badges, *face.changes])
        access = {"data-box": str(at), "tabindex": "0", "role": "button", "aria-label": said}
        boxes.append((frame, _box(box, (frame, face), outline_of(box, forms), access)))
    numbers = [{"data-line": str(at)} for at in range(len(picture.lines))]
    tags = [
        _tag(route, {"class": _classes("tag", worst(line.found)), **number})
        for line, route, number in zip(picture.lines, layout.routes, numbers, strict=True)
        if route.tag
    ]
    size: dict[str, str | float] = {"width": layout.width, "height": layout.height}
    size["viewBox"] = f"0 0 {layout.width} {layout.height}"
    label = {"role": "group", "aria-label": visible(picture.title[:_SAID])}
    layers = [("areas", around)] if (around := [*_areas(picture, layout)]) else []
    layers += [("lines", _lines(picture, layout, numbers)), ("tags", tags), ("boxes", boxes)]
    return element("svg", {**size, **label}, *(element("g", {"class": name}, *_tiles(each)) for name, each in layers))


def still(picture: Picture, layout: Layout, forms: Mapping[str, Form]) -> Iterator[Markup]:
    """Yield the same drawing for a file of its own: nothing can be chosen, and titles have what is shortened."""
    yield from (area for _, area in _areas(picture, layout))
    yield from (line for _, line in _lines(picture, layout, [{}] * len(picture.lines)))
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if route.tag:
            title = _title([*describe_labels(line), *_findings(line.found)])
            yield _tag(route, {"class": _classes("tag", worst(line.found))}, title)[1]
    for name, box in picture.boxes.items():
        title = _title([box.name, *box.members, *_tell_changes(box), *_findings(box.found)])
        yield _box(box, (layout.frames[name], layout.faces[name]), outline_of(box, forms), {}, title)


_PAD, _HEAD = 9.0, 16.0
"""How far the border of an area is from what is in it: on every side, and more above, where its title is."""


def _areas(picture: Picture, layout: Layout) -> Iterator[Drawn]:
    """Yield the areas of inner flows, the outer ones first; one that would cover a box from outside is not drawn."""
    todo, order = [arrange(picture)], list[Area]()
    for each in todo:  # grows while it is read
        order.append(each)
        todo.extend(each.areas)
    frames: dict[str, Frame] = {}
    members: dict[str, set[str]] = {}
    for each in reversed(order[1:]):
        inner = [layout.frames[box.id] for box in each.boxes] + [frames[area.name] for area in each.areas]
        left, top = min(one.x for one in inner) - _PAD, min(one.y for one in inner) - _PAD - _HEAD
        right, bottom = max(one.right for one in inner) + _PAD, max(one.bottom for one in inner) + _PAD
        frames[each.name] = Frame(left, top, right - left, bottom - top)
        members[each.name] = {box.id for box in each.boxes}.union(*(members[area.name] for area in each.areas))
    for each in order[1:]:
        frame = frames[each.name]
        others = (other for name, other in layout.frames.items() if name not in members[each.name])
        if not any(_overlap(frame, other) for other in others):
            size = {"x": frame.x, "y": frame.y, "width": frame.width, "height": frame.height, "rx": 8.0}
            heading, *inputs = each.title.split("\n")
            told = element("text", {"x": frame.right - _PAD, "y": frame.y + 12}, text(visible(heading[:_SAID])))
            more = [_title((heading, *inputs))] if inputs else []
            yield frame, element("g", {"class": "area"}, *more, element("rect", size), told)


def _overlap(one: Frame, other: Frame) -> bool:
    across = one.x < other.right and other.x < one.right
    return across and one.y < other.bottom and other.y < one.bottom


def _title(rows: Iterable[str]) -> Markup:
    told = "\n".join(visible(each[:_WHOLE]) for each in rows)
    return element("title", {}, text(told if len(told) <= _WHOLE else f"{told[:_WHOLE]}\n…"))


def _tell_changes(box: Box) -> Iterator[str]:
    yield from filter(None, (describe_fate(box.fate),))
    yield from (row for change in box.changes for row in change.split("\n"))


def _findings(found: Iterable[Diagnostic]) -> Iterator[str]:
    return (f"{SIGNS[each.severity]} {each.code} {each.name}: {each.message}" for each in found)


def _tiles(drawn: Iterable[Drawn]) -> Iterable[Markup]:
    """Return groups of shapes that lie near each other, each with its bounds."""
    tiles: dict[tuple[int, int], list[Drawn]] = {}
    for frame, markup in drawn:
        x, y = frame.middle
        is_large = max(frame.width, frame.height) > _TILE
        tiles.setdefault((-1, -1) if is_large else (int(x // _TILE), int(y // _TILE)), []).append((frame, markup))
    for _, own in sorted(tiles.items(), key=lambda each: each[0]):
        frames = [frame for frame, _ in own]
        left, top = min(each.x for each in frames), min(each.y for each in frames)
        right, bottom = max(each.right for each in frames), max(each.bottom for each in frames)
        reach = " ".join(f"{each:.0f}" for each in (left, top, right, bottom))
        yield element("g", {"class": "tile", "data-reach": reach}, *(markup for _, markup in own))


def _box(
    box: Box, place: tuple[Frame, Face], outline: str, access: Mapping[str, str | float], *title: Markup
) -> Markup:
    frame, face = place
    trouble = ("" if box.is_reached else "unreached", worst(box.found))
    classes = _classes(*classes_of(box, outline), *((box.fate.value,) if box.fate else trouble))
    moved = {"transform": f"translate({frame.x} {frame.y})"}
    size = frame.width, frame.height
    found: list[Markup] = []
    y, middle = 8 + BAR * box.is_join, face.width / 2
    for row in face.rows:
        found.append(element("text", {"x": middle, "y": y + 12}, text(row)))
        y += ROW
    if face.caption:
        found.append(element("text", {"class": "caption", "x": middle, "y": y + 10}, text(face.caption)))
        y += CAPTION_ROW
    found.extend(_badges(face, y + 2))
    y += 2 + BADGE_ROW * len(face.badges)
    for at, row in enumerate(face.changes):
        found.append(
            element("text", {"class": "caption change", "x": middle, "y": y + 10 + CAPTION_ROW * at}, text(row))
        )
    parts = [shape(outline, *size), *([bar(outline, *size)] if box.is_join else []), *found]
    return element("g", {"class": classes, **access, **moved}, *title, *parts)


def _badges(face: Face, y: float) -> Iterable[Markup]:
    for badge in face.badges:
        width = badge_width(badge)
        x = (face.width - width) / 2
        plate = element("rect", {"x": x, "y": y, "width": width, "height": BADGE_ROW - 3, "rx": 3})
        label = element("text", {"x": x + width / 2, "y": y + 11.5}, text(badge.text))
        yield element("g", {"class": _classes("badge", badge.severity or badge.fate or "")}, plate, label)
        y += BADGE_ROW


def _classes(*names: str) -> str:
    return " ".join(filter(None, names))


def _lines(picture: Picture, layout: Layout, names: Sequence[Mapping[str, str]]) -> list[Drawn]:
    pairs = [pairwise(route.points) for route in layout.routes]
    lengths = [fsum(abs(x - across) + abs(y - below) for (x, y), (across, below) in each) for each in pairs]
    longest = _LENGTHY if fsum(lengths) > _MOST else inf
    return [
        _line(picture, line, route, {"class": "lengthy" * (length > longest), **name})
        for line, route, length, name in zip(picture.lines, layout.routes, lengths, names, strict=True)
    ]


_COLOURS = {"unreached": "red", "error": "red"} | {fate.value: fate.value for fate in FATE_SIGNS}
"""The colours of what lines begin and end with, by how they look."""


def _line(picture: Picture, line: Line, route: Route, name: dict[str, str]) -> Drawn:
    points = route.points
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    # what makes a line look unlike others of its kind
    if line.is_guess:
        look = "guess"
    elif line.fate is not None:
        look = line.fate.value
    else:
        source, target = picture.boxes[line.source], picture.boxes[line.target]
        look = "unreached" if target.role is Role.MISSING or not source.is_reached else worst(line.found)
    name["class"] = _classes("line", line.stroke.value, look, name["class"])
    colour = _COLOURS.get(look, "ink")
    if line.source == line.target:
        points = ((points[0][0] - _HIDDEN, points[0][1]), *points[1:])
    # a line that merges with others is drawn from its end, so that the dashes of what they share are the same
    begin, end = ("marker-end", "marker-start") if route.merges else ("marker-start", "marker-end")
    name["d"] = path(points[::-1] if route.merges else points)
    name[end] = f"url(#{'hollow' if line.stroke is Stroke.END else 'arrow'}-{colour})"
    if line.stroke is Stroke.FORK:
        name[begin] = f"url(#fork-{colour})"
    return Frame(left, top, right - left, bottom - top), element("path", name)


def _tag(route: Route, name: Mapping[str, str], *title: Markup) -> Drawn:
    tag = route.tag
    frame, face = (tag.frame, tag.face) if tag else (Frame(0, 0, 0, 0), Face(0, 0, ()))
    plate = element("rect", {"class": "plate", "width": frame.width, "height": frame.height, "rx": 3})
    rows = [
        element("text", {"x": frame.width / 2, "y": 12 + CAPTION_ROW * index}, text(row))
        for index, row in enumerate(face.rows)
    ]
    badges = _badges(face, 3 + CAPTION_ROW * len(face.rows))
    moved = {"transform": f"translate({frame.x} {frame.y})"}
    return frame, element("g", {**name, **moved}, *title, plate, *rows, *badges)


def path(points: Sequence[Point]) -> str:
    """Return the path through the points of a route: straight along one direction, bent where both change."""
    (x, y), *left = points
    parts = [f"M{x:.1f} {y:.1f}"]
    for across, below in left:
        if x == across or y == below:
            parts.append(f"L{across:.1f} {below:.1f}")
        else:
            middle = (y + below) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {across:.1f} {middle:.1f} {across:.1f} {below:.1f}")
        x, y = across, below
    return "".join(parts)


def worst(found: Iterable[Diagnostic]) -> str:
    """Return the name of the heaviest severity among diagnostics, nothing where there are none."""
    return max((each.severity for each in found), key=lambda each: each.weight, default="")
