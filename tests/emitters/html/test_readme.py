"""The picture in the README is the drawing of an example's page; if it is not there it is written, and fails once."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from stagec.emitters import Picture
from stagec.emitters.html import EMITTER

TOP = Path(__file__).parents[3]
FILE = "docs/pictures/code-review.svg"


def still(page: str, style: str) -> str:
    """Return the drawing of a page as a file of its own, with the page's colours and without what only clicks need."""
    marks = re.search(r'<svg class="marks".*?>(.*?)</svg>', page)
    drawing = re.search(r'<svg (width="[^"]*" height="[^"]*" viewBox="[^"]*") role="group" (.*?)>(.*?)</svg>', page)
    assert marks is not None
    assert drawing is not None
    size, label, drawn = drawing.groups()
    drawn = re.sub(r' (tabindex|role|data-\w+)="[^"]*"', "", drawn).replace("<g ", "\n<g ")
    paper = '<rect width="100%" height="100%" style="fill: var(--paper)"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {label}>\n<style>\n{style}</style>\n'
        f"<defs>{marks[1]}</defs>\n{paper}{drawn}\n</svg>\n"
    )


@pytest.fixture
def picture(pictures: Callable[[str], tuple[Picture, ...]]) -> str:
    """Return the drawing of the example as the page shows it."""
    style = files("stagec.emitters.html").joinpath("drawing.css").read_text("utf-8")
    return still(EMITTER.emit(pictures("code-review")).decode(), style)


def test_the_picture_is_what_the_page_shows(picture: str) -> None:
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
    assert set(re.findall(r"<(\w+)", text)) == {"svg", "style", "defs", "marker", "g", "path", "rect", "text"}
    assert re.findall(r"href|@import|https?://(?!www\.w3\.org/2000/svg)", text) == []


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 31)")])
def test_the_picture_has_a_ground_of_its_own(chromium: Any, scheme: str, paper: str) -> None:
    chromium.size(800, 800, scheme=scheme)
    chromium.open(TOP / FILE)
    ground = chromium.value("getComputedStyle(document.querySelector('rect')).fill")
    errors = chromium.value("document.querySelectorAll('parsererror').length")
    chromium.size(1280, 800)
    assert (ground, errors, chromium.complaints()) == (paper, 0, [])
