"""A stage that was complete elsewhere counts in a run that is resumed, as far as somebody trusts its checkpoint."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from stagec.cli.app import run
from stagec.cli.running.runs import open_run

Shown = pytest.CaptureFixture[str]
LOAD = """
import json, os, sys
sys.exit(3) if os.path.exists("broken") else open(json.loads(os.environ["STAGEC_OUTPUTS"])["df"], "w").write("data")
"""
CLEAN = """
import json, os
text = open(json.loads(os.environ["STAGEC_INPUTS"])["df"]).read()
open(json.loads(os.environ["STAGEC_OUTPUTS"])["clean"], "w").write(text + " clean")
"""
PLAN = {
    "reportTitle": "tiny",
    "stages": [
        {
            "stageId": "S01_load_data",
            "goal": "Load some data into a file",
            "inputs": {},
            "outputs": {"df": "df.csv"},
            "maxDurationSec": 60,
            "retryable": False,
            "run": [sys.executable, "-c", LOAD],
        },
        {
            "stageId": "S02_clean_data",
            "goal": "Clean the data in the file",
            "inputs": {"df": "S01_load_data/df.csv"},
            "outputs": {"clean": "clean.csv"},
            "dependencies": ["S01_load_data"],
            "maxDurationSec": 60,
            "run": [sys.executable, "-c", CLEAN],
        },
    ],
}
MADE = Path("reports/tiny/there/checkpoints/ckpt-S01_load_data.json")
BROUGHT = Path("reports/tiny/here/checkpoints/ckpt-S01_load_data.json")


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    """Leave a run that is complete, and one of which the first stage has failed for good."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
    assert run(["compile", ".", "-o", "compiled.json"]) == 0
    assert run(["run", "compiled.json", "--run", "there"]) == 0
    (tmp_path / "broken").touch()
    assert run(["run", "compiled.json", "--run", "here"]) == 1
    capsys.readouterr()


def bring_in(trust: str, *flags: str) -> int:
    return run(["checkpoint", "import", str(MADE), "--into", "tiny/here", "--trust", trust, *flags])


def test_an_imported_stage_counts_with_a_warning(capsys: Shown) -> None:
    assert bring_in("imported") == 0
    assert run(["resume", "here"]) == 0
    assert "ckpt-S01_load_data is imported" in capsys.readouterr().err
    assert Path("reports/tiny/here/S02_clean_data/clean.csv").read_text(encoding="utf-8") == "data clean"


def test_an_untrusted_stage_counts_only_with_consent(capsys: Shown) -> None:
    assert bring_in("untrusted", "--allow-untrusted") == 0
    assert run(["resume", "here"]) == 2
    assert "--trust untrusted" in capsys.readouterr().err
    assert BROUGHT.exists()
    assert run(["resume", "here", "--trust", "untrusted"]) == 0
    assert Path("reports/tiny/here/S02_clean_data/clean.csv").exists()


@pytest.mark.parametrize("change", [b"atad", b"data and more"])
def test_a_stage_whose_file_was_changed_does_not_count(capsys: Shown, change: bytes) -> None:
    assert bring_in("imported") == 0
    Path("reports/tiny/here/S01_load_data/df.csv").write_bytes(change)
    assert run(["resume", "here"]) == 1
    assert "ckpt-S01_load_data is not valid" in capsys.readouterr().err
    assert not Path("reports/tiny/here/S02_clean_data").exists()


def test_nothing_is_brought_into_a_run_that_goes_on(capsys: Shown) -> None:
    with closing(open_run(Path(".stagec/runs/here.run"))):
        assert bring_in("imported") == 2
    assert "is being executed" in capsys.readouterr().err
    assert not BROUGHT.exists()
