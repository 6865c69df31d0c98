"""Places are addresses that know their members."""

from __future__ import annotations

from stagec.core.place import Part, Place, pointer_text


def test_a_member_of_a_place_is_one_key_deeper() -> None:
    assert Place("a.json") / "steps" / 0 == Place("a.json", ("steps", 0))


def test_the_key_of_a_place_is_the_same_member_s_name() -> None:
    assert (Place("a.json") / "steps").key == Place("a.json", ("steps",), Part.KEY)


def test_pointers_are_written_as_rfc_6901_says() -> None:
    assert pointer_text(()) == ""
    assert pointer_text(("a/b", "m~n", 0, "")) == "/a~1b/m~0n/0/"


def test_a_place_contains_itself_and_what_is_inside_it() -> None:
    outer = Place("a.json", ("steps",))
    assert Place("a.json", ("steps",)) in outer
    assert outer / "x" in outer
    assert outer not in outer / "x"
    assert Place("b.json", ("steps", "x")) not in outer
