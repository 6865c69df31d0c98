"""One HTML file that shows everything about pictures and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from stagec.core.diagnostic import Diagnostic
from stagec.core.place import pointer_text
from stagec.core.words import visible
from stagec.views.emitters import Box, Emitter, Line, Picture, describe_change, describe_labels, forms_of
from stagec.views.picture.layout import Frame, Layout
from stagec.views.svg.drawing import Markup

_TITLE = 200


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    """Return the page: a template with the drawings, which are computed shape by shape and no text with variables."""
    from stagec.core.templates import render
    from stagec.views.picture.layout import lay_out
    from stagec.views.svg.drawing import heads, read_style, svg
    from stagec.views.svg.sheet import legend

    layouts = tuple(lay_out(picture) for picture in pictures)
    forms = forms_of(pictures)
    drawings = [svg(picture, layout, forms) for picture, layout in zip(pictures, layouts, strict=True)]
    style, script = read_style(pictures) + _read("page.css"), _read("page.js")
    page = render(
        __name__,
        "page.html.jinja",
        title=", ".join(map(_title, pictures[:3])) or "Nothing to show",
        sections=[_section(picture, drawing) for picture, drawing in zip(pictures, drawings, strict=True)],
        legend=tuple(legend(pictures, forms)),
        heads=heads(pictures),
        data=data(pictures, layouts),
        style=style,
        style_digest=_digest(style),
        script=script,
        script_digest=_digest(script),
    )
    return page.encode()


def _section(picture: Picture, drawing: str) -> dict[str, object]:
    return {"title": _title(picture), "remarks": tuple(map(visible, picture.remarks)), "drawing": drawing}


def _title(picture: Picture) -> str:
    return visible(picture.title[:_TITLE])


def _read(name: str) -> str:
    from importlib.resources import files

    return files(__name__).joinpath(name).read_text("utf-8")


def _digest(given: str) -> str:
    from base64 import b64encode
    from hashlib import sha256

    return f"sha256-{b64encode(sha256(given.encode()).digest()).decode()}"


EMITTER = Emitter("html", ".html", is_text=True, emit=_emit)


_READ = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def data(pictures: tuple[Picture, ...], layouts: tuple[Layout, ...]) -> Markup:
    """Return everything about pictures as JSON in ASCII, without a character that means something in HTML."""
    from json import dumps

    told = [_picture(picture, layout, pictures) for picture, layout in zip(pictures, layouts, strict=True)]
    try:
        written = dumps(
            told,
            allow_nan=False,
            default=lambda each: dict(each) if isinstance(each, Mapping) else str(each),
            separators=(",", ":"),
        )
    except ValueError:  # YAML has numbers that JSON has not
        written = dumps(_finite(told), allow_nan=False, separators=(",", ":"))
    return Markup(written.translate(_READ))


def _picture(picture: Picture, layout: Layout, pictures: tuple[Picture, ...]) -> dict[str, Any]:
    number = {name: at for at, name in enumerate(picture.boxes)}
    return {
        "id": picture.id,
        "title": picture.title,
        "remarks": picture.remarks,
        "found": [_describe(each) for each in picture.found],
        "boxes": [_box(box, layout.frames[name], pictures) for name, box in picture.boxes.items()],
        "lines": [_line(line, number) for line in picture.lines],
        **describe_change(picture),
    }


def _box(box: Box, frame: Frame, pictures: tuple[Picture, ...]) -> dict[str, Any]:
    ids = [picture.id for picture in pictures] if box.opens is not None else []
    inside = {"opens": ids.index(box.opens)} if box.opens in ids else {}
    return {
        **inside,
        "id": box.id,
        "name": box.name,
        "role": box.role.value,
        "kind": box.kind,
        "reached": box.is_reached,
        "join": box.is_join,
        "members": box.members,
        "notes": box.notes,
        "found": [_describe(each) for each in box.found],
        **describe_change(box),
        "details": box.details,
        "frame": (frame.x, frame.y, frame.width, frame.height),
    }


def _line(line: Line, number: Mapping[str, int]) -> dict[str, Any]:
    return {
        "source": number[line.source],
        "target": number[line.target],
        "stroke": line.stroke.value,
        "labels": line.labels,
        **({"shown": describe_labels(line), **describe_change(line)} if line.fate else {}),
        "guess": line.is_guess,
        "found": [_describe(each) for each in line.found],
    }


def _describe(each: Diagnostic) -> dict[str, Any]:
    start = each.span.start
    return {
        "code": each.code,
        "name": each.name,
        "severity": each.severity.value,
        "message": each.message,
        "place": f"{each.at.file}:{start.line}:{start.column}",
        "pointer": pointer_text(each.at.pointer),
        "related": [f"{also.at.file}:{also.span.start.line}: {also.message}" for also in each.related],
        "help": each.help,
        "url": each.url if (each.url or "").startswith(("https://", "http://")) else "",
    }


def _finite(given: Any) -> Any:
    """Return a value in which numbers without an end are texts."""
    if isinstance(given, Mapping):
        return {str(key): _finite(each) for key, each in given.items()}
    if isinstance(given, list | tuple):
        return [_finite(each) for each in given]
    return str(given) if isinstance(given, float) and not isfinite(given) else given
