"""The tags of retry prompts: balanced whatever is written, and each that means nothing has its reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.languages.registry.conduct import DEEPEST, Defect, TagRole, find_tags

PARTS = (
    "{{#each a}}",
    "{{/each}}",
    "{{#if b}}",
    "{{else}}",
    "{{/if}}",
    "{{c}}",
    "text",
    "{{",
    "}}",
    "{{#each}}",
    "{{/x",
)


@given(st.lists(st.sampled_from(PARTS), max_size=60).map("".join))
def test_what_counts_is_balanced_and_what_does_not_count_has_a_reason(text: str) -> None:
    opened: list[tuple[str, bool]] = []
    for tag in find_tags(text):
        match tag.role:
            case TagRole.OPEN:
                opened.append((tag.kind, False))
            case TagRole.TURN:
                assert opened.pop() == ("if", False)
                opened.append(("if", True))
            case TagRole.CLOSE:
                assert opened.pop()[0] == tag.kind
        assert (tag.defect is None) or tag.role is TagRole.NONE
        assert len(opened) <= DEEPEST
    assert opened == []


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
def test_a_text_in_which_a_tag_counts_for_nothing_has_a_defect(text: str) -> None:
    found = find_tags(text)
    assert any(each.defect for each in found) == any(each.role is TagRole.NONE for each in found)


@pytest.mark.parametrize(
    ("text", "defects"),
    [
        ("{{#each a}}", [Defect.UNCLOSED]),
        ("{{#each a}}{{#if b}}", [Defect.UNCLOSED, Defect.UNCLOSED]),
        ("{{#if a}}{{else}}", [Defect.UNCLOSED]),
        ("{{#if a}}{{#each b}}{{/if}}", [Defect.UNCLOSED]),
        ("{{#each a}}{{#if b}}{{else}}{{/each}}", [Defect.UNCLOSED]),
        ("{{/if}}", [Defect.UNOPENED]),
        ("{{else}}", [Defect.STRAY_ELSE]),
        ("{{#if a}}{{else}}{{else}}{{/if}}", [Defect.SECOND_ELSE]),
        ("{{#if a}}" * 34 + "{{/if}}" * 34, [Defect.TOO_DEEP, Defect.TOO_DEEP]),
        ("{{#if}}", [Defect.UNREADABLE]),
        ("{{#if a}}{{else}}{{/if}} {{x}} {{", []),
    ],
)
def test_one_mistake_is_one_defect(text: str, defects: list[Defect]) -> None:
    assert [each.defect for each in find_tags(text) if each.defect is not None] == defects
