"""Did you mean: near names are found, far ones are not, and many cost little."""

from __future__ import annotations

import pytest

from stagec.core.nearest import NameIndex, hint, is_slip

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


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("upsteam", "upstream"),
        ("Raed", "Read"),
        ("READ", "read"),
        ("run-tests", "run_tests"),
        ("run_tesst", "run_tests"),
        ("run_tezts", "run_tests"),
    ],
)
def test_one_slip_is_told(name: str, known: str) -> None:
    assert is_slip(name, known)
    assert is_slip(known, name)


@pytest.mark.parametrize(
    ("name", "known"),
    [("Read", "Read"), ("Emit", "Edit"), ("reads", "read"), ("stream", "upstream"), ("ab", "abc"), ("", "a"), ("", "")],
)
def test_other_words_are_no_slips(name: str, known: str) -> None:
    assert not is_slip(name, known)
