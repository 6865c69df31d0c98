"""Projects that once kept a promise of stagec from being true: each is judged as it says, and runs when it should."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement
from stagec_dev.tools.answer import AskedRow, ask_rows

OPEN: frozenset[str] = frozenset()
"""Cases that are not yet as they want to be; a case that is must leave this list."""


def cases() -> list[AskedRow]:
    if "STAGEC_CORPUS" not in os.environ:
        return []
    lists = {"soundness/index.json", "promise/index.json"}
    return [each for each in ask_rows(Path(os.environ["STAGEC_CORPUS"])) if each.row.file in lists]


CASES = cases()
needs_corpus = pytest.mark.skipif(not CASES, reason="STAGEC_CORPUS is not set")


@pytest.mark.parametrize("case", CASES, ids=lambda each: each.row.id)
def test_a_case_is_judged_as_it_wants(case: AskedRow) -> None:
    got: Any = case.answer()
    wanted = Agreement.DISAGREE if case.row.id in OPEN else Agreement.AGREE
    assert case.compare(got) is wanted, json.dumps({"want": case.row.given["want"], "got": got})


@needs_corpus
def test_only_cases_that_exist_are_open() -> None:
    assert {each.row.id for each in CASES} >= OPEN
