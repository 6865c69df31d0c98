"""`stagec init --from` writes a stage definition, and never over a file unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec.cli.app import run

AGENT = "---\nname: reviewer\ntools: [Read]\nmodel: opus\n---\nReview it.\n"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    path = tmp_path / "agent.md"
    path.write_text(AGENT, encoding="utf-8")
    return path


def test_the_stage_goes_to_standard_output_and_the_remarks_aside(
    agent: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", "--from", str(agent)]) == 0
    shown = capfd.readouterr()
    assert shown.out.startswith("---\nid: reviewer\n")
    assert shown.err.splitlines() == [
        "stagec: note: what only you can decide is marked with '# yours to decide'",
    ]


def test_a_file_is_written_and_not_replaced_unasked(agent: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stage = agent.parent / "stage.md"
    assert run(["init", "--from", str(agent), "-o", str(stage)]) == 0
    written = stage.read_text(encoding="utf-8")
    stage.write_text("mine", encoding="utf-8")
    assert run(["init", "--from", str(agent), "-o", str(stage)]) == 2
    assert "exists; --force replaces it" in capfd.readouterr().err
    assert stage.read_text(encoding="utf-8") == "mine"
    assert run(["init", "--from", str(agent), "-o", str(stage), "--force"]) == 0
    assert stage.read_text(encoding="utf-8") == written


def test_a_broken_agent_file_is_refused(agent: Path, capfd: pytest.CaptureFixture[str]) -> None:
    agent.write_text("---\nname: a: b\n", encoding="utf-8")
    assert run(["init", "--from", str(agent)]) == 2
    assert "cannot be read as it is" in capfd.readouterr().err


def test_an_agent_file_that_is_not_there_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "--from", str(tmp_path / "none.md")]) == 2
    assert "does not exist" in capfd.readouterr().err
