"""Manifests are read and written as ECMAScript and RFC 8785 do."""

from __future__ import annotations

import json

import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.core.json import Json
from stagec.ir.protocol.checkpoint import DEEPEST, digest_canonical, digest_stringified, read_json, stringify

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab-_ é", max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
@settings(max_examples=choose(60, whole=300))
def test_plain_values_are_written_as_every_implementation_writes_them(given: Json) -> None:
    assert stringify(given) == json.dumps(given, indent=2, ensure_ascii=False)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1.0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("1E400", "null"),
        ("-1e400", "null"),
        ("9007199254740993", "9007199254740992"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ("9" * 5000, "null"),
        ('"\\u0000\\u001f\\u007f\\u2028\\/"', '"\\u0000\\u001f\x7f\u2028/"'),
        ('"\\ud800"', '"\\ud800"'),
        ('"\\ud83c\\udf0d"', '"\U0001f30d"'),
        ("[]", "[]"),
        ("[{}]", "[\n  {}\n]"),
        ('{"b":1,"10":2,"2":3,"01":4,"-1":5,"4294967295":6}', None),
    ],
)
def test_odd_values_are_written_as_ecmascript_writes_them(text: str, written: str | None) -> None:
    found = stringify(read_json(text.encode()))
    if written is None:
        assert list(json.loads(found)) == ["2", "10", "b", "01", "-1", "4294967295"]
    else:
        assert found == written


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"NaN", b"[Infinity]", b"\xef\xbb\xbf{}", b"\xff", b"1 2", b"[" * 100_000, b"[" * 70 + b"]" * 70],
)
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(data)


def test_as_many_levels_as_allowed_are_read() -> None:
    assert read_json(b"[" * DEEPEST + b"]" * DEEPEST)


def test_a_digest_covers_every_member_but_itself() -> None:
    one = {"a": 1, "manifestSha256": "x"}
    assert digest_stringified(one) == digest_stringified({**one, "manifestSha256": "y"})
    assert digest_stringified(one) != digest_stringified({**one, "b": None})
    assert digest_canonical(one) != digest_canonical({**one, "b": None})


def test_only_the_foreign_digest_depends_on_the_order_of_members() -> None:
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert digest_stringified(one) != digest_stringified(other)
    assert digest_canonical(one) == digest_canonical(other)


def test_what_has_no_canonical_text_has_no_digest() -> None:
    assert digest_canonical({"a": "\ud800"}) is None
