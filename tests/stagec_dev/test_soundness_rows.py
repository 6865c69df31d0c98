"""Cases of soundness: what each wants is compared with what validating, compiling and running it gives."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from stagec_dev.checkout import ROOT
from stagec_dev.rows import Agreement
from stagec_dev.tools.answer import AskedRow, ask_rows

WRONG = {"errors": 1, "codes": {"STG201": 1}, "compile": None, "run": None}
RIGHT = {"errors": 0, "codes": {}, "compile": 0, "run": None}
FAILED = {**RIGHT, "run": 1}


def case(folder: Path, name: str, want: str, scenario: object = None) -> AskedRow:
    """Copy an example as the only case of a corpus."""
    cases = folder / "soundness"
    shutil.copytree(ROOT / "registries" / name, cases / name)
    (cases / "index.json").write_text(json.dumps({"about": {}, "cases": {name: {"want": want, "what": "an example"}}}))
    if scenario is not None:
        (cases / f"{name}.scenario.json").write_text(json.dumps(scenario))
    (found,) = ask_rows(folder)
    return found


def test_a_case_with_errors_is_neither_compiled_nor_run(tmp_path: Path) -> None:
    found = case(tmp_path, "broken-on-purpose", "error", {})
    got: Any = found.answer()
    assert got["errors"]
    assert (got["compile"], got["run"]) == (None, None)
    assert found.compare(got) is Agreement.AGREE


def test_a_case_without_errors_is_compiled_and_run_with_its_scenario(tmp_path: Path) -> None:
    example = yaml.safe_load((ROOT / "registries" / "code-review" / "scenario.yaml").read_text())
    found = case(tmp_path, "code-review", "no-error", example)
    got: Any = found.answer()
    assert (got["errors"], got["compile"], got["run"]) == (0, 0, 0)
    assert found.compare(got) is Agreement.AGREE


@pytest.mark.parametrize(
    ("want", "agreeing", "disagreeing"),
    [
        ("error", WRONG, RIGHT),
        ("report", WRONG, FAILED),
        ("report-or-done", {**RIGHT, "run": 0}, FAILED),
        ("no-error", RIGHT, WRONG),
        ("no-error", RIGHT, {**RIGHT, "compile": 2}),
        ("one-error", WRONG, {**WRONG, "errors": 2}),
    ],
)
def test_an_answer_is_compared_with_what_the_case_wants(
    tmp_path: Path, want: str, agreeing: Any, disagreeing: Any
) -> None:
    found = case(tmp_path, "code-review", want)
    assert found.compare(agreeing) is Agreement.AGREE
    assert found.compare(disagreeing) is Agreement.DISAGREE
    assert found.compare({"exit": 4, "crash": "x"}) is Agreement.DISAGREE


def test_what_no_answer_is_known_for_is_unknown(tmp_path: Path) -> None:
    assert case(tmp_path, "code-review", "miracle").compare(RIGHT) is Agreement.UNKNOWN
