"""What is said about texts that are no JSON: one reason for one mistake, exactly where it is."""

from __future__ import annotations

import pytest

from stagec.core.budgets import Budgets
from stagec.sources.formats.json import parse

ONE = {
    "trailing comma in an object": ('{"a": 1«,»}', "trailing-comma"),
    "trailing comma in an array": ("[1«,»]", "trailing-comma"),
    "trailing comma before a line break": ('{"a": 1«,»\n\n}', "trailing-comma"),
    "a bracket too many before a name": ('{"a": {"b": 1},«}»\n"c": 2}', "stray-bracket"),
    "a bracket too many before an element": ("[1,«]» 2]", "stray-bracket"),
    "the first line of a conflict": ('{\n«<<<<<<< HEAD»\n"a": 1}', "conflict-marker"),
    "the last line of a conflict": ('{"a": 1,\r\n«>>>>>>> b: {"x"»\r\n"b": 1}', "conflict-marker"),
    "the middle of a conflict": ("[1,\n«=======»\n2]", "conflict-marker"),
    "a line pasted without its comma": ('{"a": 1\n«"a"»: 1}', "missing-comma"),
    "a line with a bracket that was lost": ('{\n  "a": {\n    "b": 1\n  «"c"»: 2\n}', "missing-comma"),
    "a lost bracket in a list": ('[\n  {\n    "a": {\n      "b": 1\n    «"c"»: 2\n  }\n]', "missing-comma"),
    "no comma between members": ('{"a": 1 «"b"»: 2}', "missing-comma"),
    "no comma between lines": ('{"a": 1\n «"b"»: 2}', "missing-comma"),
    "no comma between elements": ('["a" «"b"»]', "missing-comma"),
    "no comma between containers": ("[{} «{»}]", "missing-comma"),
    "no comma before a literal": ("[1 «true»]", "missing-comma"),
    "two values for a name": ('{"a": "x" «"y"», "b": 1}', "missing-comma"),
    "no colon": ('{"a" «1»}', "missing-colon"),
    "no colon before an object": ('{"a" «{»}}', "missing-colon"),
    "equals sign": ('{"a" «=» 1}', "unexpected-character"),
    "arrow": ('{"a" «=>» 1}', "unexpected-character"),
    "semicolon": ('{"a": 1«;»\n"b": 2}', "unexpected-character"),
    "unquoted key": ("{«a»: 1}", "unquoted-key"),
    "unquoted key with a hyphen": ("{«a-b»: 1}", "unquoted-key"),
    "unquoted text": ('{"a": «hello»}', "unquoted-text"),
    "several unquoted words": ('{"a": «hello» world foo, "b": 1}', "unquoted-text"),
    "missing opening quote": ('{"a": «hello"», "b": 1}', "unquoted-text"),
    "single quotes around a key": ("{«'a'»: 1}", "single-quotes"),
    "single quotes around a value": ("[«'it\\'s, so'»]", "single-quotes"),
    "an unclosed single quote": ("[«'a»]", "single-quotes"),
    "backticks": ("[«`a b`»]", "single-quotes"),
    "typographic quotes": ("{«“a”»: 1}", "smart-quotes"),
    "low typographic quotes": ("[«„a“»]", "smart-quotes"),
    "line comment": ('{"a": 1} «// done»\n', "comment"),
    "line comment between members": ('{"a": 1, «// one»\n"b": 2}', "comment"),
    "block comment": ('{«/* a\n * b */» "a": 1}', "comment"),
    "unclosed block comment": ("[1] «/* a»", "comment"),
    "hash comment": ("«# a»\n[1]", "comment"),
    "unclosed string before a comma": ('{"a": «"»b,\n "c": 1}', "unclosed-string"),
    "unclosed string before a bracket": ('{"a": [«"»b]\n}', "unclosed-string"),
    "unclosed string at the end": ('«"»', "unclosed-string"),
    "unclosed key": ('{«"»a\n}', "unclosed-string"),
    "unclosed after a backslash": ('["d\\\\", «"»d\\"]', "unclosed-string"),
    "line break in a string": ('["a«\n»b c"]', "newline-in-string"),
    "line break of two characters in a string": ('["a«\r\n»b c"]', "newline-in-string"),
    "unclosed object": ('{"a": 1«»\n', "unclosed-object"),
    "unclosed object after a comma": ('{"a": 1,«»\n', "unclosed-object"),
    "unclosed object after a colon": ('{"a":«»', "unclosed-object"),
    "unclosed object after a name": ('{"a"«»', "unclosed-object"),
    "unclosed object around an object": ('{"a": {"b": 1}«»', "unclosed-object"),
    "unclosed array": ("[1«»", "unclosed-array"),
    "unclosed empty array": ("[«»", "unclosed-array"),
    "array closed by a brace": ('{"a": [1, 2«}»}', "mismatched-bracket"),
    "array in an object never closed": ('{"a": [1, 2«}»', "mismatched-bracket"),
    "array in an object in an object never closed": (
        '{"x": {"a": [1, 2«}»,\n "b": 3},\n "c": 4}',
        "mismatched-bracket",
    ),
    "object closed by a bracket": ("{«]»", "mismatched-bracket"),
    "tab in a string": ('["a«\t»b"]', "control-character"),
    "NUL in a string": ('["«\0»"]', "control-character"),
    "two tabs in a string": ('["a«\t»b\tc"]', "control-character"),
    "unknown escape": ('["«\\x»41"]', "bad-escape"),
    "Windows path": ('{"a": "d«\\d»ir\\foo"}', "bad-escape"),
    "short Unicode escape": ('["«\\u12»"]', "bad-escape"),
    "Unicode escape that is not hexadecimal": ('["«\\u»zzzz"]', "bad-escape"),
    "leading zero": ("[«01»]", "leading-zero"),
    "negative leading zero": ("[«-012»]", "leading-zero"),
    "leading zero of a fraction": ("[«00.5»]", "leading-zero"),
    "plus sign": ("[«+1»]", "plus-sign"),
    "no digit before the point": ("[«.5»]", "bare-point"),
    "no digit after the point": ("[«1.»]", "bare-point"),
    "no digit between point and exponent": ("[«1.e3»]", "bare-point"),
    "no digit in the exponent": ("[«1e»]", "bare-exponent"),
    "no digit after the sign of the exponent": ("[«1E+»]", "bare-exponent"),
    "hexadecimal number": ("[«0x1F»]", "other-base"),
    "octal number": ("[«0o17»]", "other-base"),
    "digits in groups": ("[«1_000»]", "digit-separator"),
    "lone minus": ("[«-»]", "bad-number"),
    "version": ('{"version": «1.2.3»}', "bad-number"),
    "date": ("[«2024-01-01»]", "bad-number"),
    "not a number": ("[«NaN»]", "no-number"),
    "infinity": ("[«Infinity»]", "no-number"),
    "negative infinity": ("[«-Infinity»]", "no-number"),
    "Python true": ("[«True»]", "foreign-literal"),
    "Python false": ("[«False»]", "foreign-literal"),
    "Python none": ("[«None»]", "foreign-literal"),
    "JavaScript undefined": ("[«undefined»]", "foreign-literal"),
    "shouted null": ("[«NULL»]", "foreign-literal"),
    "two documents": ('{"a": 1}\n«{»"b": 2}', "text-after"),
    "text after the end": ("[1] «x»", "text-after"),
    "comma after the end": ("[1]«,»", "text-after"),
    "members without an object": ('"a"«:» 1', "text-after"),
    "one bracket too many": ('{"a": 1}\n«}»', "extra-bracket"),
    "a closing bracket alone": ("«]»", "extra-bracket"),
    "number as a key": ("{«1»: 2}", "key-not-string"),
    "literal as a key": ("{«null»: 2}", "key-not-string"),
    "object as a key": ("{«{»}}", "key-not-string"),
    "no key": ("{«:» 1}", "missing-key"),
    "no value at the end": ('{"a": «}»', "missing-value"),
    "no value in the middle": ('{"a": «,» "b": 1}', "missing-value"),
    "name alone": ('{«"a"»}', "lone-key"),
    "names alone": ('{«"a"», "b"}', "lone-key"),
    "two commas": ("[1,«,» 2]", "extra-comma"),
    "two commas in an object": ('{"a": 1,«,» "b": 2}', "extra-comma"),
    "comma at the beginning": ("[«,» 1]", "extra-comma"),
    "comma alone": ("{«,»}", "extra-comma"),
    "two colons": ('{"a":«:» 1}', "unexpected-colon"),
    "a colon after a value": ('{"a": 1«:» 2}', "unexpected-colon"),
    "colon in an array": ('["a"«:» 1]', "colon-in-array"),
    "NUL": ("«\0»", "unexpected-character"),
    "backslash": ("[«\\»]", "unquoted-text"),
    "no-break space": ("[1,«\u00a0»2]", "foreign-space"),
    "form feed": ("[1,«\f»2]", "foreign-space"),
    "byte order mark in the middle": ("[1,«\ufeff»2]", "foreign-space"),
}

