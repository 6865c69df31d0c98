"""The corpus: real agents never crash stagec, mutants are told, and answers are not looked at."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement, Row
from stagec_dev.tools.answer import AskedRow, ask_rows

_ANSWERS = {"rules", "places", "severity", "expect", "upstream", "description", "stagec", "expected", "note"}
_SECTIONS = ("reg.", "xref.", "step.", "gate.")


def rows(name: str) -> list[AskedRow]:
    """Return the rows that are listed under a file of the corpus."""
    if "STAGEC_CORPUS" not in os.environ:
        return []
    return [each for each in ask_rows(Path(os.environ["STAGEC_CORPUS"])) if each.row.file == name]


def label(each: AskedRow) -> str:
    return each.row.id


needs_corpus = pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
MUTANTS = rows("mutants/mutants.json")


@pytest.mark.parametrize("agent", rows("agents"), ids=label)
def test_a_real_agent_does_not_crash_stagec(agent: AskedRow) -> None:
    got: Any = agent.answer()
    assert agent.compare(got) is Agreement.AGREE, got


@pytest.mark.parametrize(
    "mutant", [each for each in MUTANTS if any(slug.startswith(_SECTIONS) for slug in each.row.rules)], ids=label
)
def test_a_fault_in_a_registry_is_told_where_it_is_and_once(mutant: AskedRow) -> None:
    got: Any = mutant.answer()
    assert mutant.compare(got) is Agreement.AGREE, json.dumps(got, indent=1)


@needs_corpus
def test_an_answer_does_not_depend_on_the_answer_in_the_row() -> None:
    for each in MUTANTS[:10]:
        bare = {key: given for key, given in each.row.given.items() if key not in _ANSWERS}
        assert AskedRow(each.root, Row(each.row.file, each.row.id, bare), each.kind).answer() == each.answer()
