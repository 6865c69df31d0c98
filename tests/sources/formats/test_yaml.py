"""YAML is read by the core schema of YAML 1.2, and whatever is wrong becomes a fact."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import ends

from stagec.check.rules.document.syntax import stg107_invalid_yaml as rule
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.place import Part, Place, Position, Span
from stagec.sources.formats.yaml import FORMAT
from stagec.sources.tree import Fault, Parsed, Tree
from stagec.sources.yaml_text.compose import LONGEST_EXPLAINED, compose, has_fast_events

N = 100_000
BOMB = "a0: &a0 x\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))


def parse(text: str) -> Parsed:
    return FORMAT.parse("f.yaml", text.encode(), Budgets())


def only(text: str) -> Fault:
    (fault,) = parse(text).faults
    return fault


def told(text: str) -> tuple[str, str, str]:
    """Return topic, reason and offending characters of the only fault."""
    fault = only(text)
    start, end = fault.at.range or (0, 0)
    return fault.topic, fault.reason, text[start:end]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("null", None),
        ("~", None),
        ("", None),
        ("True", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("012", 12),
        ("+7", 7),
        ("0o14", 12),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("190:20:30", "190:20:30"),
        ("2024-13-45", "2024-13-45"),
        ("1.", 1.0),
        (".5e1", 5.0),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("!!float 12", 12.0),
        ("! 12", "12"),
        (r'"\ud83d\ude00"', "\U0001f600"),
    ],
)
def test_a_scalar_means_what_the_core_schema_says(written: str, meant: object) -> None:
    assert parse(f"k: {written}\n") == Parsed({"k": meant})


def test_keys_stay_as_written() -> None:
    assert parse("1: a\ntrue: b\non: c\n<<: d\n") == Parsed({"1": "a", "true": "b", "on": "c", "<<": "d"})


def test_a_version_directive_changes_nothing() -> None:
    assert parse("%YAML 1.1\n%FOO bar\n---\na: yes\nb: 012\n") == Parsed({"a": "yes", "b": 12})


def test_small_aliases_share_their_object() -> None:
    value = parse("a: &x [1, 2]\nb: *x\n").value
    assert value == {"a": [1, 2], "b": [1, 2]}
    assert isinstance(value, dict)
    assert value["a"] is value["b"]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_every_line_break_is_one(line_break: str) -> None:
    assert parse(f"a: 1{line_break}b:{line_break}  c: 2{line_break}") == Parsed({"a": 1, "b": {"c": 2}})


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_a_line_separator_of_old_is_text(character: str) -> None:
    assert parse(f"a: x{character}y\nb: 1\n") == Parsed({"a": f"x{character}y", "b": 1})


def test_tabs_between_words_are_blanks() -> None:
    assert parse("a:\tb\t\nc: d\t# comment\n\t\n") == Parsed({"a": "b", "c": "d"})


@pytest.mark.parametrize(
    ("text", "reason", "offender"),
    [
        ("a: b: c\n", "colon", ":"),
        ("x: 1\ra: b: c\r", "colon", ":"),
        ("a: *\n", "alias", "*"),
        ("a: **/*.py\n", "alias", "*"),
        ("a: *foo\n", "alias", "*"),
        ("a: & b\n", "anchor", "&"),
        ("a: @b\n", "reserved", "@"),
        ("a: `b`\n", "reserved", "`"),
        ("a: %b\n", "reserved", "%"),
        ("a: , b\n", "reserved", ","),
        ("a: [b] | [c]\n", "after-bracket", "| [c]"),
        ("a: [b] [c]\n", "after-bracket", "[c]"),
        ("a: [b] - c\n", "after-bracket", "- c"),
        ('a: "b" c\n', "after-quote", "c"),
        ("a: 'it's'\n", "after-quote", "s'"),
        ('a: "b\nc: "d"\n', "unclosed-quote", '"'),
        ('a: "b\nc: d\n', "unclosed-quote", '"'),
        ("a: [b, c\nd: e\n", "unclosed-bracket", "["),
        ("a: {b: c\n", "unclosed-bracket", "{"),
        ('a: ["b" "c"]\n', "missing-comma", '"'),
        ("a: [b: c: d]\n", "flow-colon", ":"),
        ("a:\n  b: c\n d: e\n", "indentation", "d"),
        ("a: b\n  c: d\n", "nested", "c: d"),
        ("a: - b\n", "dash", "-"),
        ("a: ? b\n", "question", "?"),
        ("a: b\nc:d\ne: f\n", "missing-space", ":"),
        ("a:b\nc: d\n", "missing-space", ":"),
        ("a: b\nc\nd: e\n", "unindented", "c"),
        ("c\nd: e\n", "missing-colon", "c"),
        ("a: b\n  c d: e\n", "colon-below", ":"),
        ("a: b\n  c\n  d: e\n", "colon-below", ":"),
        ("a: Do it. b: c\n", "lost-break", "b:"),
        ("a: b:\n", "colon", ":"),
        ("a: 'b': c\n", "after-quote", ": c"),
        ("'a' b: c\n", "after-key", "b"),
        ('a: "b",\n', "stray", ","),
        ("a: [b]]\n", "extra-bracket", "]"),
        ("a: b\n- c\n", "list-after-value", "-"),
        ("a:\n  - b\n - c\n", "indentation", "-"),
        (" a: b\nc: d\n", "indentation", "c"),
        ("a:\n  * b\n", "bullet", "*"),
        ("@a: b\n", "key-start", "@"),
        ("**a**: b\n", "key-start", "*"),
        ("[a]: b\n", "key-start", "[a]"),
        ("a: b\nc = d\n", "foreign-sign", "="),
        ("a: b\nc\uff1ad\n", "foreign-colon", "\uff1a"),
        ("a: b\nc:\xa0d\n", "foreign-space", "\xa0"),
        ("a: b\n// c\nd: e\n", "remark", "// c"),
        ("a: {% b %}\n", "reserved", "%"),
        ("{{#a}}\n", "missing-colon", "{{#a}}"),
        ("a:\n  - 'b\n  - 'c'\n", "unclosed-quote", "'"),
        ('a: "b\n  c" d\n', "after-quote", "d"),
        ("a\n  b: c\n", "missing-colon", "a"),
        ("a:\n\tb: c\n", "tab", "\t"),
        ('a: "\\q"\n', "escape", "\\q"),
        ('a: "\\U00110000"\n', "escape", "\\U00110000"),
        ("a: |x\n  b\n", "block-header", "|x"),
        ("a: b\x00\n", "control", "\x00"),
        ("a: !foo b\n", "tag", "!foo"),
        ("a: !!int b\n", "tag", "!!int"),
        ("a: !x!y b\n", "tag", "!x!y"),
        ("a: {{x}}\n", "key-not-text", "{x}"),
        ("%FOO\na: b\n", "directive", "%"),
        ("[a]\nb\n", "text-after", "b"),
        ('"a" b\n', "after-quote", "b"),
    ],
)
def test_a_mistake_is_named_and_placed(text: str, reason: str, offender: str) -> None:
    assert told(text) == ("invalid-yaml", reason, offender)
    tree = Tree("f.yaml", "file", FORMAT, text.encode(), faults=parse(text).faults)
    assert len(list(rule.check(tree))) == 1


def test_a_mistake_knows_its_key_and_value() -> None:
    facts = {"character": "*", "key": "globs", "value": "**/*", "meant": "**/*"}
    assert only("name: x\nglobs: **/*\n").facts == facts


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("k:\n  - @b\n", "k", "@b"),
        ("k:\n- @b\n", "k", "@b"),
        ("k: [a, @b]\n", "k", "@b"),
        ("k: [\n  a,\n  @b\n]\n", "k", "@b"),
        ("j:\n  i: 1\n  k:\n    - a\n    - @b\n", "k", "@b"),
    ],
)
def test_a_mistake_in_a_list_knows_the_key_of_the_list(text: str, key: str, value: str) -> None:
    assert only(text).facts == {"character": "@", "key": key, "value": value, "item": True}


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("a: Use when: b\nc: d\n", 'a: "Use when: b"\nc: d\n'),
        ("a: *.py\n", 'a: "*.py"\n'),
        ("a: @b\n", 'a: "@b"\n'),
        ("a: [b] | [c]\n", 'a: "[b] | [c]"\n'),
        ('a: "b" c\n', 'a: "\\"b\\" c"\n'),
        ("a: 'it's'\n", 'a: "it\'s"\n'),
        ("a: {{b}}\n", 'a: "{{b}}"\n'),
        ("a:\n  - b: @c\n", 'a:\n  - b: "@c"\n'),
        ("a: *.py\nb: x: y\n", 'a: "*.py"\nb: x: y\n'),
    ],
)
def test_a_text_that_surely_was_meant_gets_quotes_and_nothing_else_changes(text: str, mended: str) -> None:
    fault = only(text)
    ((place, why),) = fault.related
    assert why == "quotable"
    assert FORMAT.apply(text, [Edit(Change.REPLACE, place, str(fault.facts["meant"]))]) == mended


@pytest.mark.parametrize(
    "text",
    [
        "a: b: c\n",
        "a: Do it. b: c\n",
        "a: Use when: b # c\n",
        "a: Use when: b\n  and c\n",
        "a: Use <b>when: b\n",
        "a: [b], [c]\n",
        "a: [b]]\n",
        'a: "b" and "c"\n',
        "a: 'b', and 'c'\n",
        "a: , b\n",
        "a: {b, {c}: d}\n",
        "- @b\n",
        "a: [@b]\n",
    ],
)
def test_where_something_else_may_be_meant_nothing_is_offered(text: str) -> None:
    assert only(text).related == ()


def test_an_edit_of_a_range_and_one_of_a_member_do_not_mix() -> None:
    edits = [Edit(Change.REPLACE, Place("f.yaml", range=(0, 1)), "b"), Edit(Change.REMOVE, Place("f.yaml", ("a",)))]
    with pytest.raises(ValueError, match="no members"):
        FORMAT.apply("a: 1\n", edits)


def test_every_repeated_key_is_reported_with_its_first_place() -> None:
    text = "a:\n  b: 1\n  b: 2\n  b: 3\n"
    first = Place("f.yaml", ("a", "b"), Part.KEY, (5, 6))
    later = [Place("f.yaml", ("a", "b"), Part.KEY, where) for where in ((12, 13), (19, 20))]
    faults = tuple(Fault("repeated-key", at, facts={"key": "b"}, related=((first, "first"),)) for at in later)
    assert parse(text) == Parsed({"a": {"b": 3}}, faults)


def test_a_second_document_is_a_fault_and_the_first_is_read() -> None:
    at = Place("f.yaml", range=(5, 8))
    assert parse("a: 1\n---\nb: 2\n") == Parsed({"a": 1}, (Fault("several-documents", at),))


@pytest.mark.parametrize(
    ("text", "reason"), [("", "empty"), (" \n\n", "blank"), ("# only this\n", "comments"), ("---\n", "comments")]
)
def test_a_file_without_a_value_is_empty(text: str, reason: str) -> None:
    assert parse(text) == Parsed(faults=(Fault("empty-file", Place("f.yaml"), reason),))


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (".inf", "overflow"),
        ("-1e999", "overflow"),
        (".NaN", "no-number"),
        ("9" * 5000, "digits"),
        (f"0x{'f' * 3572}", "digits"),
        (f"0o1{'0' * 4762}", "digits"),
    ],
)
def test_numbers_beyond_json_are_faults(written: str, reason: str) -> None:
    fault = only(f"a: {written}\n")
    assert (fault.topic, fault.reason) == ("number-out-of-range", reason)
    assert fault.at == Place("f.yaml", ("a",), range=(3, 3 + len(written)))


def test_a_number_in_another_base_is_read_if_it_can_be_written() -> None:
    parsed = parse(f"a: 0x{'f' * 3571}\n")
    assert parsed == Parsed({"a": 2**14284 - 1})
    assert len(str(parsed.value["a"])) == 4300


def test_half_a_surrogate_pair_is_a_fault() -> None:
    assert told(r'a: "x\ud83d"') == ("lone-surrogate", "", r"\ud83d")


@pytest.mark.parametrize(
    "text",
    [
        "[" * N,
        "- " * N,
        "? " * N,
        '{"a":' * N,
        "[1," * N,
        "# 'quoted'\n" + "[" * N,
        "".join(" " * i + "a:\n" for i in range(1000)),
        "".join(" " * i + "-\n" for i in range(1000)),
        "'q': \n" + "".join(" " * i + "- a:\n" for i in range(1, 200)).replace("- a:", "-"),
    ],
    ids=["brackets", "dashes", "questions", "objects", "elements", "comment", "keys", "items", "mixed"],
)
def test_deep_nesting_is_refused_at_once(text: str) -> None:
    with ends():
        fault = only(text)
    assert (fault.topic, fault.facts) == ("deep-nesting", {"limit": 64})


@pytest.mark.parametrize("depth", [1, 63, 64])
def test_nesting_up_to_the_limit_is_read(depth: int) -> None:
    assert parse("[" * depth + "]" * depth).faults == ()
    assert parse("- " * (depth - 1) + "- x").faults == ()


@pytest.mark.parametrize("depth", [65, 70])
def test_nesting_beyond_the_limit_is_not(depth: int) -> None:
    assert only("[" * depth + "]" * depth).topic == only("- " * depth + "x").topic == "deep-nesting"


@pytest.mark.parametrize(
    "text", ["a: |\n  " + "[" * 500 + "\n", "a: see " + "[" * 500, f"a: '{'[' * 500}'", "# " + "- " * 500 + "\na: b"]
)
def test_brackets_inside_text_are_no_nesting(text: str) -> None:
    assert parse(text).faults == ()


def test_an_alias_bomb_is_refused_where_it_explodes() -> None:
    assert told(BOMB) == ("alias-expansion", "large", "*a5")


def test_a_value_inside_itself_is_refused() -> None:
    assert told("a: &a\n  b: *a\n") == ("alias-expansion", "recursive", "*a")


def test_a_broken_escape_in_a_tag_is_the_tag_s_fault() -> None:
    (fault,) = parse("!%0").faults
    assert (fault.reason, fault.at.range) == ("tag", (0, 3))


@given(st.text(alphabet=st.sampled_from("ab:-?[]{},'\"|>&*!%@`#\\ \n\r\t\x00\x85~.0u")))
def test_whatever_is_read_never_raises(text: str) -> None:
    parsed = parse(text)
    places = [fault.at for fault in parsed.faults]
    assert set(FORMAT.locate(text.encode(), [*places, Place("f.yaml", ("a", 0))])) == {
        *places,
        Place("f.yaml", ("a", 0)),
    }
    assert all(place.range is None or 0 <= place.range[0] <= place.range[1] <= len(text) for place in places)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=40), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=40), JSON, min_size=1, max_size=3))
def test_json_is_yaml(value: dict[str, object]) -> None:
    import json

    assert parse(json.dumps(value, indent=2)) == Parsed(value)


LOCATED = "# top\na:\n  b: [1, two]\n  c: |\n    text\n\nd:\n- e: 1\n"


@pytest.mark.parametrize(
    ("place", "start", "end"),
    [
        (Place("f", ("a", "b")), (3, 6), (3, 14)),
        (Place("f", ("a", "b"), Part.KEY), (3, 3), (3, 4)),
        (Place("f", ("a", "b", 1)), (3, 10), (3, 13)),
        (Place("f", ("a", "c")), (4, 6), (5, 9)),
        (Place("f", ("a",)), (3, 3), (5, 9)),
        (Place("f", ("d", 0, "e")), (8, 6), (8, 7)),
        (Place("f", ("a", "x", "y")), (2, 1), (2, 2)),
        (Place("f", ("x",)), (2, 1), (2, 2)),
        (Place("f", range=(2, 5)), (1, 3), (1, 6)),
    ],
)
def test_a_place_is_found(place: Place, start: tuple[int, int], end: tuple[int, int]) -> None:
    assert FORMAT.locate(LOCATED.encode(), [place]) == {place: Span(Position(*start), Position(*end))}


def test_without_libyaml_long_texts_are_read_by_the_other_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"name{number}: &a{number} [x, y]\n" for number in range(2_000))
    assert len(text) > LONGEST_EXPLAINED
    with_it = parse(text)
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    monkeypatch.delitem(sys.modules, "yaml.cyaml", raising=False)
    has_fast_events.cache_clear()
    compose.cache_clear()
    try:
        assert parse(text) == with_it
    finally:
        has_fast_events.cache_clear()
        compose.cache_clear()
