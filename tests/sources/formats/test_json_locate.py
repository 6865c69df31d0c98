"""Where the places of a JSON file are written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import ends

from stagec.core.place import START, Part, Place, Pointer, Position, Span
from stagec.sources import tree
from stagec.sources.formats.json import outline
from stagec.sources.formats.json.outline import locate
from stagec.sources.tree import Lines

TEXT = """\
{
  "name": "x",
  "steps": {"a": {"next": ["b", "c"]}, "é": 1},
  "list": [1, [2, {"k": null}]],
  "name": "last",
  "q\\u0061": true
}
"""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)

WRITTEN = {
    (("steps", "a", "next", 1), Part.VALUE): '"c"',
    (("steps", "a", "next"), Part.KEY): '"next"',
    (("steps", "é"), Part.VALUE): "1",
    (("list", 1, 1, "k"), Part.VALUE): "null",
    (("list", 1, 1), Part.VALUE): '{"k": null}',
    (("list", 0), Part.KEY): "1",
    (("name",), Part.VALUE): '"last"',
    (("qa",), Part.KEY): '"q\\u0061"',
    ((), Part.VALUE): TEXT.strip(),
    ((), Part.KEY): TEXT.strip(),
    (("steps", "missing"), Part.VALUE): '"steps"',
    (("steps", "a", "next", 7, "x"), Part.VALUE): '"next"',
    (("missing", 0), Part.VALUE): "{",
    (("list", 1, 5), Part.KEY): "[",
}


def excerpt(text: str, span: Span) -> str:
    starts = [0, *(index + 1 for index, each in enumerate(text) if each == "\n")]
    ends = [starts[at.line - 1] + at.column - 1 for at in (span.start, span.end)]
    return text[ends[0] : ends[1]]


@pytest.mark.parametrize(("pointer", "part"), WRITTEN)
def test_a_place_is_where_it_is_written_or_its_nearest_ancestor(pointer: Pointer, part: Part) -> None:
    place = Place("f.json", pointer, part)
    assert excerpt(TEXT, locate(TEXT.encode(), [place])[place]) == WRITTEN[pointer, part]


def test_all_places_of_a_file_are_found_together() -> None:
    places = [Place("f.json", pointer, part) for pointer, part in WRITTEN]
    spans = locate(TEXT.encode(), places)
    assert [excerpt(TEXT, spans[place]) for place in places] == list(WRITTEN.values())


def test_a_range_counts_characters_and_not_bytes() -> None:
    place = Place("f.json", range=(3, 4))
    assert excerpt('["é", "€"]', locate('["é", "€"]'.encode(), [place])[place]) == '"'


def test_an_empty_file_is_located_at_its_start() -> None:
    place = Place("f.json", ("a",))
    assert locate(b"", [place]) == {place: START}


def pointers(given_value: Any, above: Pointer = ()) -> list[tuple[Pointer, Any]]:
    pairs: Any = {list: enumerate, dict: dict.items}.get(type(given_value), lambda _: ())(given_value)
    return [(above, given_value), *(each for key, inner in pairs for each in pointers(inner, (*above, key)))]


@given(VALUES, st.sampled_from([None, 2]))
def test_what_is_written_at_a_place_reads_as_its_value(given_value: Any, indent: Any) -> None:
    text = json.dumps(given_value, indent=indent)
    expected = {Place("f.json", pointer): inner for pointer, inner in pointers(given_value)}
    spans = locate(text.encode(), expected)
    assert {place: json.loads(excerpt(text, spans[place])) for place in expected} == expected


@given(st.text('{}[]":,\\a1 \n'), st.lists(st.sampled_from(["a", 0, 1]), max_size=4).map(tuple))
def test_no_text_makes_it_raise(text: str, pointer: Pointer) -> None:
    place = Place("f.json", pointer)
    assert set(locate(text.encode(), [place])) == {place}


def test_ten_thousand_places_cost_one_pass() -> None:
    steps = {
        f"step.{number}": {"name": "x" * 300, "transitions": {"next": {"target": "y"}}} for number in range(10_000)
    }
    data = json.dumps({"steps": steps}, indent=1).encode()
    places = [Place("f.json", ("steps", name, "transitions", "next", "target")) for name in steps]
    with ends():
        spans = locate(data, places)
    assert spans[places[-1]].start.line == data[: data.rindex(b'"y"')].count(b"\n") + 1


def test_a_very_deep_text_is_searched_without_recursion() -> None:
    depth = choose(20_000, whole=100_000)
    place = Place("f.json", (0,) * (depth // 2))
    assert set(locate(b"[" * depth + b"]" * depth, [place])) == {place}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@given(st.text("ab\né", max_size=30), st.integers(-1, 40))
def test_a_position_is_counted_alike_whatever_ends_lines(end: str, text: str, offset: int) -> None:
    written = text.replace("\n", end)
    before = written[: min(max(offset, 0), len(written))]
    if not (end == "\r\n" and before.endswith("\r")):
        lines = before.split(end)
        assert Lines(written).position(offset) == Position(len(lines), len(lines[-1]) + 1)


@given(st.integers(0, 60), st.integers(1, 5))
def test_lines_are_counted_in_blocks(offset: int, block: int) -> None:
    text = "ab\n\nc\n" * 9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "_BLOCK", block)
        assert Lines(text).position(offset) == Lines(text.replace("\n", "\r")).position(offset)


@settings(max_examples=choose(100, whole=1_000))
@given(st.one_of(VALUES.map(lambda each: json.dumps(each, ensure_ascii=False)), st.text('[{"a\\1,:]} ')), st.data())
def test_large_texts_are_located_like_small_ones(text: str, data: st.DataObject) -> None:
    pointers = st.lists(st.one_of(st.integers(0, 3), st.text(max_size=1)), max_size=3).map(tuple)
    places = {Place("x", each) for each in data.draw(st.lists(pointers, max_size=4))}
    found = locate(text.encode(), places)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outline, "_LARGE", 0)
        assert locate(text.encode(), places) == found
