"""Names in messages are quoted, escaped and shortened."""

from __future__ import annotations

from stagec.core.words import format_count, listing, quote, shorten_digest


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
