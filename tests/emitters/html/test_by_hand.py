"""The page under mouse and keyboard: what is drawn can be moved, and everything can be reached without a mouse."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from orchestrated import write_orchestrator

from stagec.cli.app import run
from stagec.views.emitters import Box, Line, Picture, Role, Stroke
from stagec.views.emitters.html import EMITTER

PANEL = "document.getElementById('panel').textContent"
TOP = "document.querySelector('.stage').scrollTop"


@pytest.fixture
def page(chromium: Any, tmp_path: Path) -> Any:
    """Open the page of forty nodes in a row, one of them found by no run."""
    boxes = {f"n{at}": Box(f"n{at}", f"step {at}", Role.NODE, "work", is_reached=at != 7) for at in range(40)}
    lines = tuple(Line(one, other, Stroke.GO, ("next",)) for one, other in pairwise(boxes))
    path = tmp_path / "page.html"
    path.write_bytes(EMITTER.emit((Picture("chain", "A chain", boxes, lines),)))
    chromium.open(path)
    return chromium


def test_what_is_drawn_can_be_dragged(page: Any) -> None:
    page.mouse("mousePressed", 100, 600)
    for y in range(590, 290, -10):
        page.mouse("mouseMoved", 100, y, buttons=1)
    page.mouse("mouseReleased", 100, 300)
    page.wait_for(f"Math.abs({TOP} - 300) <= 20")


def test_the_wheel_moves_what_is_drawn(page: Any) -> None:
    page.ask("Input.dispatchMouseEvent", type="mouseWheel", x=300, y=400, deltaX=0, deltaY=240)
    page.value("new Promise(done => setTimeout(done, 500))")
    assert page.value(TOP) == 240


def test_a_box_is_chosen_with_the_keyboard(page: Any) -> None:
    page.value("document.querySelector('[data-box=\"2\"]').focus()")
    page.key("Enter")
    assert page.value(PANEL).startswith("step 2n2")


def test_a_slash_begins_a_search_and_escape_ends_it(page: Any) -> None:
    page.key("/")
    assert page.value("document.activeElement.id") == "search"
    page.write("step 39")
    assert page.value("document.querySelectorAll('#results button').length") == 1
    page.key("Escape")
    assert page.value("document.querySelectorAll('#results li').length") == 0


def test_a_click_on_a_line_says_where_it_leads(page: Any) -> None:
    page.click('.tag[data-line="0"]')
    assert page.value(PANEL) == "Line: goFromstep 0Tostep 1Whennext"


def test_what_no_run_reaches_is_listed_until_something_is_chosen(page: Any) -> None:
    assert "No run comes herestep 7" in page.value(PANEL)


def test_what_is_out_of_sight_is_not_drawn(page: Any) -> None:
    hidden = "document.querySelectorAll('.tile.off').length"
    assert page.value(hidden) > 0
    page.click('[data-zoom="fit"]')
    assert page.value(hidden) == 0


@pytest.mark.parametrize(("scheme", "ink"), [("light", "rgb(29, 36, 48)"), ("dark", "rgb(230, 233, 238)")])
def test_colours_follow_the_reader_s_choice(page: Any, scheme: str, ink: str) -> None:
    page.size(1280, 800, scheme=scheme)
    colour = page.value("getComputedStyle(document.body).color")
    page.size(1280, 800)
    assert colour == ink


def test_a_phase_leads_to_the_flow_of_its_agent(chromium: Any, tmp_path: Path) -> None:
    write_orchestrator(tmp_path)
    path = tmp_path / "page.html"
    assert run(["graph", str(tmp_path / ".agent"), "--format", "html", "-o", str(path)]) == 0
    chromium.open(path)
    flows = "JSON.parse(document.getElementById('data').textContent)"
    assert chromium.value(f"{flows}.map(flow => flow.id)") == ["builder", "reviewer", "workflow"]
    chromium.value("document.getElementById('tab-2').click()")
    at = chromium.value(f"{flows}[2].boxes.findIndex(box => box.name === 'review')")
    chromium.value(f"document.querySelector('#picture-2 [data-box=\"{at}\"]').focus()")
    chromium.key("Enter")
    chromium.click("#panel h3 + button")
    assert chromium.value("document.querySelector('[role=tab][aria-selected=true]').id") == "tab-1"
