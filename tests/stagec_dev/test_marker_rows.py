"""Rows of markers: what is compared, and with which of two answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement
from stagec_dev.tools.answer import ask_rows

BEGIN = {"type": "STAGE", "subtype": "begin", "attributes": {}, "content": "", "lineNumber": 1, "valid": True}
ODD = {**BEGIN, "type": "ODD", "valid": False}
NONE: dict[str, Any] = {"markers": [], "validCount": 0, "unknownCount": 0, "unknownTypes": []}
ROWS: dict[str, tuple[dict[str, Any], Agreement]] = {
    "both": ({"expected_ts": {**NONE, "markers": [BEGIN], "validCount": 1}}, Agreement.AGREE),
    "no marker": ({"expected_ts": NONE}, Agreement.DISAGREE),
    "other count": ({"expected_ts": {**NONE, "markers": [BEGIN], "validCount": 2}}, Agreement.DISAGREE),
    "other line": ({"expected_ts": {**NONE, "markers": [{**BEGIN, "lineNumber": 2}]}}, Agreement.DISAGREE),
    "py": (
        {"expected_ts": NONE, "expected_py": [{**BEGIN, "category": "workflow"}], "recommended": "py (why)"},
        Agreement.AGREE,
    ),
    "category": ({"expected_py": [{**BEGIN, "category": "insights"}], "recommended": "py"}, Agreement.DISAGREE),
    "ts": ({"expected_ts": NONE, "expected_py": [BEGIN], "recommended": "ts"}, Agreement.DISAGREE),
    "own": ({"expected_ts": NONE, "recommended": [BEGIN]}, Agreement.AGREE),
    "no answer": ({}, Agreement.UNKNOWN),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_compared_with_the_answer_that_it_recommends(tmp_path: Path, name: str) -> None:
    given, wanted = ROWS[name]
    (tmp_path / "stage-protocol").mkdir()
    path = tmp_path / "stage-protocol" / "markers_own.json"
    path.write_text(json.dumps({"vectors": [{"id": name, "text": "[STAGE:begin]\n", **given}]}))
    (asked,) = ask_rows(tmp_path)
    assert asked.compare(asked.answer()) == wanted


def test_unknown_types_are_listed_once(tmp_path: Path) -> None:
    answer = {"markers": [ODD, {**ODD, "lineNumber": 2}], "validCount": 0, "unknownCount": 2, "unknownTypes": ["ODD"]}
    (tmp_path / "stage-protocol").mkdir()
    row = {"id": "odd", "text": "[ODD:begin]\n[ODD:begin]", "expected_ts": answer}
    (tmp_path / "stage-protocol" / "markers_own.json").write_text(json.dumps([row]))
    (asked,) = ask_rows(tmp_path)
    assert asked.compare(asked.answer()) is Agreement.AGREE
