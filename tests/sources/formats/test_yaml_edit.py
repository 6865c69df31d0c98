"""Edits change what they name and nothing else."""

from __future__ import annotations

import pytest

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.core.place import Place, Pointer
from stagec.sources.formats.yaml import FORMAT

TEXT = """\
# the steps
name: demo   # keep me
steps:
  # first
  - id: one
    next: two  # here
  - id: two
tags: [a, b, c]
gate: {kind: x}
note: |
  long
  text
empty:
"""


def edit(change: Change, pointer: Pointer, value: Json = None) -> Edit:
    return Edit(change, Place("f", pointer), value)


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (edit(Change.REPLACE, ("name",), "a: b"), "name: demo   #", 'name: "a: b"   #'),
        (edit(Change.REPLACE, ("steps", 0, "next"), "three"), "next: two  #", "next: three  #"),
        (edit(Change.REPLACE, ("tags", 1), 7), "[a, b, c]", "[a, 7, c]"),
        (edit(Change.REPLACE, ("empty",), []), "empty:\n", "empty: []\n"),
        (edit(Change.REPLACE, ("note",), "yes"), "note: |\n  long\n  text\n", "note: yes\n"),
        (edit(Change.REPLACE, ("note",), "true"), "note: |\n  long\n  text\n", 'note: "true"\n'),
        (edit(Change.RENAME, ("steps", 1, "id"), "stepId"), "- id: two", "- stepId: two"),
        (edit(Change.REMOVE, ("name",)), "name: demo   # keep me\n", ""),
        (edit(Change.REMOVE, ("steps", 0, "next")), "    next: two  # here\n", ""),
        (edit(Change.REMOVE, ("steps", 0, "id")), "- id: one\n    next", "- next"),
        (edit(Change.REMOVE, ("steps", 1)), "  - id: two\n", ""),
        (edit(Change.REMOVE, ("steps", 1, "id")), "- id: two", "- {}"),
        (edit(Change.REMOVE, ("tags", 0)), "[a, b, c]", "[b, c]"),
        (edit(Change.REMOVE, ("tags", 2)), "[a, b, c]", "[a, b]"),
        (edit(Change.REMOVE, ("gate", "kind")), "{kind: x}", "{}"),
        (edit(Change.INSERT, ("gate", "to"), "y"), "{kind: x}", "{kind: x, to: y}"),
        (edit(Change.INSERT, ("steps", 1, "next"), None), "- id: two\n", "- id: two\n    next: null\n"),
        (edit(Change.INSERT, ("steps", 1), {"id": "x"}), "  - id: two", '  - {"id": "x"}\n  - id: two'),
        (edit(Change.INSERT, ("steps", 2), "end"), "- id: two\n", "- id: two\n  - end\n"),
        (edit(Change.INSERT, ("tags", 1), "z"), "[a, b, c]", "[a, z, b, c]"),
        (edit(Change.INSERT, ("tags", 3), "z"), "[a, b, c]", "[a, b, c, z]"),
        (edit(Change.INSERT, ("last",), 1), "empty:\n", "empty:\nlast: 1\n"),
    ],
)
def test_one_edit_changes_one_thing(change: Edit, old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    assert FORMAT.apply(TEXT, [change]) == TEXT.replace(old, new)


def test_edits_name_members_of_the_text_as_given() -> None:
    edits = [edit(Change.REMOVE, ("tags", 0)), edit(Change.REMOVE, ("tags", 1)), edit(Change.REPLACE, ("tags", 2), "z")]
    assert FORMAT.apply(TEXT, edits) == TEXT.replace("[a, b, c]", "[z]")


def test_taking_every_member_away_leaves_an_empty_mapping() -> None:
    edits = [edit(Change.REMOVE, ("a", "b")), edit(Change.REMOVE, ("a", "c"))]
    assert FORMAT.apply("a:\n  b: 1\n  c: 2\nd: 3\n", edits) == "a: {}\nd: 3\n"


def test_line_breaks_are_those_of_the_text() -> None:
    assert FORMAT.apply("a: 1\r\nb: 2\r\n", [edit(Change.INSERT, ("c",), 3)]) == "a: 1\r\nb: 2\r\nc: 3\r\n"


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("a: [", edit(Change.REPLACE, ("a",), 1)),
        ("a: 1", edit(Change.REPLACE, ("b",), 1)),
        ("a: &x 1\nb: *x", edit(Change.REPLACE, ("a",), 1)),
        ("a: &x {c: 1}\nb: *x", edit(Change.REPLACE, ("b", "c"), 1)),
        ("a: &x {c: 1}\nb: *x", edit(Change.REMOVE, ("a", "c"))),
        ("a: 1", edit(Change.INSERT, ("a",), 1)),
        ("a: 1", edit(Change.INSERT, ("a", "b"), 1)),
        ("- 1", edit(Change.RENAME, (0,), "x")),
        ("a: 1", edit(Change.REMOVE, ())),
    ],
)
def test_what_cannot_be_done_safely_is_refused(text: str, change: Edit) -> None:
    with pytest.raises(ValueError, match=r"."):
        FORMAT.apply(text, [change])
