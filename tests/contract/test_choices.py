"""Values that schemas name one by one, and how JSON writes them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.core import canonical
from stagec.core.canonical import text_of
from stagec.core.json import Json
from stagec.sources.contract.choices import as_text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("a", "a"),
        (True, "true"),
        (None, "null"),
        (1, "1"),
        (1.0, "1"),
        (2.5, "2.5"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (10**21, "1e+21"),
        (2**53 + 1, "9007199254740992"),
        (-(2**63), "-9223372036854776000"),
        (10**400, f"{10**400}"),
        (1e-7, "1e-7"),
        (10**16, "10000000000000000"),
        ([1, "é"], '[1,"é"]'),
        ({"b": None, "a": True}, '{"b":null,"a":true}'),
        (float("inf"), "inf"),
    ],
)
def test_a_value_is_written_as_json_writes_it_and_a_text_without_its_quotes(given: Json, text: str) -> None:
    assert as_text(given) == text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES)
def test_both_ways_of_writing_write_the_same(value: Any) -> None:
    assert canonical._deep(value) == text_of(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
