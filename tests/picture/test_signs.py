"""A kind has the same form wherever it occurs."""

from __future__ import annotations

from stagec.views.picture.document import Box, Form, Picture, Role, forms_of


def picture_of(*kinds: str | None) -> Picture:
    return Picture("p", "p", {str(at): Box(str(at), "n", Role.NODE, kind) for at, kind in enumerate(kinds)}, ())


def test_known_kinds_have_forms_of_their_own() -> None:
    assert forms_of([picture_of("closure", None, "work", "verification")]) == {
        "work": Form.ROUNDED,
        "verification": Form.HEXAGON,
        "closure": Form.DOUBLE_OCTAGON,
    }


def test_the_order_in_which_kinds_come_changes_nothing() -> None:
    forward = forms_of([picture_of("zeta", "work"), picture_of("alpha")])
    backward = forms_of([picture_of("alpha"), picture_of("work", "zeta")])
    assert list(forward.items()) == list(backward.items())
    assert forward == {"work": Form.ROUNDED, "alpha": Form.SLANTED, "zeta": Form.BARS}


def test_more_kinds_than_forms_share_them() -> None:
    assert [form for _, form in forms_of([picture_of(*"abcd")]).items()] == [
        Form.SLANTED,
        Form.BARS,
        Form.HOUSE,
        Form.SLANTED,
    ]


def test_what_is_no_node_has_no_form() -> None:
    group = Box("g", "g", Role.GROUP, "work")
    assert forms_of([Picture("p", "p", {"g": group}, ())]) == {}
