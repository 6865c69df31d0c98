"""The picture in the README is the drawing of an example; if it is not there it is written, and fails once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stagec.views.emitters import Picture
from stagec.views.emitters.svg import EMITTER
from stagec.views.picture.draw import draw_failures

TOP = Path(__file__).parents[2]
FILE = "docs/pictures/code-review.svg"


@pytest.fixture
def picture(pictures: Callable[[str], tuple[Picture, ...]]) -> str:
    """Return the drawing of the example."""
    return EMITTER.emit(tuple(draw_failures(each, EMITTER.edges) for each in pictures("code-review"))).decode()


def test_the_picture_is_what_is_drawn(picture: str) -> None:
    path = TOP / FILE
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(picture, encoding="utf-8")
        pytest.fail(f"{FILE} was not there and is written now: look at it")
    assert path.read_text(encoding="utf-8") == picture


def test_the_readme_shows_the_picture() -> None:
    assert f"]({FILE})" in (TOP / "README.md").read_text(encoding="utf-8")


def test_the_picture_is_alone_and_has_no_script() -> None:
    text = (TOP / FILE).read_text(encoding="utf-8")
    assert set(re.findall(r"<(\w+)", text)) == {
        *("svg", "title", "desc", "style", "defs", "marker", "g", "path", "rect", "text")
    }
    assert re.findall(r"href|@import|https?://(?!www\.w3\.org/2000/svg)", text) == []


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 31)")])
def test_the_picture_has_a_ground_of_its_own(chromium: Any, scheme: str, paper: str) -> None:
    chromium.size(800, 800, scheme=scheme)
    chromium.open(TOP / FILE)
    ground = chromium.value("getComputedStyle(document.querySelector('rect')).fill")
    errors = chromium.value("document.querySelectorAll('parsererror').length")
    chromium.size(1280, 800)
    assert (ground, errors, chromium.complaints()) == (paper, 0, [])
