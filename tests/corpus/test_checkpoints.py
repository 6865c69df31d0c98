"""Checkpoints, manifests and paths of the corpus: every row is answered as it should be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement, Row
from stagec_dev.rows.checkpoint_scenarios import CHECKPOINT_SCENARIOS
from stagec_dev.rows.protocol import ARTIFACT_PATHS, CHECKPOINT_MANIFESTS
from stagec_dev.tools.answer import AskedRow

_KINDS = (ARTIFACT_PATHS, CHECKPOINT_MANIFESTS, CHECKPOINT_SCENARIOS)
_ANSWERS = {"ok", "error", "resolved", "contained", "issue_paths", "issues", "sha256", "canonical", "note"}


def rows() -> list[AskedRow]:
    """Return the rows of the folder, without walking the rest of the corpus."""
    if "STAGEC_CORPUS" not in os.environ:
        return []
    root = Path(os.environ["STAGEC_CORPUS"])
    files = sorted(each.relative_to(root).as_posix() for each in (root / "stage-protocol").glob("*.json"))
    claimed = [(kind, file) for file in files for kind in _KINDS if kind.claims(file)]
    return [AskedRow(root, row, kind) for kind, file in claimed for row in kind.rows(root, file)]


ROWS = rows()
needs_corpus = pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")


@pytest.mark.parametrize("each", ROWS, ids=lambda each: f"{Path(each.row.file).stem}-{each.row.id}")
def test_a_row_is_answered_as_the_corpus_says(each: AskedRow) -> None:
    got: Any = each.answer()
    assert each.compare(got) in {Agreement.AGREE, Agreement.OUT_OF_SCOPE}, got


@needs_corpus
def test_few_rows_are_out_of_scope() -> None:
    scenarios = [each for each in ROWS if each.kind is CHECKPOINT_SCENARIOS]
    outcomes = [each.compare(each.answer()) for each in scenarios]
    assert outcomes.count(Agreement.OUT_OF_SCOPE) < len(scenarios) / 10


@needs_corpus
def test_an_answer_does_not_depend_on_the_answer_in_the_row() -> None:
    for each in [each for each in ROWS if each.kind is not CHECKPOINT_SCENARIOS][::10]:
        bare = {key: given for key, given in each.row.given.items() if key not in _ANSWERS}
        assert AskedRow(each.root, Row(each.row.file, each.row.id, bare), each.kind).answer() == each.answer()
