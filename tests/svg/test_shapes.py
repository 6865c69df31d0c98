"""Every form and every role has an outline of its own, so that no colour is needed to tell them apart."""

from __future__ import annotations

import pytest

from stagec.views.emitters import Box, Form, Role
from stagec.views.svg.drawing import bar, outline_of, shape

FORMS = {form.value: form for form in Form}
BOXES = [Box("n", "n", Role.NODE, kind) for kind in FORMS] + [Box("n", "n", role) for role in Role]


def test_outlines_differ() -> None:
    outlines = {outline_of(box, FORMS) for box in BOXES}
    assert len(outlines) == len(Form) + len(Role) - 1  # a node without a kind is plain
    assert len({shape(outline, 100, 40) for outline in outlines}) == len(outlines)


@pytest.mark.parametrize("form", Form)
def test_the_bar_of_what_waits_for_others_is_within_the_outline(form: Form) -> None:
    assert 'class="bar"' in bar(form, 100, 40)
    assert ('width="100"' in bar(form, 100, 40)) is (form in {Form.PLAIN, Form.BARS, Form.HOUSE})
