"""Random YAML in every style: formatting keeps its meaning and its comments, and changes nothing when done again."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from campaigns import choose
from properties.test_quick_yaml import Writer

from stagec.check.formatting import FormattedFile, format_file
from stagec.core.budgets import Budgets
from stagec.core.value import replace
from stagec.sources.read import Sources

BUDGETS = Budgets()
CHUNKS, CHUNK = choose(2, whole=6), choose(200, whole=500)


def lay_out(name: str, kind: str, data: bytes) -> FormattedFile | None:
    """Return a text formatted, and nothing where it cannot be read; a change of its meaning is an error."""
    tree = Sources(Path("/"), BUDGETS, {name: data}).tree(name, kind)
    if tree is None or not tree.readable or tree.value is None:
        return None
    return format_file(name, replace(tree, kind=kind), BUDGETS)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_of_random_texts(chunk: int) -> None:
    formatted = 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        text = Writer(Random(seed)).text()
        name, kind = (("pipeline.yaml", "pipeline"), ("plan.md", "stage"))[seed % 3 == 0]
        data = (f"---\n{text}\n---\n- b  : \n" if kind == "stage" else text).encode(errors="replace")
        found = lay_out(name, kind, data)
        if found is None or found.unusual:
            continue
        formatted += 1
        again = lay_out(name, kind, found.after)
        assert again is not None, (seed, text)
        assert again.after == found.after, (seed, text)
        assert list_comments(found.after) == list_comments(data), (seed, text)
    assert formatted > CHUNK / 4


def list_comments(data: bytes) -> list[bytes]:
    return sorted(re.findall(rb"#[ \t]*\w*", data))
