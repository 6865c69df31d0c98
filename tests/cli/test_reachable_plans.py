"""`--without-unreachable` is said to whoever uses it, and means the same to every command."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[bytes]]

EXAMPLE = Path(__file__).parents[2] / "registries" / "docs-repair"
STAGE = """---
id: orphan
turnCap: 0
allowedTools: [Read]
completionTool: done_orphan
---
Nobody leads here.
"""


def test_a_plan_without_what_no_run_reaches_is_written_checked_and_verified(tmp_path: Path, run: Run) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "flow")
    (tmp_path / "flow" / "orphan.md").write_text(STAGE, encoding="utf-8")
    option = "--without-unreachable"
    assert run("compile", "flow", "-o", "a.plan.json").returncode == 1
    ended = run("compile", "flow", "-o", "a.plan.json", option)
    assert ended.returncode == 0
    assert b"without 'orphan', which no run reaches" in ended.stderr
    assert b"error[" not in ended.stderr
    assert b"warning[STG170]" in ended.stderr
    assert run("compile", "flow", "-o", "a.plan.json", "--check", option).returncode == 0
    assert run("verify", "a.plan.json", "--against", "flow", option).returncode == 0
    assert run("verify", "a.plan.json", "--against", "flow").returncode == 1
    assert run("verify", "a.plan.json", option).returncode == 2
    assert run("validate", "flow").returncode == 1
