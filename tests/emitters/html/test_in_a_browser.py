"""The page in a real browser: it asks nobody for anything, and shows, finds and enlarges what it is asked to."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stagec.views.emitters import Box, Line, Picture, Role, Stroke
from stagec.views.emitters.html import EMITTER


@pytest.fixture
def chain() -> Picture:
    """Make a picture of forty nodes in a row, each with a definition."""
    names = [f"step-{number}" for number in range(40)]
    boxes = {name: Box(name, name, Role.NODE, "work", details={"definition": {"id": name}}) for name in names}
    lines = [Line(one, other, Stroke.GO, ("next",)) for one, other in pairwise(names)]
    return Picture("chain", "chain", boxes, tuple(lines))


def shown(chromium: Any, folder: Path, *pictures: Picture) -> Any:
    page = folder / "page.html"
    page.write_bytes(EMITTER.emit(pictures))
    chromium.open(page)
    return chromium


def test_a_page_is_quiet_and_alone(chromium: Any, tmp_path: Path, every: Picture, chain: Picture) -> None:
    shown(chromium, tmp_path, every, chain)
    assert (chromium.requests(), chromium.complaints()) == ([], [])


def test_names_that_nobody_should_have_run_nothing(chromium: Any, tmp_path: Path, hostile: Picture) -> None:
    shown(chromium, tmp_path, hostile)
    assert (chromium.requests(), chromium.complaints()) == ([], [])


def test_a_click_on_a_box_shows_what_is_known_of_it(chromium: Any, tmp_path: Path, chain: Picture) -> None:
    shown(chromium, tmp_path, chain).click('[data-box="0"]')
    panel = chromium.value("document.getElementById('panel').textContent")
    assert "step-0" in panel
    assert "definition" in panel.lower()


def test_a_search_finds_a_box_and_goes_there(chromium: Any, tmp_path: Path, chain: Picture) -> None:
    shown(chromium, tmp_path, chain).click("#search")
    chromium.write("step-39")
    assert "step-39" in chromium.value("document.getElementById('results').textContent")
    chromium.key("Enter")
    assert "step-39" in chromium.value("document.getElementById('panel').textContent")
    seen = "(() => { const r = document.querySelector('[data-box=\"39\"]').getBoundingClientRect();"
    assert chromium.value(f"{seen} return r.top >= 0 && r.bottom <= innerHeight }})()")


def test_the_buttons_enlarge_and_fit(chromium: Any, tmp_path: Path, chain: Picture) -> None:
    width = "document.querySelector('[data-box=\"0\"]').getBoundingClientRect().width"
    shown(chromium, tmp_path, chain).click('[data-zoom="fit"]')
    fitted = chromium.value(width)
    chromium.click('[data-zoom="in"]')
    assert chromium.value(width) > fitted
    chromium.click('[data-zoom="fit"]')
    assert chromium.value(width) == pytest.approx(fitted)


def test_tabs_show_one_picture_at_a_time(chromium: Any, tmp_path: Path, every: Picture, chain: Picture) -> None:
    shown(chromium, tmp_path, every, chain).click("#tab-1")
    visible = "[...document.querySelectorAll('.picture')].map(each => each.offsetParent !== null)"
    assert chromium.value(visible) == [False, True]


def test_on_paper_the_whole_drawing_is_there_however_it_is_seen(chromium: Any, tmp_path: Path) -> None:
    boxes = {f"n{at}": Box(f"n{at}", f"n{at}", Role.NODE) for at in range(200)}
    lines = tuple(Line(f"n{at}", f"n{at + 1}", Stroke.GO, ("next",)) for at in range(199))
    shown(chromium, tmp_path, Picture("p", "p", boxes, lines))
    parts = "document.querySelectorAll('.stage .box, .stage .box text, .stage .tag')"
    drawn = f"[...{parts}].filter(each => each.getClientRects().length > 0).length"
    hide = "document.querySelectorAll('.stage .tile').forEach(each => each.classList.add('off'))"
    leave = "document.querySelector('.sizer > svg').classList.add('far')"
    on_screen = chromium.value(f"({hide}, {leave}, {drawn})")  # at once: the page shows what is near again
    chromium.size(700, 1000, media="print")
    on_paper = chromium.value(drawn)
    wide = chromium.value("[document.querySelector('.sizer > svg').getBoundingClientRect().width, innerWidth]")
    chromium.size(1280, 800)
    assert on_screen == 0
    assert on_paper == chromium.value(f"{parts}.length")
    assert wide[0] <= wide[1]
