"""Configurations are compared with what a program does; here a script is the program."""

from pathlib import Path

import pytest

from stagec_dev.__main__ import main


@pytest.mark.parametrize(("status", "agreeing"), [(0, 0), (1, 1)])
def test_a_difference_fails(status: int, agreeing: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "node_modules" / ".bin" / "codex"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nexit {status}\n", encoding="utf-8")
    program.chmod(0o755)
    assert main(["owners", "codex", "--programs", str(tmp_path), "--mutants", "1"]) == 1 - agreeing
    out = capsys.readouterr().out
    assert f"{agreeing} of 1 files are judged as @openai/codex@0.171.0 judges them" in out
    assert ("'approval_policy' must be 'on-failure'" in out) is not bool(agreeing)


@pytest.mark.parametrize(("said", "agreeing"), [("✖ The following skills failed to load:", 1), ("", 0)])
def test_a_program_may_end_well_without_the_file(
    said: str, agreeing: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "node_modules" / ".bin" / "copilot"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{said}'\n", encoding="utf-8")
    program.chmod(0o755)
    words = ["owners", "copilot-skill", "--programs", str(tmp_path), "--mutants", "1", "--from", "1"]
    assert main(words) == 1 - agreeing
    out = capsys.readouterr().out
    assert f"{agreeing} of 1 files are judged as @github/copilot@1.0.102 judges them" in out
    assert ("Copilot does not load the skill: 'name' must be a text" in out) is not bool(agreeing)
