"""Markdown files have a frontmatter only where their first line opens one."""

from __future__ import annotations

import pytest

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.place import Part, Place, Position, Span
from stagec.sources.formats.markdown import FORMAT
from stagec.sources.tree import Fault, Parsed


def parse(text: str) -> Parsed:
    return FORMAT.parse("f.md", text.encode(), Budgets())


@pytest.mark.parametrize(
    "text",
    ["", "# Title\n", " ---\na: b\n---\n", "---\nProse, and no key.\n", "---\nProse\n---\n", "----\na: b\n---\n"],
)
def test_without_frontmatter_everything_is_body(text: str) -> None:
    assert parse(text) == Parsed(None, (), (0, len(text)))


@pytest.mark.parametrize(
    ("text", "value", "body"),
    [
        ("---\na: b\n---\nbody\n", {"a": "b"}, "body\n"),
        ("---  \na: b\n...\nbody", {"a": "b"}, "body"),
        ("---\r\na: {x: 1}\r\n---\r\nbody", {"a": {"x": 1}}, "body"),
        ("---\ra: b\r---\rbody", {"a": "b"}, "body"),
        ("---\na: |\n  ---\n---\nbody\n---\n", {"a": "---\n"}, "body\n---\n"),
        ("---\n---\n", {}, ""),
        ("---\n# nothing\n---", {}, ""),
    ],
)
def test_the_frontmatter_is_what_stands_between_the_fences(text: str, value: object, body: str) -> None:
    parsed = parse(text)
    assert (parsed.value, parsed.faults) == (value, ())
    assert parsed.body is not None
    assert text[slice(*parsed.body)] == body


@pytest.mark.parametrize("text", ["plain words", "'it''s quoted'", '"\\u00e9"', "[a, {b: 1}]"])
def test_a_frontmatter_is_as_long_as_its_file_may_be(text: str) -> None:
    short = parse(f"---\na: {text}\n---\n").value
    long = parse("---\n" + "".join(f"a{number}: {text}\n" for number in range(20_000)) + "---\nbody\n")
    assert isinstance(short, dict)
    assert long.value == {f"a{number}": short["a"] for number in range(20_000)}
    assert not long.faults


def test_an_unclosed_frontmatter_is_reported_at_its_fence() -> None:
    fault = Fault("invalid-frontmatter", Place("f.md", range=(0, 3)), "unclosed")
    assert parse("---\nname: x\n\n# Body\n") == Parsed(None, (fault,), (20, 20))


@pytest.mark.parametrize(
    ("inside", "reason", "offender"),
    [
        ("- a\n", "not-a-mapping", "- a\n"),
        ("name:text\n", "misspelt", ":"),
        ("name = text\n", "misspelt", "="),
        ("a: &x 1\nb: 2\n", "anchor", "&"),
        ("a: &x 1\nb: *x\n", "anchor", "&"),
        ("a: !!str 1\n", "tag", "!"),
        ("a: !mine 1\n", "tag", "!"),
    ],
)
def test_what_frontmatter_must_not_have_is_refused(inside: str, reason: str, offender: str) -> None:
    text = f"---\n{inside}---\nbody\n"
    (fault,) = parse(text).faults
    assert (fault.topic, fault.reason) == ("invalid-frontmatter", reason)
    assert text[slice(*(fault.at.range or ()))] == offender


def test_a_line_that_nearly_closes_a_frontmatter_is_shown() -> None:
    (fault,) = parse("---\nname: x\n ---\n# Body\n").faults
    assert fault.related == ((Place("f.md", range=(12, 16)), " ---"),)


def test_a_frontmatter_has_one_fault_about_its_syntax() -> None:
    (fault,) = parse("---\na: 1\na: 2\nb: {{x}}\nc: {{y}}\n---\n").faults
    assert (fault.topic, fault.at.range) == ("invalid-yaml", (18, 21))
    assert [(place.range, why) for place, why in fault.related] == [((27, 30), "again"), ((9, 10), "again")]


def test_a_text_is_quoted_in_the_frontmatter_and_not_in_the_body() -> None:
    text = "---\nglobs: *.ts\n---\nglobs: *.ts\n"
    ((place, _),) = parse(text).faults[0].related
    mended = FORMAT.apply(text, [Edit(Change.REPLACE, place, "*.ts")])
    assert mended == '---\nglobs: "*.ts"\n---\nglobs: *.ts\n'


def test_yaml_faults_have_their_place_in_the_whole_file() -> None:
    text = "---\nname: x\nglobs: **/*\n---\n"
    fault = parse(text).faults[0]
    assert (fault.topic, fault.reason, fault.at.range) == ("invalid-yaml", "alias", (19, 20))
    assert FORMAT.locate(text.encode(), [fault.at])[fault.at] == Span(Position(3, 8), Position(3, 9))


def test_repeated_keys_have_both_places_in_the_whole_file() -> None:
    first, later = (Place("f.md", ("a",), Part.KEY, where) for where in ((4, 5), (9, 10)))
    fault = Fault("repeated-key", later, facts={"key": "a"}, related=((first, "first"),))
    assert parse("---\na: 1\na: 2\n---\n") == Parsed({"a": 2}, (fault,), (18, 18))


def test_a_member_is_located_in_the_whole_file() -> None:
    place = Place("f.md", ("tools", 1))
    found = FORMAT.locate(b"---\nname: x\ntools: [a, b]\n---\n", [place])
    assert found == {place: Span(Position(3, 12), Position(3, 13))}


def test_an_edit_leaves_the_body_alone() -> None:
    edit = Edit(Change.REPLACE, Place("f.md", ("a",)), "c")
    assert FORMAT.apply("---\na: b\n---\na: b\n", [edit]) == "---\na: c\n---\na: b\n"


def test_an_edit_needs_frontmatter() -> None:
    with pytest.raises(ValueError, match="no frontmatter"):
        FORMAT.apply("a: b\n", [Edit(Change.REPLACE, Place("f.md", ("a",)), "c")])
