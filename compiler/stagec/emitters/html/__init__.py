"""One HTML file that shows everything about pictures and asks nobody for anything."""

from __future__ import annotations

from stagec.core.visible import visible
from stagec.emitters import Emitter, Picture, forms_of
from stagec.emitters.html.shapes import Markup, element, text

_TITLE = 200


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    from stagec.emitters.html.data import data
    from stagec.emitters.html.drawing import marks, svg
    from stagec.emitters.html.legend import legend
    from stagec.picture.layout import lay_out

    layouts = tuple(lay_out(picture) for picture in pictures)
    forms = forms_of(pictures)
    drawn = [svg(picture, layout, forms) for picture, layout in zip(pictures, layouts, strict=True)]
    sections = [_section(at, picture, each) for at, (picture, each) in enumerate(zip(pictures, drawn, strict=True))]
    heading = element("summary", {}, text("Legend"))
    key = element("details", {"class": "key", "open": ""}, heading, legend(pictures, forms))
    panel = element("aside", {"aria-label": "Details"}, element("div", {"id": "panel", "aria-live": "polite"}), key)
    held = element("script", {"type": "application/json", "id": "data"}, data(pictures, layouts))
    shown = (marks(), _bar(pictures), element("main", {}, *sections, panel), held)
    return _page(_name(pictures), shown).encode()


def _name(pictures: tuple[Picture, ...]) -> str:
    return visible(", ".join(picture.title[:_TITLE] for picture in pictures[:3])) or "Nothing to show"


def _bar(pictures: tuple[Picture, ...]) -> Markup:
    tabs = [
        element("button", {"role": "tab", "id": f"tab-{at}", "aria-controls": f"picture-{at}"}, text(_title(picture)))
        for at, picture in enumerate(pictures)
    ]
    search = {"type": "search", "id": "search", "placeholder": "Search: name or finding", "autocomplete": "off"}
    found = element("ul", {"id": "results", "aria-label": "What was found"})
    searching = element("div", {"class": "search"}, element("input", {**search, "aria-label": "Search"}), found)
    buttons = [
        element("button", {"data-zoom": how, "aria-label": said, "title": said}, text(shown))
        for how, said, shown in (("in", "Zoom in", "+"), ("out", "Zoom out", "\u2212"), ("fit", "Fit", "Fit"))
    ]
    zoom = element("div", {"class": "zoom", "role": "group", "aria-label": "Zoom"}, *buttons)
    return element("header", {}, element("div", {"role": "tablist"}, *tabs), searching, zoom)


def _title(picture: Picture) -> str:
    return visible(picture.title[:_TITLE])


def _section(at: int, picture: Picture, drawn: Markup) -> Markup:
    remarks = [element("p", {"class": "remark"}, text(visible(each))) for each in picture.remarks]
    keys = "Arrow keys move, plus and minus zoom, 0 fits, / searches"
    stage = {"class": "stage", "tabindex": "0", "role": "region", "aria-label": keys}
    size = element("div", {"class": "sizer"}, drawn)
    tab = {"role": "tabpanel", "class": "picture", "id": f"picture-{at}", "aria-labelledby": f"tab-{at}"}
    return element("section", tab, *remarks, element("div", stage, size))


def _page(title: str, shown: tuple[Markup, ...]) -> str:
    from importlib.resources import files

    names = "drawing.css", "page.css", "page.js"
    drawing, page, script = (files(__name__).joinpath(name).read_text("utf-8") for name in names)
    style = drawing + page
    policy = f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:"
    head = element(
        "head",
        {},
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": f"{policy}; {_REFUSED}"}),
        element("meta", {"name": "viewport", "content": "width=device-width"}),
        element("link", {"rel": "icon", "href": "data:,"}),
        element("title", {}, text(title)),
        Markup(f"<style>{style}</style>"),
    )
    body = element("body", {}, *shown, Markup(f"<script>{script}</script>"))
    return f"<!DOCTYPE html>\n{element('html', {'lang': 'en'}, head, body)}\n"


_REFUSED = "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"


def _digest(given: str) -> str:
    from base64 import b64encode
    from hashlib import sha256

    return f"'sha256-{b64encode(sha256(given.encode()).digest()).decode()}'"


EMITTER = Emitter("html", ".html", is_text=True, emit=_emit)
