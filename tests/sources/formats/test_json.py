"""Reading JSON: the value, what is wrong with it, and how long that may take."""

from __future__ import annotations

import gc
import json
import math
from typing import Any

import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import ends

from stagec.core.budgets import Budgets
from stagec.core.place import Part, Place
from stagec.sources.formats.json import FORMAT, parse, within
from stagec.sources.formats.json.scan import scan
from stagec.sources.tree import Fault, Parsed

LARGEST = 1.7976931348623157e308
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
BITS = [
    '{"a":',
    "[",
    "]",
    "}",
    ",",
    ":",
    '"',
    '"a"',
    "1",
    "-",
    ".",
    "e",
    "\\",
    "\\u",
    "d800",
    "true",
    " ",
    "\n",
    "'",
    "/",
]


def read(text: str, **limits: int) -> Parsed:
    return parse("f.json", text.encode(), Budgets(**limits))


def strict(text: str) -> tuple[bool, Any]:
    """Read a text as the standard library does once it refuses what RFC 8259 refuses."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return True, json.loads(text, parse_constant=refuse)
    except ValueError:
        return False, None


def test_a_document_is_its_value() -> None:
    assert read('{"a": [1, 2.5, true, null, "é\\n"]}') == Parsed({"a": [1, 2.5, True, None, "é\n"]})


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_what_is_written_is_read_by_both_ways(given_value: Any, indent: Any, ascii_only: Any) -> None:
    text = json.dumps(given_value, indent=indent, ensure_ascii=ascii_only)
    assert read(text) == scan("f.json", text, 64) == Parsed(given_value)


@settings(max_examples=choose(60, whole=400))
@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join))
def test_texts_are_judged_as_the_standard_library_judges_them(text: str) -> None:
    valid, expected = strict(text)
    parsed = read(text)
    slow = scan("f.json", text, 64) if text.strip(" \t\r\n") else parsed
    wrong = {fault.topic for fault in parsed.faults} & {"invalid-json", "empty-file"}
    assert slow == parsed
    assert valid == (not wrong)
    if not parsed.faults:
        assert parsed.value == expected


@settings(max_examples=choose(60, whole=300))
@given(VALUES, st.integers(0, 1000), st.sampled_from([*BITS, ""]), st.integers(0, 2))
def test_mutated_documents_are_judged_alike(given_value: Any, at: int, fresh: str, cut: int) -> None:
    whole = json.dumps(given_value)
    at %= len(whole) + 1
    text = whole[:at] + fresh + whole[at + cut :]
    valid, _ = strict(text)
    parsed = read(text)
    assert valid == (not {fault.topic for fault in parsed.faults} & {"invalid-json", "empty-file"})
    if text.strip(" \t\r\n"):
        assert scan("f.json", text, 64) == parsed


@given(st.text())
def test_no_text_at_all_makes_the_reader_raise(text: str) -> None:
    parsed = read(text)
    assert parsed.faults or strict(text)[0]
    FORMAT.locate(text.encode(), [Place("f.json", ("a", 0)), *(fault.at for fault in parsed.faults)])


@pytest.mark.parametrize(("text", "reason"), [("", "empty"), (" \r\n\t", "blank")])
def test_an_empty_file_is_no_syntax_error(text: str, reason: str) -> None:
    assert read(text) == Parsed(faults=(Fault("empty-file", Place("f.json"), reason),))


def test_every_repetition_of_a_key_points_at_the_first() -> None:
    text = '{"a": 1, "b": {"x": 1, "x": 2}, "a": 2, "\\u0061": 3}'
    key, inner = Part.KEY, ("b", "x")

    def repeated(pointer: tuple[str, ...], where: tuple[int, int], first: tuple[int, int]) -> Fault:
        related = ((Place("f.json", pointer, key, first), "first"),)
        return Fault("repeated-key", Place("f.json", pointer, key, where), "", {"key": pointer[-1]}, related)

    assert read(text) == Parsed(
        {"a": 3, "b": {"x": 2}},
        (
            repeated(inner, (23, 26), (15, 18)),
            repeated(("a",), (32, 35), (1, 4)),
            repeated(("a",), (40, 48), (1, 4)),
        ),
    )


def test_a_repeated_key_below_an_array_is_found_by_its_index() -> None:
    (fault,) = read('[{}, {"a": 1, "a": 1}]').faults
    assert fault.at.pointer == (1, "a")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e999", LARGEST),
        ("-1E+999", -LARGEST),
        ("2" + "0" * 400 + ".5", 1.7976931348623157e308),
        ("0." + "0" * 300 + "1e700", LARGEST),
    ],
)
def test_a_number_too_large_is_reported_and_replaced_by_the_largest(text: str, value: float) -> None:
    parsed = read(f'{{"a": [{text}]}}')
    assert parsed.value == {"a": [value]}
    where = Place("f.json", ("a", 0), range=(7, 7 + len(text)))
    assert parsed.faults == (Fault("number-out-of-range", where, "overflow", {"number": text}),)


@pytest.mark.parametrize("text", ["1e308", "0e999", "1e-999", "0.0e1000", "1" * 400, "1" + "0" * 300 + "e-999"])
def test_a_number_that_only_looks_too_large_is_none(text: str) -> None:
    assert read(text) == Parsed(json.loads(text))


def test_text_that_looks_like_a_large_number_is_text() -> None:
    assert read('["1e999", ": 1e999"]') == Parsed(["1e999", ": 1e999"])


def test_an_integer_of_as_many_digits_as_python_reads_is_read() -> None:
    assert read("-" + "9" * 4300).value == -(10**4300 - 1)


def test_an_integer_of_more_digits_is_reported() -> None:
    parsed = read("9" * 4301)
    at = Place("f.json", range=(0, 4301))
    assert parsed.faults == (Fault("number-out-of-range", at, "digits", {"digits": 4301, "limit": 4300}),)
    assert isinstance(parsed.value, int)


@pytest.mark.parametrize("escape", ["\\ud800", "\\uDFFF", "\\ud800\\ud800", "\\udc00\\ud800"])
def test_a_lone_surrogate_is_reported_and_replaced(escape: str) -> None:
    parsed = read(f'{{"a": "x{escape}"}}')
    at = Place("f.json", ("a",), range=(8, 14))
    assert parsed.faults == (Fault("lone-surrogate", at, facts={"escape": escape[:6]}),)
    assert parsed.value == {"a": "x" + "\ufffd" * (len(escape) // 6)}


def test_a_surrogate_behind_a_pair_and_a_backslash_is_told_from_them() -> None:
    parsed = read('"\\ud83d\\ude00\\\\ud800\\ud801"')
    assert parsed.value == "😀\\ud800\ufffd"
    assert [fault.at.range for fault in parsed.faults] == [(20, 26)]


def test_two_names_with_different_surrogates_are_different_names() -> None:
    parsed = read('{"\\ud800": 1, "\\ud801": 2}')
    assert [fault.topic for fault in parsed.faults] == ["lone-surrogate", "lone-surrogate"]
    assert {fault.at.part for fault in parsed.faults} == {Part.KEY}


def test_as_many_levels_as_the_budget_allows_are_read() -> None:
    assert read("[" * 64 + "]" * 64).faults == ()


def test_the_first_bracket_too_deep_is_reported_and_nothing_more() -> None:
    parsed = read('{"a": "[[[", "b": [[[1]]], "c": [[[', depth=3)
    assert parsed == Parsed(faults=(Fault("deep-nesting", Place("f.json", range=(20, 21)), facts={"limit": 3}),))


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "[" * 100_000])
def test_a_very_deep_text_is_refused_at_once(text: str) -> None:
    with ends():
        assert [fault.topic for fault in read(text).faults] == ["deep-nesting"]


@given(VALUES, st.integers(0, 6))
def test_the_depth_is_told_without_reading(given_value: Any, limit: int) -> None:
    def depth(each: Any) -> int:
        inner = list(each.values()) if isinstance(each, dict) else each if isinstance(each, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    assert within(json.dumps(given_value).encode(), limit) == (depth(given_value) <= limit)


HOSTILE = {
    "commas": "[" + "," * 500_000,
    "numbers": "[" + "1 " * 250_000,
    "NUL": "\0" * 500_000,
    "odd characters": "()<>" * 125_000,
    "comments": "/**/" * 125_000,
    "unclosed comments": "[1 /*" * 100_000,
    "unclosed strings": '"a\nb \\" \n' * 60_000,
    "single quotes": "'a\n" * 160_000,
    "brackets in an unclosed string": '["' + "]" * 250_000 + "a\n" + "]" * 250_000,
    "white space": '"a\n' + " " * 500_000 + "b",
    "a long number": "[" + "1" * 500_000 + "x]",
    "bad escapes": '"\\q",\n' * 80_000,
    "full depth": "[" + ("[" * 60 + "]" * 60 + ",") * 4_000 + "1]",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    with ends():
        parsed = read(text)
        FORMAT.locate(text.encode(), [fault.at for fault in parsed.faults])
        assert len(parsed.faults) <= 1_001


def test_a_million_repeated_keys_are_reported_up_to_a_thousand() -> None:
    parsed = read("{" + '"a":1,' * 100_000 + '"a":2}')
    assert parsed.value == {"a": 2}
    assert len(parsed.faults) == 1_000


def test_the_collector_is_as_it_was() -> None:
    large = json.dumps(list(range(60_000)))
    assert gc.isenabled()
    read(large)
    read(large + "]")
    assert gc.isenabled()


def test_a_number_is_never_infinite() -> None:
    assert math.isfinite(read("1e400").value)  # type: ignore[arg-type]
