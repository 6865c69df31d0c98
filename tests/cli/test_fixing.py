"""`--fix` writes what `--diff` shows, and nothing else."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]

ENTRY = '"entryStep": "initial.issue"'
WRONG = f"""{{
  "agentId": "small",
  "version": "1.0.0",
  "c1": "steps",
  {ENTRY},
  "steps": {{
    "initial.issue": {{
      "stepId": "initial.isue"
    }}
  }}
}}
"""
RIGHT = WRONG.replace("initial.isue", "initial.issue")
ONLY = ("--select", "step-key-mismatch")
DIFF = b"""\
--- a/steps_registry.json
+++ b/steps_registry.json
@@ -5,7 +5,7 @@
   "entryStep": "initial.issue",
   "steps": {
     "initial.issue": {
-      "stepId": "initial.isue"
+      "stepId": "initial.issue"
     }
   }
 }
"""


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    path = tmp_path / "steps_registry.json"
    path.write_text(WRONG)
    return path


def test_a_fix_is_written_and_counted(registry: Path, run: Run) -> None:
    ended = run("validate", "--fix", *ONLY)
    assert (ended.returncode, ended.stderr) == (0, b"Fixed 1 finding in steps_registry.json\n")
    assert ended.stdout.startswith(b"All clear: ")
    assert registry.read_text() == RIGHT


def test_a_second_fix_finds_nothing_to_do(registry: Path, run: Run) -> None:
    run("validate", "--fix", *ONLY)
    assert run("validate", "--fix", *ONLY).stderr == b"Fixed 0 findings\n"


def test_a_diff_shows_what_a_fix_would_do_and_does_nothing(registry: Path, run: Run) -> None:
    ended = run("validate", "--diff", *ONLY)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, DIFF, b"Would fix 1 finding in steps_registry.json\n")
    assert registry.read_text() == WRONG


def test_an_empty_diff_is_clean(registry: Path, run: Run) -> None:
    registry.write_text(RIGHT)
    ended = run("validate", "--diff", *ONLY)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"Would fix 0 findings\n")


def test_a_diff_of_standard_input_is_shown(registry: Path, run: Run) -> None:
    registry.write_text(RIGHT)
    ended = run("validate", "--diff", *ONLY, "-", "--stdin-filename", registry.name, text=WRONG.encode())
    assert (ended.returncode, ended.stdout) == (1, DIFF)
    assert registry.read_text() == RIGHT


def test_a_diff_says_where_a_line_feed_is_missing(registry: Path, run: Run) -> None:
    registry.write_text(WRONG.replace("\n", " "))
    told = run("validate", "--diff", *ONLY).stdout
    assert told.count(b"\n\\ No newline at end of file\n") == 2


def test_line_ends_and_mode_stay(registry: Path, run: Run) -> None:
    registry.write_bytes(WRONG.replace("\n", "\r\n").encode())
    registry.chmod(0o640)
    run("validate", "--fix", *ONLY)
    assert registry.read_bytes() == RIGHT.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(registry.stat().st_mode) == 0o640


def test_a_byte_order_mark_stays(registry: Path, run: Run) -> None:
    registry.write_bytes(b"\xef\xbb\xbf" + WRONG.encode())
    run("validate", "--fix", *ONLY)
    assert registry.read_bytes() == b"\xef\xbb\xbf" + RIGHT.encode()


def test_a_link_is_refused_and_its_file_stays(registry: Path, run: Run) -> None:
    target = registry.rename(registry.with_name("kept.json"))
    registry.symlink_to(target.name)
    ended = run("validate", "--fix", *ONLY)
    assert (ended.returncode, b"it is a link" in ended.stderr) == (2, True)
    assert registry.is_symlink()
    assert target.read_text() == WRONG


def test_nothing_is_written_through_a_link_out_of_the_project(
    registry: Path, tmp_path_factory: pytest.TempPathFactory, run: Run
) -> None:
    target = registry.rename(tmp_path_factory.mktemp("outside") / "kept.json")
    registry.symlink_to(target)
    run("validate", "--fix", *ONLY)
    assert target.read_text() == WRONG


def test_nothing_is_left_beside_a_mended_file(registry: Path, run: Run) -> None:
    run("validate", "--fix", *ONLY)
    assert [each.name for each in registry.parent.iterdir()] == [registry.name]


def test_a_read_only_file_is_refused(registry: Path, run: Run) -> None:
    registry.chmod(0o444)
    ended = run("validate", "--fix", *ONLY)
    assert (ended.returncode, b"it is read-only" in ended.stderr) == (2, True)
    assert registry.read_text() == WRONG


def test_unsafe_fixes_need_to_be_told_what_for(registry: Path, run: Run) -> None:
    assert run("validate", "--unsafe-fixes").returncode == 2
    assert registry.read_text() == WRONG


def test_a_patch_is_no_report(registry: Path, run: Run) -> None:
    ended = run("validate", "--diff", "--output", "json:report.json", *ONLY)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert not registry.with_name("report.json").exists()


def test_a_reporter_shows_what_is_left(registry: Path, run: Run) -> None:
    lost = '"transitions": {"next": {"target": "elsewhere"}}'
    registry.write_text(WRONG.replace('"stepId"', f'{lost}, "stepId"'))
    ended = run("validate", "--fix", "--format", "concise", "--select", "step-key-mismatch,unknown-target")
    assert (ended.returncode, ended.stdout.count(b"\n")) == (1, 1)
    assert b"unknown-target" in ended.stdout


def test_code_scanning_is_told_what_text_a_fix_replaces(registry: Path, run: Run) -> None:
    (result,) = json.loads(run("validate", "--format", "sarif", *ONLY).stdout)["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    (part,) = change["replacements"]
    region, rows = part["deletedRegion"], WRONG.split("\n")
    row = rows[region["startLine"] - 1]
    assert region["startLine"] == region["endLine"]
    fixed = row[: region["startColumn"] - 1] + part["insertedContent"]["text"] + row[region["endColumn"] - 1 :]
    assert fixed == RIGHT.split("\n")[region["startLine"] - 1]
