"""Edits of several fixes are made together unless they touch each other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from hypothesis import given
from hypothesis import strategies as st

from stagec.check.fixes import choose_fixes, list_edits, make_edits
from stagec.core.diagnostic import Change, Diagnostic, Edit, Fix, Severity
from stagec.core.place import START, Place, Pointer
from stagec.core.value import value
from stagec.sources.formats.plain import FORMAT as PLAIN
from stagec.sources.tree import Fault, Format, Tree


def written(edit: Edit) -> str:
    return f"{edit.change} /{'/'.join(str(key) for key in edit.at.pointer)} {json.dumps(edit.value)}\n"


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Write down what was asked for."""
    return text + "".join(written(edit) for edit in edits)


@value
class Made:
    """The bytes of every file that changes, before and after, and how many fixes were made."""

    files: Mapping[str, tuple[bytes, bytes]]
    fixes: int


def make(diagnostics: Iterable[Diagnostic], trees: Mapping[str, Tree]) -> Made:
    chosen = choose_fixes(diagnostics, trees)
    return Made(make_edits(list_edits(chosen), trees), len(chosen))


FAKE = Format("fake", (".fake",), PLAIN.parse, PLAIN.locate, apply)
TREES = {file: Tree(file, "file", FAKE, b"old\n") for file in ("a.fake", "b.fake")}


def replacing(*pointer: str | int, file: str = "a.fake", new: str = "new") -> Edit:
    return Edit(Change.REPLACE, Place(file, pointer), new)


def diagnostic(*edits: Edit) -> Diagnostic:
    fix = Fix("mend it", edits) if edits else None
    return Diagnostic("STG999", "x", Severity.ERROR, (), Place("a.fake"), START, "wrong", (), 0, fix, "")


def after(*edits: Edit) -> bytes:
    return ("old\n" + "".join(written(edit) for edit in edits)).encode()


def test_edits_at_different_places_are_made_together() -> None:
    one, other = replacing("x", 0), replacing("x", 1)
    mended = make([diagnostic(one), diagnostic(other)], TREES)
    assert mended == Made({"a.fake": (b"old\n", after(one, other))}, 2)


def test_a_fix_may_change_several_files() -> None:
    one, other = replacing("x"), replacing("x", file="b.fake")
    mended = make([diagnostic(one, other)], TREES)
    assert mended == Made({"a.fake": (b"old\n", after(one)), "b.fake": (b"old\n", after(other))}, 1)


def test_the_first_fix_of_a_place_wins() -> None:
    one, other = replacing("x"), replacing("x", new="other")
    assert make([diagnostic(one), diagnostic(other)], TREES) == Made({"a.fake": (b"old\n", after(one))}, 1)


def test_a_fix_inside_another_waits() -> None:
    outer, inner = replacing("x"), replacing("x", "y")
    assert make([diagnostic(outer), diagnostic(inner)], TREES).fixes == 1


def test_a_fix_around_another_waits() -> None:
    outer, inner = replacing("x"), replacing("x", "y")
    assert make([diagnostic(inner), diagnostic(outer)], TREES).files == {"a.fake": (b"old\n", after(inner))}


def test_a_fix_is_made_whole_or_not_at_all() -> None:
    one, other = replacing("x"), replacing("z")
    assert make([diagnostic(one), diagnostic(replacing("x", "y"), other)], TREES).files == {
        "a.fake": (b"old\n", after(one))
    }


def test_two_members_do_not_get_the_same_name() -> None:
    one, other = (Edit(Change.RENAME, Place("a.fake", ("x", key)), "same") for key in ("y", "z"))
    assert make([diagnostic(one), diagnostic(other)], TREES) == Made({"a.fake": (b"old\n", after(one))}, 1)


def test_the_same_fix_for_two_findings_is_made_once() -> None:
    edit = replacing("x")
    assert make([diagnostic(edit), diagnostic(edit)], TREES) == Made({"a.fake": (b"old\n", after(edit))}, 2)


def test_a_finding_without_fix_changes_nothing() -> None:
    assert make([diagnostic()], TREES) == Made({}, 0)


def test_a_fix_that_changes_nothing_changes_no_file() -> None:
    trees = {"a.fake": Tree("a.fake", "file", PLAIN, b"old\n")}
    assert make([diagnostic(replacing("x"))], trees).files == {}


def test_a_fix_of_a_file_that_was_not_read_is_left_out() -> None:
    assert make([diagnostic(replacing("x", file="c.fake"))], TREES) == Made({}, 0)


def test_a_byte_order_mark_stays() -> None:
    marked = Tree("a.fake", "file", FAKE, b"old\n", faults=(Fault("byte-order-mark", Place("a.fake")),))
    edit = replacing("x")
    assert make([diagnostic(edit)], {"a.fake": marked}).files == {
        "a.fake": (b"\xef\xbb\xbfold\n", b"\xef\xbb\xbf" + after(edit))
    }


POINTERS = st.lists(st.sampled_from(["x", "y", 0]), max_size=3).map(tuple)


@given(st.lists(POINTERS, max_size=8))
def test_no_two_edits_that_are_made_touch_each_other(pointers: list[Pointer]) -> None:
    made: list[Pointer] = []

    def remember(text: str, edits: Iterable[Edit]) -> str:
        made.extend(edit.at.pointer for edit in edits)
        return text

    trees = {"a.fake": Tree("a.fake", "file", Format("f", (), PLAIN.parse, PLAIN.locate, remember), b"old\n")}
    make([diagnostic(replacing(*pointer, new=str(n))) for n, pointer in enumerate(pointers)], trees)
    assert bool(made) == bool(pointers)
    assert [(a, b) for a in made for b in made if a != b and a == b[: len(a)]] == []
    assert len(set(made)) == len(made)
