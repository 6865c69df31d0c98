"""JSON is written as RFC 8785 says, character for character as another implementation of it writes."""

from __future__ import annotations

import json
import math
import struct

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from stagec.core.canonical import as_text, canonical, compact
from stagec.core.json import Json

MOST = 2**53 - 1
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=8) | st.text('ab"\\/\b\f\n\r\t\x00\x1f\x7f\x80\u2028\ud7ff\ue000\uffff\U00010000', max_size=8)
INTEGERS = st.integers(-MOST, MOST)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=10,
)


def double(bits: str) -> float:
    """Return the double that sixteen hexadecimal digits are."""
    found: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return found


@given(FLOATS)
def test_numbers_are_written_as_another_writer_writes_them(number: float) -> None:
    assert canonical(number) == rfc8785.dumps(number)


@given(st.integers(0, 2**64 - 1).map(lambda bits: double(f"{bits:016x}")).filter(math.isfinite))
def test_doubles_of_any_bits_are_written_as_another_writer_writes_them(number: float) -> None:
    assert canonical(number) == rfc8785.dumps(number)
    assert float(canonical(number)) == number


@given(TEXTS)
def test_texts_are_written_as_another_writer_writes_them(text: str) -> None:
    assert canonical(text) == rfc8785.dumps(text)


@given(st.dictionaries(TEXTS, st.none()))
def test_names_are_sorted_as_another_writer_sorts_them(members: dict[str, None]) -> None:
    assert canonical(members) == rfc8785.dumps(members)


@given(VALUES)
def test_whole_values_are_written_as_another_writer_writes_them(value: Json) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(VALUES)
def test_what_is_read_again_is_the_same_and_is_written_the_same(value: Json) -> None:
    assert json.loads(canonical(value), parse_int=float) == value
    assert canonical(json.loads(canonical(value))) == canonical(value)


@given(st.dictionaries(TEXTS, VALUES, max_size=6))
def test_the_order_of_members_does_not_matter(members: dict[str, Json]) -> None:
    assert canonical(dict(reversed(members.items()))) == canonical(members)


APPENDIX_B = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), APPENDIX_B.items())
def test_the_numbers_of_appendix_b_are_written_as_it_says(bits: str, text: str) -> None:
    assert canonical(double(bits)).decode() == text
    assert compact([double(bits)]) == f"[{text}]"


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_what_is_no_number_has_no_text(bits: str) -> None:
    for value in (double(bits), [double(bits)], {"a": double(bits)}):
        with pytest.raises(ValueError, match="is not a JSON number"):
            canonical(value)


def test_the_example_of_the_rfc_is_written_as_it_says() -> None:
    example: Json = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '\u20ac$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert canonical(example).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_by_the_units_of_utf_16() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
    written = canonical(dict.fromkeys(names))
    assert list(json.loads(written)) == ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\udc00\ud800"])
def test_half_a_character_has_no_text(text: str) -> None:
    for value in (text, [text], {text: 1}, {text: 1.5}, {"\U0001f600": text}):
        with pytest.raises(ValueError, match="half a character"):
            canonical(value)


@pytest.mark.parametrize("number", [MOST + 2, -MOST - 2, 10**21 + 1, 10**400, 10**5000], ids=range(5))
def test_an_integer_that_is_no_double_has_no_text(number: int) -> None:
    with pytest.raises(ValueError, match="more than JSON numbers can hold exactly"):
        canonical([number])


@pytest.mark.parametrize(
    ("number", "text"), [(MOST, str(MOST)), (2**53, str(2**53)), (10**20, str(10**20)), (10**21, "1e+21")]
)
def test_an_integer_that_is_a_double_has_the_text_of_the_double(number: int, text: str) -> None:
    assert canonical(number).decode() == canonical(-number).decode().removeprefix("-") == text
    assert canonical(float(number)).decode() == text


def test_what_is_nested_too_deeply_has_no_text() -> None:
    value: Json = 0.5
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        canonical(value)


def test_true_is_not_one() -> None:
    assert canonical([True, 1, 1.0, False, 0, -0.0]) == b"[true,1,1,false,0,0]"


def test_lists_and_tuples_are_written_alike() -> None:
    assert canonical((1, (), [(0.5,)])) == canonical([1, [], [[0.5]]]) == b"[1,[],[[0.5]]]"


# Texts for people and models, in the order that things have.


def test_a_compact_text_keeps_the_order_of_members() -> None:
    assert (
        compact({"b": [1.0, {"z": None, "a": 1e21}], "a": "\u20ac\n"})
        == '{"b":[1,{"z":null,"a":1e+21}],"a":"\u20ac\\n"}'
    )
    assert compact({"b": 1, "a": 2}) == '{"b":1,"a":2}'


@given(VALUES)
def test_a_compact_text_is_read_again_with_its_order(value: Json) -> None:
    assert _in_order(compact(value)) == _in_order(json.dumps(value))


def _in_order(text: str) -> str:
    """Return some JSON with all numbers as doubles, of which none is a zero with a sign."""
    return json.dumps(json.loads(text, parse_int=float, parse_float=lambda each: float(each) + 0.0))


@given(VALUES)
def test_sorted_members_are_compact_as_they_are_canonical(value: Json) -> None:
    assert compact(json.loads(canonical(value))).encode() == canonical(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a text", "a text"),
        ('"', '"'),
        ("", ""),
        (None, ""),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (1e-7, "1e-7"),
        ([], "[]"),
        ({}, "{}"),
        ([None, "a", 1.0], '[null,"a",1]'),
        ({"b": 1, "a": True}, '{"b":1,"a":true}'),
    ],
)
def test_a_hole_writes_texts_as_they_are_null_as_nothing_and_all_else_as_json(value: Json, text: str) -> None:
    assert as_text(value) == text
