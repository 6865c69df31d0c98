"""Whatever anybody wrote can be printed on one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.core.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("step 'a'", "step 'a'"),
        ("審査　する", "審査　する"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\u202edoc\u2066", "\\u202edoc\\u2066"),
        ("\u2028\x85\x9b\xa0", "\\u2028\\x85\\x9b\\xa0"),
        ("\udcff", "\\udcff"),
        ("x ##[error]y ##vso[z] ### [w]", "x #\\x23[error]y #\\x23vso[z] ### [w]"),
    ],
)
def test_what_is_not_harmless_is_shown_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_an_encoding_lacks_is_shown_escaped() -> None:
    assert visible("äö… €", "ascii") == "\\xe4\\xf6... \\u20ac"
    assert visible("äö… €", "latin-1") == "äö... \\u20ac"


@given(st.text(st.characters()), st.sampled_from(["ascii", "utf-8", "latin-1", "cp932"]))
def test_everything_can_be_written(text: str, encoding: str) -> None:
    shown = visible(text, encoding)
    shown.encode(encoding)
    assert len(shown.splitlines()) <= 1
    assert shown.replace("\u3000", "").isprintable()
