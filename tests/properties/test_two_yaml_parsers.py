"""The fast YAML parser reads what the one that explains reads, places included, for random and damaged texts."""

from __future__ import annotations

from random import Random

import pytest
from properties.test_quick_yaml import BUDGETS, Writer

from stagec.core.value import replace
from stagec.sources.yaml_text.compose import _attempt, _explain, compose, fast_events
from stagec.sources.yaml_text.nodes import Kind, YamlNode

CHUNKS, CHUNK = 8, 400


def plain(node: YamlNode | None) -> YamlNode | None:
    """Return a node without the differences nobody sees: how a plain scalar is marked, where nothing stands."""
    if node is None:
        return None
    nothing = node.kind is Kind.SCALAR and node.start == node.end
    items = tuple(each for item in node.items if (each := plain(item)) is not None)
    return replace(node, items=items, start=0 if nothing else node.start, end=0 if nothing else node.end)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_both_parsers_take_means_the_same(chunk: int) -> None:
    both = alone = 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        text = Writer(Random(seed)).text().replace("\t", " ")  # noqa: S311
        slow = _explain(text, BUDGETS)
        fast = _attempt(text, BUDGETS, fast_events(text, BUDGETS.depth))
        if slow.trouble is None and fast.trouble is None:
            assert (plain(fast.root), fast.second) == (plain(slow.root), slow.second), (seed, text)
            both += 1
        alone += (slow.trouble is None) != (fast.trouble is None)
    assert both > CHUNK / 4
    assert alone < CHUNK / 20


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: b: c\n", "colon"),
        ("a: [b\nc: d\n", "unclosed-bracket"),
        ("a: @b\n", "reserved"),
        ("a: *b c\n", "alias"),
        ("a:\n  b: c\n d: e\n", "indentation"),
        ('a: "b" c\n', "after-quote"),
        ('a: "\\q"\n', "escape"),
        ("%FOO\na: b\n%\n", "directive"),
        ("\ta: b\n", "tab"),
    ],
)
def test_the_mistake_in_a_long_text_is_the_one_of_a_short_one(text: str, reason: str) -> None:
    long = f"# {'x' * 30_000}\n{text}" if not text.startswith("%") else f"{text}# {'x' * 30_000}\n"
    found = [compose(each, BUDGETS).trouble for each in (text, long)]
    assert [each.reason if each else None for each in found] == [reason, reason]


def test_a_text_of_too_many_values_is_refused() -> None:
    budgets = replace(BUDGETS, nodes=100)
    assert compose(f"[&a b, {'c,' * 50}]", budgets).trouble is None
    trouble = compose(f"[&a b, {'c,' * 100}]", budgets).trouble
    assert trouble is not None
    assert (trouble.topic, trouble.reason, trouble.facts["limit"]) == ("oversized-file", "values", 100)
