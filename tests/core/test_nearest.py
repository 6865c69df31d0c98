"""Did you mean: near names are found, far ones are not, and many cost little."""

from __future__ import annotations

import pytest

from stagec.core.nearest import NameIndex, hint

STEPS = ("initial.issue", "continuation.issue", "closure.issue", "a")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("initial.isue", "initial.issue"),
        ("initial.issuee", "initial.issue"),
        ("initial.isseu", "initial.issue"),
        ("initial.ixsue", "initial.issue"),
        ("Initial.Issue", "initial.issue"),
        ("initial_issue", "initial.issue"),
        ("initiall.isue", "initial.issue"),
        ("review", None),
        ("", None),
        ("b", None),
    ],
)
def test_the_nearest_name_is_the_one_meant(written: str, meant: str | None) -> None:
    assert NameIndex(STEPS).nearest(written) == meant


def test_only_known_names_are_members() -> None:
    assert "a" in NameIndex(STEPS)
    assert "b" not in NameIndex(STEPS)


def test_the_hint_is_a_question_or_nothing() -> None:
    assert hint("closure.isue", NameIndex(STEPS)) == "; did you mean 'closure.issue'?"
    assert hint("review", NameIndex(STEPS)) == ""


def test_ten_thousand_names_are_still_searched() -> None:
    names = NameIndex(f"continuation.step-{number}" for number in range(10_000))
    assert names.nearest("continuaton.step-1234") == "continuation.step-1234"


def test_a_very_long_name_is_compared_as_a_whole_only() -> None:
    assert NameIndex(["x" * 5_000]).nearest("X" * 5_000) == "x" * 5_000


def test_names_are_equal_when_they_know_the_same() -> None:
    assert NameIndex(["a", "b"]) == NameIndex(("a", "b", "a"))
    assert NameIndex(["a"]) != NameIndex(["b"])
    assert len({NameIndex(["a"]), NameIndex(["a"])}) == 1
    assert (len(NameIndex("abca")), [*NameIndex("abca")]) == (3, ["a", "b", "c"])
