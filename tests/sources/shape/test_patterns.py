"""Regular expressions that are read and never run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import ends

from stagec.sources.shape.patterns import PatternTrouble, trouble

LONGEST = 1_000
NESTED = [
    r"(a+)+$", r"(a*)*", r"(a|a)*", r"(a|aa)+", r"([a-z]+)*x", r"(.*,)*", r"(\w+\s?)*$", r"^(\s*\w+)*$",
    r"(\d+|\w+)*", r"(a{1,2})+", r"(aa?)+", r"((a+)b?)*", r"([/\w .-]*)*", r"(?:(?:x+)y?)+", r"(a+){50}", r"(a|b|ab)*",
]  # fmt: skip
HARMLESS = [
    r"^[a-z]+(-[a-z]+)*$", r"^(kind:(impl|consider|design)|order:[1-9])$", r"(\\.|[^\\])*", r"(a+b)+", r"(foo|far)*",
    r"(a|ab)*c", r"^\d+(\.\d+){0,2}$", r"^(\w+\.)+\w+$", r"^[\w.+-]+@[\w-]+\.[\w.-]+$", r"^([a-z0-9]+-)*[a-z0-9]+$",
    r"^#/", r"a{,3}", r"{", r"}]", r"(?=.*a)(?!b).*", r"(?<year>\d{4})-\k<year>", r"", r"[]", r"[^]", r"\p{L}+",
    r"^([0-9]{1,3}\.){3}[0-9]{1,3}$", r"^v?\d+\.\d+(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$", r"a+?b", r"[\w-.]+",
    r"[a\-z]+", r"[-a]", r"[a-]", r"\x41\u0041", r"(one|two|three)+", r"^/([a-z]+/)*$", r"(\w+ )*\w+",
]  # fmt: skip
BROKEN = ["(", "a)", "[a", "*a", "a**", "(?P", "[z-a]", "a{3,1}", "\\", "(|*)", "+", "a|*", "((a)", "^*", r"\b+"]


@pytest.mark.parametrize("pattern", NESTED)
def test_a_repetition_that_can_be_divided_in_several_ways_is_found(pattern: str) -> None:
    assert trouble(pattern, LONGEST) is PatternTrouble.NESTED


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_harmless_pattern_is_let_through(pattern: str) -> None:
    assert trouble(pattern, LONGEST) is None


@pytest.mark.parametrize("pattern", BROKEN)
def test_what_is_no_regular_expression_is_found(pattern: str) -> None:
    assert trouble(pattern, LONGEST) is PatternTrouble.SYNTAX


def test_a_pattern_that_is_too_long_is_not_read() -> None:
    assert trouble("(" * 1_001, LONGEST) is PatternTrouble.LONG


@given(st.text(alphabet="ab()[]{}|*+?\\^$.-,:=!<>3dwk", max_size=60))
def test_any_text_is_read_without_a_crash(pattern: str) -> None:
    trouble(pattern, LONGEST)


@pytest.mark.parametrize(
    "pattern",
    ["(a|" * 300 + ")*" * 300, "|".join(f"a{n}" for n in range(2_000)), "[" * 10_000, "(" * 5_000 + ")" * 5_000],
    ids=["nested", "alternatives", "brackets", "groups"],
)
def test_the_time_is_linear_in_the_length(pattern: str) -> None:
    with ends():
        trouble(pattern, 1_000_000)
