"""Colours can be read on light and on dark ground, and forms of kinds have the same ones in every format."""

from __future__ import annotations

import pytest
from colours import contrast

from stagec.views.picture.document import INK, TINTS, Form
from stagec.views.svg.drawing import read_colours, read_style

LIGHT, DARK = read_colours(read_style())
FILLS = [name.removesuffix("-fill") for name in LIGHT if name.endswith("-fill")]
TEXT, EDGE = 4.5, 3.0
"""The contrast that readers of poor sight need for text, and for what is no text."""


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", FILLS)
def test_every_area_lets_its_text_and_its_border_be_seen(colours: dict[str, str], name: str) -> None:
    assert contrast(colours["--ink"], colours[f"{name}-fill"]) >= TEXT
    edge = colours.get(name, colours["--soft"])
    assert contrast(edge, colours["--paper"]) >= EDGE
    assert contrast(edge, colours[f"{name}-fill"]) >= EDGE


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_small_text_can_be_read_on_everything_it_stands_on(colours: dict[str, str]) -> None:
    forms = [f"--{form.value.replace(' ', '-')}-fill" for form in Form if form is not Form.PLAIN]
    for ground in ("--paper", "--ground", "--node", *forms):
        assert contrast(colours["--soft"], colours[ground]) >= TEXT, ground
    assert contrast(colours["--red"], colours["--red-fill"]) >= TEXT
    assert contrast(colours["--paper"], colours["--red"]) >= TEXT


@pytest.mark.parametrize("form", [form for form in Form if form is not Form.PLAIN])
def test_a_form_has_the_colours_of_the_palette(form: Form) -> None:
    name = f"--{form.value.replace(' ', '-')}"
    assert (LIGHT[f"{name}-fill"], LIGHT[name]) == TINTS[form]
    assert contrast(INK, TINTS[form].fill) >= TEXT


def test_areas_have_a_style_where_there_may_be_some() -> None:
    assert ".area rect" in read_style()  # the page of runs, and the handbook
    assert ".area rect" not in read_style(())
