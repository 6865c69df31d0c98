from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.core.words import format_count, listing, quote, shorten_digest, visible


def test_control_characters_and_direction_marks_are_escaped() -> None:
    assert quote("a\x1b[31m\u202eb\n") == "'a\\x1b[31m\\u202eb\\n'"


def test_the_middle_of_a_long_name_is_left_out() -> None:
    assert quote("a" * 50 + "b" * 50) == f"'{'a' * 40}…{'b' * 20}'"


def test_a_list_reads_like_a_sentence() -> None:
    assert listing(["a"]) == "'a'"
    assert listing(["a", "b", "c"], "or") == "'a', 'b' or 'c'"


def test_a_long_list_says_how_many_more_there_are() -> None:
    assert listing(range(12)).endswith("'7' and 4 more")


def test_numbers_agree_with_their_noun() -> None:
    assert (format_count(1, "error"), format_count(2, "error"), format_count(0, "error")) == (
        "1 error",
        "2 errors",
        "0 errors",
    )


def test_a_digest_is_shortened_to_what_tells_a_few_apart() -> None:
    assert shorten_digest(f"sha256:{'0123456789abcdef' * 4}") == "sha256:0123456789ab"
    assert shorten_digest("0123456789abcdef") == "0123456789ab"


def test_of_many_names_only_those_that_are_shown_are_looked_at() -> None:
    class Name:
        shown = 0

        def __str__(self) -> str:
            Name.shown += 1
            return "it"

    assert listing([Name() for _ in range(1000)]).endswith("and 992 more")
    assert Name.shown == 8


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
