"""Which numbers a plan can hold, and how they are counted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.core.canonical import MOST, canonical, is_exact, to_count
from stagec.core.json import Json


@pytest.mark.parametrize(
    ("given", "wanted"),
    [(1, 1), (2.0, 2), (2.1, 3), (0.5, 1), (10**40, MOST), (0, None), (-1, None), (True, None), ("5", None)],
)
def test_what_is_counted_is_whole_and_greater_than_nothing(given: Json, wanted: int | None) -> None:
    assert to_count(given) == wanted


@pytest.mark.parametrize("given", [None, True, "x", 1, 0.5, MOST, -MOST, [1, {"a": [2.5]}], {}])
def test_a_plan_holds_what_every_reader_reads_alike(given: Json) -> None:
    assert is_exact(given)


@pytest.mark.parametrize("given", [MOST + 1, -MOST - 1, 1e300, [1, {"a": [2**60]}]])
def test_a_plan_does_not_hold_what_readers_round(given: Json) -> None:
    assert not is_exact(given)


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@given(st.recursive(NUMBERS | st.text("ab"), lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner)))
def test_whatever_can_be_written_at_all_is_read_and_written_again(given: Json) -> None:
    try:
        written = canonical(given)
    except ValueError:
        assert not is_exact(given)
        return
    assert canonical(json.loads(written)) == written
