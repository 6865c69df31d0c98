"""Rows of envelopes and stage plans: answered without their answers, and compared as they are meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement
from stagec_dev.tools.answer import ask_rows


def stage(name: str, *needs: str, **members: Any) -> dict[str, Any]:
    inputs = {each: f"{each}/out_df.parquet" for each in needs}
    made = {"stageId": name, "goal": f"Do the work of {name}", "inputs": inputs, "outputs": {"o": "out_df.parquet"}}
    return {**made, "maxDurationSec": 60, "dependencies": [*needs], **members}


def agreement(root: Path, file: str, row: dict[str, Any]) -> Agreement:
    path = root / "stage-protocol" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"vectors": [row]}), encoding="utf-8")
    (asked,) = ask_rows(root)
    return asked.compare(asked.answer())


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        ({}, []),
        ({"inputs": {"a": 1}}, ["inputs.a:type"]),
        ({"goal": "short"}, ["goal:minLength"]),
        ({"goal": " " * 12}, []),
        ({"stageId": "S02_eda"}, ["stageId:pattern"]),
        ({"maxDurationSec": 601, "retryable": None}, ["maxDurationSec:maximum", "retryable:type"]),
    ],
)
def test_a_row_about_the_schema_is_judged_to_the_letter(
    tmp_path: Path, change: dict[str, Any], errors: list[str]
) -> None:
    row = {"envelope": {**stage("S01_load_data"), **change}, "literal_schema_errors": errors, "literal_ok": not errors}
    assert agreement(tmp_path, "envelopes_boundary.json", row) is Agreement.AGREE
    wrong = {**row, "literal_schema_errors": [*errors, "outputs:required"], "literal_ok": False}
    assert agreement(tmp_path, "envelopes_boundary.json", wrong) is Agreement.DISAGREE


def test_a_row_about_an_envelope_names_everything_that_is_said(tmp_path: Path) -> None:
    row = {"envelope": stage("S02_eda"), "recommended_envelope_mode": [["stage-id-missing-noun", "warning", "stageId"]]}
    assert agreement(tmp_path, "envelopes_documented.json", row) is Agreement.AGREE
    assert (
        agreement(tmp_path, "envelopes_documented.json", {**row, "recommended_envelope_mode": []}) is Agreement.DISAGREE
    )


@pytest.mark.parametrize("name", ["S02_eda", "S1_load", "", "Load Data", "S01_load_data\n"])
def test_an_id_is_never_rewritten(tmp_path: Path, name: str) -> None:
    row = {"input": name, "hash": "S33_x_y", "session": "S01_x_y"}
    assert agreement(tmp_path, "mcp_normalize_stage_id.json", row) is Agreement.AGREE


def test_stages_begin_in_the_order_of_their_needs_then_of_their_numbers_then_of_their_words(tmp_path: Path) -> None:
    stages = [
        stage("S03_train_b"),
        stage("S03_train_a"),
        stage("S01_load_data"),
        stage("S02_clean_data", "S03_train_b"),
    ]
    told = [
        ["shared-sequence-number", "info", "stages[1].stageId"],
        ["dependency-order", "warning", "stages[3].dependencies[0]"],
    ]
    order = ["S01_load_data", "S03_train_a", "S03_train_b", "S02_clean_data"]
    row = {"stages": stages, "recommended": told, "topological_order": order}
    assert agreement(tmp_path, "plans_recommended.json", row) is Agreement.AGREE
    assert (
        agreement(tmp_path, "plans_recommended.json", {**row, "topological_order": order[::-1]}) is Agreement.DISAGREE
    )