SEVERAL = {
    "faults on several lines": (
        '{"a": 1\n "b": tru,\n c: 1,\n "d": [1 2],\n "e": 3,\n}',
        ["missing-comma", "unquoted-text", "unquoted-key", "missing-comma", "trailing-comma"],
    ),
    "a Python dictionary": ("{'a': True, 'b': None}", ["single-quotes", "foreign-literal", "foreign-literal"]),
    "comments on every line": ('{ // a\n "b": 1, // c\n # d\n}', ["comment", "comment", "comment", "trailing-comma"]),
    "only token faults behind a bracket that does not fit": (
        '{"a": [1},\n "b" 2,\n "c": tru\n}',
        ["mismatched-bracket", "unquoted-text"],
    ),
    "a truncated file": ('{"a": [{"b": 1,\n  "c": "de', ["unclosed-string"]),
}


def parsed(text: str) -> list[tuple[str, tuple[int, int] | None]]:
    found = parse("f.json", text.encode(), Budgets())
    assert found.value is None
    assert {fault.topic for fault in found.faults} <= {"invalid-json"}
    return [(fault.reason, fault.at.range) for fault in found.faults]


@pytest.mark.parametrize(("marked", "reason"), ONE.values(), ids=ONE.keys())
def test_one_mistake_gives_one_fault_exactly_there(marked: str, reason: str) -> None:
    text = marked.replace("«", "").replace("»", "")
    start, end = marked.index("«"), marked.index("»") - 1
    assert parsed(text) == [(reason, (start, end))]


@pytest.mark.parametrize(("text", "reasons"), SEVERAL.values(), ids=SEVERAL.keys())
def test_mistakes_on_other_lines_are_not_hidden(text: str, reasons: list[str]) -> None:
    assert [reason for reason, _ in parsed(text)] == reasons


def test_an_unclosed_bracket_is_related_to_where_it_was_opened() -> None:
    (fault,) = parse("f.json", b'{"a": [1', Budgets()).faults
    assert [(at.range, why) for at, why in fault.related] == [((6, 7), "opened")]
    assert fault.facts == {"expected": "]}"}


def test_a_repeated_key_is_found_beside_a_syntax_error() -> None:
    faults = parse("f.json", b'{"a": 1,\n "a": 2,\n "b": tru}', Budgets()).faults
    assert [fault.topic for fault in faults] == ["repeated-key", "invalid-json"]


def test_every_reason_has_a_sentence() -> None:
    from stagec.check.rules.document import syntax as rule

    told = {reason for _, reason in ONE.values()}
    assert told == set(rule._INVALID_JSON_SENTENCES)
