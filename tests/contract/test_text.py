"""Values are written as the standard library writes them, and deeper ones than it can."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.contract import text
from stagec.contract.text import text_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES)
def test_both_ways_of_writing_write_the_same(value: Any) -> None:
    assert text._deep(value) == text_of(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    ("opened", "wrap", "closed"),
    [
        ("[", lambda inner: [inner], "]"),
        ('{"a":', lambda inner: {"a": inner}, "}"),
        ('[0,{"a":1,"b":', lambda inner: [0, {"a": 1, "b": inner, "c": []}, {}], ',"c":[]},{}]'),
    ],
)
def test_a_value_of_any_depth_is_written(opened: str, wrap: Callable[[Any], Any], closed: str) -> None:
    levels = sys.getrecursionlimit() * 2
    value: Any = None
    for _ in range(levels):
        value = wrap(value)
    assert text_of(value) == opened * levels + "null" + closed * levels
