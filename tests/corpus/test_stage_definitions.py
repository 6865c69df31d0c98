"""Stage definitions of the corpus: every row that can be answered without running anything is answered as it should."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.corpus import Asked
from stagec_dev.row import Agreement, Row
from stagec_dev.rows.stage_definitions import STAGE_DEFINITIONS

_ANSWERS = {"expect", "ok", "stagec", "refs", "note", "name"}


def rows() -> list[Asked]:
    """Return the rows of the folder, without walking the rest of the corpus."""
    if "STAGEC_CORPUS" not in os.environ:
        return []
    root = Path(os.environ["STAGEC_CORPUS"])
    files = sorted(each.relative_to(root).as_posix() for each in (root / "stage-definitions").rglob("*.*"))
    claimed = [file for file in files if STAGE_DEFINITIONS.claims(file)]
    return [Asked(root, row, STAGE_DEFINITIONS) for file in claimed for row in STAGE_DEFINITIONS.rows(root, file)]


def label(each: Asked) -> str:
    return f"{Path(each.row.file).name}-{each.row.id}"


ROWS = rows()


@pytest.mark.parametrize("each", ROWS, ids=label)
def test_a_row_is_answered_as_the_corpus_says(each: Asked) -> None:
    got: Any = each.answer()
    assert each.compare(got) in {Agreement.AGREE, Agreement.NOT_YET}, json.dumps(got, indent=1)


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_an_answer_does_not_depend_on_the_answer_in_the_row() -> None:
    for each in ROWS[::4]:
        bare = {key: given for key, given in each.row.given.items() if key not in _ANSWERS}
        assert Asked(each.root, Row(each.row.file, each.row.id, bare), each.kind).answer() == each.answer()
