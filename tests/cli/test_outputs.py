"""`--output` writes reports to files: the one that is printed otherwise, and others of other formats beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.cli.app import run

Shown = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder of a repository whose one file is no JSON."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "steps_registry.json").write_text('{"agentId": }\n')
    monkeypatch.chdir(tmp_path / "in")


def test_a_file_without_a_format_gets_what_is_printed_otherwise(tmp_path: Path, capfd: Shown) -> None:
    assert run(["validate", "--format", "concise", "-o", "a.txt"]) == 1
    written = (tmp_path / "in" / "a.txt").read_text()
    assert capfd.readouterr().out == ""
    assert run(["validate", "--format", "concise"]) == 1
    assert capfd.readouterr().out == written


def test_files_with_formats_are_written_beside_what_is_printed(tmp_path: Path, capfd: Shown) -> None:
    assert run(["validate", "--format", "concise", "-o", "sarif:a.sarif", "-o", "gitlab:b.json", "-o", "c:d.txt"]) == 1
    (result,) = json.loads((tmp_path / "in" / "a.sarif").read_text())["runs"][0]["results"]
    (issue,) = json.loads((tmp_path / "in" / "b.json").read_text())
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (location["uri"], issue["location"]["path"]) == ("in/steps_registry.json", "in/steps_registry.json")
    assert (tmp_path / "in" / "c:d.txt").read_text().startswith("steps_registry.json:1:13: error[STG106]")
    assert capfd.readouterr().out == ""


def test_rules_are_explained_in_the_log(tmp_path: Path) -> None:
    run(["validate", "-o", "sarif:a.sarif"])
    (rule,) = json.loads((tmp_path / "in" / "a.sarif").read_text())["runs"][0]["tool"]["driver"]["rules"]
    assert rule["id"] == "STG106"
    assert "## How to fix" in rule["help"]["markdown"]


def test_a_file_that_cannot_be_written_is_an_error(capfd: Shown) -> None:
    assert run(["validate", "-o", "sarif:gone/a.sarif"]) == 2
    assert "gone/a.sarif" in capfd.readouterr().err
