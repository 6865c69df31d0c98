"""A picture as inline SVG: lines, labels and boxes, in tiles that can be left out while nobody sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import fsum, inf

from stagec.core.diagnostic import Diagnostic
from stagec.core.words import visible
from stagec.emitters import Box, Form, Line, Picture, Role, Stroke
from stagec.emitters.html.shapes import Markup, bar, element, outline_of, shape, text
from stagec.picture.layout import Face, Frame, Layout, Point, Route
from stagec.picture.layout.lettering import BADGE_ROW, BAR, CAPTION_ROW, ROW, badge_width

_TILE = 1_500
_MOST, _LENGTHY = 1_000_000.0, 4_000.0
"""Where all lines together are longer than the first, those longer than the second are not dashed: browsers need
seconds for that."""
_SAID = 200
"""Characters of a name that are read out."""

_HIDDEN = 12.0
"""How far behind its box a line to the same box begins: not every shape reaches the border of its frame."""

Drawn = tuple[Frame, Markup]


def svg(picture: Picture, layout: Layout, forms: Mapping[str, Form]) -> Markup:
    """Return the drawing of a picture."""
    boxes = [
        _box(at, box, layout.frames[name], layout.faces[name], outline_of(box, forms))
        for at, (name, box) in enumerate(picture.boxes.items())
    ]
    lengths = [_length(route.points) for route in layout.routes]
    longest = _LENGTHY if fsum(lengths) > _MOST else inf
    lines = [_line(at, picture, route, "lengthy" * (lengths[at] > longest)) for at, route in enumerate(layout.routes)]
    tags = [_tag(at, picture.lines[at], route) for at, route in enumerate(layout.routes) if route.tag]
    layers = (("lines", lines), ("tags", tags), ("boxes", boxes))
    size: dict[str, str | float] = {"width": layout.width, "height": layout.height}
    size["viewBox"] = f"0 0 {layout.width} {layout.height}"
    label = {"role": "group", "aria-label": visible(picture.title[:_SAID])}
    return element("svg", {**size, **label}, *(element("g", {"class": name}, *_tiles(each)) for name, each in layers))


def _tiles(drawn: Iterable[Drawn]) -> Iterable[Markup]:
    """Return what lies near each other in groups that tell where they are."""
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


def _box(at: int, box: Box, frame: Frame, face: Face, outline: str) -> Drawn:
    classes = _classes("box", box.role.value, "" if box.is_reached else "unreached", worst(box.found))
    said = " ".join([visible(box.name[:_SAID]), face.caption, *(badge.text for badge in face.badges)])
    name = {"class": classes, "data-box": str(at)}
    access = {"tabindex": "0", "role": "button", "aria-label": said}
    moved = {"transform": f"translate({frame.x} {frame.y})"}
    size = frame.width, frame.height
    parts = [shape(outline, *size), *([bar(outline, *size)] if box.is_join else []), *_rows(face, box)]
    return frame, element("g", {**name, **access, **moved}, *parts)


def _rows(face: Face, box: Box) -> Iterable[Markup]:
    y, middle = 8 + BAR * box.is_join, face.width / 2
    for row in face.rows:
        yield element("text", {"x": middle, "y": y + 12}, text(row))
        y += ROW
    if face.caption:
        yield element("text", {"class": "caption", "x": middle, "y": y + 10}, text(face.caption))
        y += CAPTION_ROW
    yield from _badges(face, y + 2)


def _badges(face: Face, y: float) -> Iterable[Markup]:
    for badge in face.badges:
        width = badge_width(badge)
        x = (face.width - width) / 2
        plate = element("rect", {"x": x, "y": y, "width": width, "height": BADGE_ROW - 3, "rx": 3})
        label = element("text", {"x": x + width / 2, "y": y + 11.5}, text(badge.text))
        yield element("g", {"class": _classes("badge", badge.severity or "")}, plate, label)
        y += BADGE_ROW


def _classes(*names: str) -> str:
    return " ".join(filter(None, names))


def _line(at: int, picture: Picture, route: Route, lengthy: str) -> Drawn:
    line, reach = picture.lines[at], _reach(route.points)
    look = _look(line, picture)
    name = {"class": _classes("line", line.stroke.value, look, lengthy), "data-line": str(at)}
    colour = "red" if look in {"unreached", "error"} else "ink"
    points = route.points
    if line.source == line.target:
        points = ((points[0][0] - _HIDDEN, points[0][1]), *points[1:])
    return reach, element(
        "path", {**name, "d": path(points[::-1] if route.merges else points), **_ends(line, route, colour)}
    )


def _ends(line: Line, route: Route, colour: str) -> dict[str, str]:
    """Return the head and the tail of a line.

    A line that merges with others is drawn from its end, so that the dashes of what they share are the same.
    """
    source, target = ("marker-end", "marker-start") if route.merges else ("marker-start", "marker-end")
    ends = {target: f"url(#{'hollow' if line.stroke is Stroke.END else 'arrow'}-{colour})"}
    if line.stroke is Stroke.FORK:
        ends[source] = f"url(#fork-{colour})"
    return ends


def _look(line: Line, picture: Picture) -> str:
    """Return what makes a line look unlike others of its kind."""
    if line.is_guess:
        return "guess"
    source, target = picture.boxes[line.source], picture.boxes[line.target]
    return "unreached" if target.role is Role.MISSING or not source.is_reached else worst(line.found)


def _tag(at: int, line: Line, route: Route) -> Drawn:
    tag = route.tag
    frame, face = (tag.frame, tag.face) if tag else (Frame(0, 0, 0, 0), Face(0, 0, ()))
    name = {"class": _classes("tag", worst(line.found)), "data-line": str(at)}
    plate = element("rect", {"class": "plate", "width": frame.width, "height": frame.height, "rx": 3})
    rows = [
        element("text", {"x": frame.width / 2, "y": 12 + CAPTION_ROW * index}, text(row))
        for index, row in enumerate(face.rows)
    ]
    badges = _badges(face, 3 + CAPTION_ROW * len(face.rows))
    return frame, element("g", {**name, "transform": f"translate({frame.x} {frame.y})"}, plate, *rows, *badges)


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


def _reach(points: Sequence[Point]) -> Frame:
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    return Frame(left, top, right - left, bottom - top)


def _length(points: Sequence[Point]) -> float:
    return fsum(abs(x - across) + abs(y - below) for (x, y), (across, below) in pairwise(points))
