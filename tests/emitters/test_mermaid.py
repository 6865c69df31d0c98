"""Mermaid itself draws what is written for it: every box and line, every text as it is, on light and dark pages.

`STAGEC_MERMAID` names `mermaid.min.js` of the package of npm.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from emitters.conftest import HOSTILE

from stagec.core.words import visible
from stagec.views.emitters import Box, Line, Picture, Role, Stroke
from stagec.views.emitters.mermaid import EMITTER

FILE = "STAGEC_MERMAID"
NAMES = {
    **HOSTILE,
    "list": "1. one",
    "bullets": "- one * two + three",
    "heading": "# one ## two",
    "icon": "fa:fa-car and fab:fa-git at fafa:fa-x",
    "formula": "$$x^2$$",
    "code": "`code` and ~~~ **bold** _it_",
    "link": "[one](http://example.org) javascript:alert(1) http://example.org/",
    "entities": "#35; &amp; #lt; #quot;",
    "letters": "\u05e9\u05dc\u05d5\u05dd \u65e5\u672c\u8a9e\u306e\u3068\u3066\u3082\u9577\u3044 e\u0301",
    "arrows": "a --> b ==> c :::class |x| %% comment",
    "note": "p0note[x]:::is-note",
}
_DRAW = """(async () => {
  mermaid.initialize({startOnLoad: false, securityLevel: "strict", theme: %s});
  const {svg} = await mermaid.render("drawn", %s);
  document.body.innerHTML = svg;
  const said = (selector) => [...document.querySelectorAll(selector)].map((each) => each.innerText ?? each.textContent);
  const look = (each) => getComputedStyle(each.querySelector("rect,polygon,path,circle")).fill;
  return {boxes: said("g.node"), lines: document.querySelectorAll(".edgePaths path").length,
    titles: said(".cluster-label"), labels: said(".edgeLabels .label"),
    looks: [...document.querySelectorAll("g.node")].map(look)};
})()"""


@pytest.fixture(scope="module")
def drawer(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Iterator[Callable[..., Any]]:
    """Return what lets Mermaid draw pictures, and tells what is to be read then."""
    script = os.environ.get(FILE)
    if script is None:
        pytest.skip(f"no Mermaid: set {FILE}")
    page = tmp_path_factory.mktemp("mermaid") / "page.html"
    head = f'<!DOCTYPE html><meta charset="utf-8"><script src="{Path(script).as_uri()}"></script><body>'
    page.write_text(head, encoding="utf-8")
    chromium.open(page)

    def draw(*pictures: Picture, theme: str = "default") -> Any:
        text = EMITTER.emit(pictures).decode()
        return chromium.value(_DRAW % (json.dumps(theme), json.dumps(text)))

    yield draw
    assert chromium.complaints() == []


def squeeze(text: str) -> str:
    """Return a text without blanks, of which Mermaid and the rows of a box have others."""
    return re.sub(r"[\s\u200b]+", "", text)


@pytest.mark.parametrize("name", NAMES)
def test_whatever_things_are_called_it_is_read_as_it_is(name: str, drawer: Callable[..., Any]) -> None:
    text = NAMES[name]
    boxes = {role.value: Box(role.value, text, role) for role in Role}
    drawn = drawer(Picture("p", text, boxes, (Line("node", "group", Stroke.GO, (text,)),)))
    shown = squeeze(visible(text[:400])) + (f"…({len(text):,}characters)" if len(text) > 400 else "") or "(empty)"
    rows = [squeeze(each) for each in drawn["boxes"]]
    assert sum(shown in each for each in rows) >= len(Role), rows
    assert (drawn["lines"], [squeeze(each) for each in drawn["labels"]]) == (1, [shown])
    assert [squeeze(each) for each in drawn["titles"]] in ([shown], [""])


@pytest.mark.parametrize("theme", ["default", "dark"])
def test_every_box_and_line_is_drawn_in_its_colours(every: Picture, theme: str, drawer: Callable[..., Any]) -> None:
    drawn = drawer(every, every, theme=theme)
    assert len(drawn["boxes"]) == 2 * (len(every.boxes) + 1)
    assert drawn["lines"] == 2 * len(every.lines)
    assert {"rgb(219, 234, 254)", "rgb(237, 233, 254)", "rgb(254, 226, 226)"} <= set(drawn["looks"])


def test_lines_of_any_manner_are_drawn(drawer: Callable[..., Any]) -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in "abc"}
    lines = [Line("a", "a", Stroke.GO, ("again",)), *(Line("a", "b", stroke) for stroke in Stroke)]
    drawn = drawer(Picture("p", "p", boxes, tuple(lines)))
    assert (len(drawn["boxes"]), drawn["lines"] >= len(lines)) == (3, True)
    assert drawer(Picture("p", "p", {}, ()))["lines"] == 0


def test_the_limits_are_those_of_mermaid(drawer: Callable[..., Any], chromium: Any) -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in "ab"}
    assert [limit.most for limit in EMITTER.limits] == [500, 50_000]
    assert chromium.value("mermaid.mermaidAPI.defaultConfig.maxTextSize") == 50_000
    for count, told in ((500, "read"), (501, "Error: Edge limit exceeded")):
        picture = Picture("p", "p", boxes, tuple(Line("a", "b", Stroke.GO) for _ in range(count)))
        text = json.dumps(EMITTER.emit((picture,)).decode())
        assert chromium.value(f"mermaid.parse({text}).then(() => 'read', String)").startswith(told)
