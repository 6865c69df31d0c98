"""Rows about stage plans: ids, plans, the statuses of stages and the times of their watchdog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement
from stagec_dev.tools.answer import ask_rows


def _envelope(stage_id: str, *dependencies: str) -> dict[str, Any]:
    written = {"stageId": stage_id, "goal": "Do the work of this stage", "inputs": {}, "outputs": {"out": "out.json"}}
    return {**written, "maxDurationSec": 60, "dependencies": [*dependencies]}


TWO = [_envelope("S02_clean_data", "S01_load_data"), _envelope("S01_load_data")]
WIDE = [*TWO, _envelope("S03_tune_model"), _envelope("S01_load_prices")]
SHARED = ["shared-sequence-number", "info", "stages[3].stageId"]
UNKNOWN = ["unknown-dependency", "error", "stages[0].dependencies[0]"]
SEED = {"kind": "recommended", "maxDurationSec": 580, "tier": "Maximum", "soft": 580, "hard_sigint": 600}
ROWS: list[tuple[str, dict[str, Any], Agreement]] = [
    ("stage_ids", {"stageId": "S02_eda", "recommended": [["stage-id-missing-noun", "warning"]]}, Agreement.AGREE),
    ("stage_ids", {"stageId": "S02_eda", "recommended": [["stage-id-missing-noun", "error"]]}, Agreement.DISAGREE),
    ("stage_ids", {"stageId": "S02_eda", "recommended": []}, Agreement.DISAGREE),
    ("stage_ids", {"stageId": "S01_do_stuff", "recommended": [["stage-id-vague-verb", "warning"]]}, Agreement.AGREE),
    ("stage_ids", {"stageId": "S10_notify_team", "recommended": [["stage-id-unknown-verb", "info"]]}, Agreement.AGREE),
    (
        "plans_recommended",
        {"stages": TWO, "recommended": [], "topological_order": ["S01_load_data", "S02_clean_data"]},
        Agreement.AGREE,
    ),
    (
        "plans_recommended",
        {"stages": TWO, "recommended": [], "topological_order": ["S02_clean_data", "S01_load_data"]},
        Agreement.DISAGREE,
    ),
    (
        "plans_recommended",
        {
            "stages": WIDE,
            "recommended": [SHARED],
            "topological_order": ["S01_load_data", "S01_load_prices", "S02_clean_data", "S03_tune_model"],
        },
        Agreement.AGREE,
    ),
    ("plans_recommended", {"stages": TWO[:1], "recommended": [UNKNOWN], "topological_order": None}, Agreement.AGREE),
    (
        "plans_recommended",
        {"stages": TWO[:1], "recommended": [[*UNKNOWN[:2], "stages[0].dependencies"]], "topological_order": None},
        Agreement.DISAGREE,
    ),
    ("state_machine", {"from": "PENDING", "event": "start", "to": "RUNNING"}, Agreement.AGREE),
    ("state_machine", {"from": "PENDING", "event": "success", "to": None}, Agreement.AGREE),
    ("state_machine", {"from": "PENDING", "event": "success", "to": "COMPLETED"}, Agreement.DISAGREE),
    ("watchdog", {**SEED, "sigterm": 605, "sigkill": 608, "grace": 20, "clamped": True}, Agreement.AGREE),
    ("watchdog", {**SEED, "sigterm": 605, "sigkill": 610, "grace": 20, "clamped": True}, Agreement.DISAGREE),
    ("watchdog", {"kind": "upstream-doc", "maxDurationSec": 240}, Agreement.OUT_OF_SCOPE),
]


@pytest.mark.parametrize(("file", "given", "wanted"), ROWS)
def test_a_row_is_compared_with_what_is_wanted(
    tmp_path: Path, file: str, given: dict[str, Any], wanted: Agreement
) -> None:
    (tmp_path / "stage-protocol").mkdir()
    (tmp_path / "stage-protocol" / f"{file}.json").write_text(json.dumps({"vectors": [given]}))
    (asked,) = ask_rows(tmp_path)
    assert asked.compare(asked.answer()) is wanted
