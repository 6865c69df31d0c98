"""Texts that contain another one are found as if each was looked at."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from stagec.languages.envelopes.inputs import SubstringIndex

TEXTS = st.text("ab/\0", max_size=12)


@given(st.lists(TEXTS, max_size=8), st.text("ab/\0", max_size=7))
@example(["ab" * 3_000, "b", "", "ba/ab"], "baba")
@example(["ab" * 3_000, "b", "", "ba/ab"], "")
def test_what_is_found_is_what_looking_at_each_text_finds(texts: list[str], part: str) -> None:
    assert SubstringIndex(texts).find(part) == [at for at, each in enumerate(texts) if part in each]
