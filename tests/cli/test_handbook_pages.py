"""Pages of the handbook in a browser: on a phone, on paper, and for people who use keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser

from stagec.cli.app import run

REGISTRIES = Path(__file__).parents[2] / "registries"
PAGES = ("index.html", "flow-code-review.html", "flow-project-lead.html", "flow-wine-quality.html")


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("handbook")
    assert run(["handbook", str(REGISTRIES), "-o", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_cut_off_on_a_phone_and_the_content_begins_on_it(
    page: str, handbook: Path, chromium: Browser
) -> None:
    chromium.size(390, 700)
    chromium.open(handbook / page)
    assert chromium.value("document.documentElement.scrollWidth") <= 390
    assert chromium.value("document.querySelector('h1').getBoundingClientRect().bottom") < 350
    assert (chromium.requests(), chromium.complaints()) == ([], [])


def test_paper_shows_what_is_folded_and_nothing_for_the_hand(handbook: Path, chromium: Browser) -> None:
    chromium.size(800, 1100, media="print")
    chromium.open(handbook / "flow-code-review.html")
    hidden = "[...document.querySelectorAll('details pre')].filter(each => !each.checkVisibility())"
    assert chromium.value(f"{hidden}.length") == 0
    assert chromium.value("document.querySelectorAll('details pre').length") >= 10
    assert chromium.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    chromium.size(800, 1100)
    assert chromium.value(f"{hidden}.length") >= 10


def test_keys_skip_the_list_of_pages_and_follow_steps_in_the_picture(handbook: Path, chromium: Browser) -> None:
    chromium.size(1280, 800)
    chromium.open(handbook / "flow-code-review.html")
    chromium.key("Tab")
    assert chromium.value("document.activeElement.textContent") == "Skip to the content"
    assert chromium.value("document.activeElement.getBoundingClientRect().left") >= 0
    chromium.key("Enter")
    for _ in range(2):
        chromium.key("Tab")
    assert chromium.value("document.activeElement.getAttribute('aria-label')") == "plan"
    chromium.key("Enter")
    assert chromium.value("document.querySelector(':target h3').textContent").startswith("plan")
