"""One HTML file that shows everything about pictures and asks nobody for anything."""

from __future__ import annotations

from stagec.core.words import visible
from stagec.views.emitters import Emitter, Picture, forms_of

_TITLE = 200


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    """Return the page: a template with the drawings, which are computed shape by shape and no text with variables."""
    from stagec.core.templates import render
    from stagec.views.emitters.html.data import data
    from stagec.views.picture.layout import lay_out
    from stagec.views.svg.drawing import svg
    from stagec.views.svg.shapes import heads, read_style
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
