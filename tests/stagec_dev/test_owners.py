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
