"""Stage definitions of the corpus: every row is answered as it should be, by checking a project or by running it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement, Row
from stagec_dev.rows.stage_definitions import STAGE_DEFINITIONS
from stagec_dev.tools.answer import AskedRow

_ANSWERS = {"expect", "ok", "error", "stagec", "refs", "note", "name", "sha256", "calls", "out", "manifest"}
_OUT_OF_SCOPE = frozenset({"approval-stack", "continuation-controller", "grant-token-sequences", "headless"})
"""Files of `cases/` of which some rows are about what a ruling keeps out of stagec."""


def rows() -> list[AskedRow]:
    """Return the rows of the folder, without walking the rest of the corpus."""
    if "STAGEC_CORPUS" not in os.environ:
        return []
    root = Path(os.environ["STAGEC_CORPUS"])
    files = sorted(each.relative_to(root).as_posix() for each in (root / "stage-definitions").rglob("*.*"))
    claimed = [file for file in files if STAGE_DEFINITIONS.claims(file)]
    return [AskedRow(root, row, STAGE_DEFINITIONS) for file in claimed for row in STAGE_DEFINITIONS.rows(root, file)]


def label(each: AskedRow) -> str:
    return f"{Path(each.row.file).name}-{each.row.id}"


ROWS = rows()


@pytest.mark.parametrize("each", ROWS, ids=label)
def test_a_row_is_answered_as_the_corpus_says(each: AskedRow) -> None:
    got: Any = each.answer()
    may_be_out = Path(each.row.file).stem in _OUT_OF_SCOPE
    wanted = {Agreement.AGREE, Agreement.OUT_OF_SCOPE} if may_be_out else {Agreement.AGREE}
    assert each.compare(got) in wanted, json.dumps(got, indent=1)


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_an_answer_does_not_depend_on_the_answer_in_the_row() -> None:
    for each in ROWS[::3]:
        bare = {key: _bare(given) if key == "steps" else given for key, given in each.row.given.items()}
        bare = {key: given for key, given in bare.items() if key not in _ANSWERS}
        assert AskedRow(each.root, Row(each.row.file, each.row.id, bare), each.kind).answer() == each.answer()


def _bare(steps: list[list[Any]]) -> list[list[Any]]:
    """Return steps without what they come to; the decision of one that issues a grant is none of that."""
    return [step if step[0] == "issue" else step[:2] for step in steps]
