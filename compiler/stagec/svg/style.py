"""The styles of drawings, and the heads of their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from stagec.picture.document import FATE_SIGNS, Picture
from stagec.svg.shapes import Markup, element

_VARIABLE = re.compile(r"(--[\w-]+): ([^;]+);")
_ROOT = re.compile(r":root \{[^}]*\}\n")
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\n.*?\n\}\n", re.DOTALL)


def read_style(pictures: Iterable[Picture] = ()) -> str:
    """Return the style of drawings, with variables for colours that follow the reader's choice of light or dark.

    What has become of boxes and lines is in it if any of the drawings shows that.
    """
    from importlib.resources import files

    names = ("drawing.css", *(("fates.css",) if _are_compared(pictures) else ()))
    return "".join(files("stagec.svg").joinpath(name).read_text("utf-8") for name in names)


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
