"""Stage objects in JSON files of any name are found in a folder, and other JSON is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.cli.app import run
from stagec.core.json import Json

Shown = pytest.CaptureFixture[str]
STAGE: dict[str, Json] = {
    "id": "plan",
    "body": "Plan it. When done, call submit_plan.",
    "allowedTools": ["grep"],
    "turnCap": 5,
    "completionTool": "submit_plan",
    "completionSchema": {"type": "object"},
}


def _check(folder: Path, text: str, capfd: Shown, *, named: bool = False) -> tuple[int, list[str]]:
    file = folder / "example.json"
    file.write_text(text, encoding="utf-8")
    status = run(["validate", "--format", "json", str(file if named else folder)])
    shown = capfd.readouterr().out
    return status, [each["code"] for each in json.loads(shown)["diagnostics"]] if shown else []


@pytest.mark.parametrize(
    "given",
    [
        STAGE,
        [STAGE, {**STAGE, "id": "review", "turnCap": 0}],
        {"id": "flow", "entry": "plan", "stages": [STAGE]},
        {name: each for name, each in STAGE.items() if name != "turnCap"},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_folder_says_of_stage_objects_what_their_file_says(
    given: Json, indent: int | None, tmp_path: Path, capfd: Shown
) -> None:
    found = _check(tmp_path, json.dumps(given, indent=indent), capfd)
    assert found[1]
    assert found == _check(tmp_path, json.dumps(given, indent=indent), capfd, named=True)


def test_a_broken_file_with_a_stage_is_told(tmp_path: Path, capfd: Shown) -> None:
    text = json.dumps(STAGE, indent=2).replace('"turnCap": 5,', '"turnCap": 5,,')
    assert _check(tmp_path, text, capfd) == (1, ["STG106"])


@pytest.mark.parametrize(
    "given",
    [
        {"properties": {name: {"type": "string"} for name in STAGE}},
        {"log": [{"stage": STAGE}, {"stage": STAGE}]},
        {"id": "x", "turnCap": 1},
        {"note": "allowedTools, completionTool and turnCap"},
    ],
)
def test_other_json_with_the_words_of_stages_is_left_alone(given: Json, tmp_path: Path, capfd: Shown) -> None:
    assert _check(tmp_path, json.dumps(given), capfd) == (3, [])


def test_the_plan_of_a_stage_is_none(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "pipeline.json").write_text(
        json.dumps({"id": "flow", "entry": "plan", "stages": [STAGE]}), encoding="utf-8"
    )
    assert run(["compile", str(tmp_path), "-o", str(tmp_path / "flow.plan.json")]) == 0
    assert run(["validate", str(tmp_path)]) == 0
    assert "1 flow with 1 node, 1 file" in capfd.readouterr().out


def test_a_stage_that_a_pipeline_lists_is_judged_once(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "pipeline.yaml").write_text("id: flow\nentry: plan\nstages: [example.json]\n", encoding="utf-8")
    assert _check(tmp_path, json.dumps(STAGE), capfd) == (0, ["STG376"])
