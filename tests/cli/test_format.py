"""`stagec format` names what it changes, shows it, writes it, or says why it does not."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rights import ordinary_rights

from stagec.check.pipeline import Project
from stagec.cli.app import run as run_here
from stagec.sources.tree import Tree

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]

STAGE = """---
name: Plan
id: plan
allowedTools: [ Read ]
completionTool: submit
completionSchema: {type: object}
retryPolicy: {maxAttempts: 1, backoff: none}
turnCap: 3
resolutionPolicy: fail
---
Plan  it.
"""
FORMATTED = STAGE.replace("name: Plan\nid: plan", "id: plan\nname: Plan").replace("[ Read ]", "[Read]")
PATCH = b"""\
--- a/stages/plan.md
+++ b/stages/plan.md
@@ -1,7 +1,7 @@
 ---
+id: plan
 name: Plan
-id: plan
-allowedTools: [ Read ]
+allowedTools: [Read]
 completionTool: submit
 completionSchema: {type: object}
 retryPolicy: {maxAttempts: 1, backoff: none}
"""


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    path = tmp_path / "stages" / "plan.md"
    path.parent.mkdir()
    path.write_bytes(STAGE.encode())
    (tmp_path / "notes.json").write_bytes(b'{"z":1}')
    (tmp_path / "pipeline.yaml").write_bytes(b"id: p\nentry: plan\nstages:\n  - stages/plan.md\nnext:\n  plan: null\n")
    return path


def test_files_are_written_and_named(stage: Path, run: Run) -> None:
    ended = run("format")
    assert (ended.returncode, ended.stdout) == (0, b"formatted stages/plan.md\n"), ended.stderr
    assert ended.stderr == b"1 file formatted, 1 file left as it is\n"
    assert stage.read_bytes() == FORMATTED.encode()
    assert (stage.parents[1] / "notes.json").read_bytes() == b'{"z":1}'
    again = run("format", "--check")
    assert (again.returncode, again.stdout) == (0, b"")


def test_a_check_writes_nothing(stage: Path, run: Run) -> None:
    ended = run("format", "--check", "--quiet")
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, b"would format stages/plan.md\n", b"")
    assert stage.read_bytes() == STAGE.encode()


@pytest.mark.needs("git")
def test_a_diff_is_a_patch(stage: Path, run: Run) -> None:
    ended = run("format", "--diff", "--quiet")
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, PATCH, b"")
    assert stage.read_bytes() == STAGE.encode()
    applied = subprocess.run(["git", "apply", "-"], cwd=stage.parents[1], input=ended.stdout, check=False)
    assert (applied.returncode, stage.read_bytes()) == (0, FORMATTED.encode())


def test_a_diff_has_colours_on_a_terminal_alone(
    stage: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stage.parents[1])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    stage.write_bytes(STAGE.replace("maxAttempts", "\N{RIGHT-TO-LEFT OVERRIDE}").encode())
    assert run_here(["format", "--diff", "-q"]) == 1
    shown = capsys.readouterr().out
    assert "\x1b[31m-id: plan\x1b[0m\n" in shown
    assert "\x1b[32m+id: plan\x1b[0m\n" in shown
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in shown


def test_standard_input_is_formatted_to_standard_output(stage: Path, run: Run) -> None:
    ended = run("format", "-", "--stdin-filename", "stages/plan.md", "-q", text=STAGE.encode())
    assert (ended.returncode, ended.stdout) == (0, FORMATTED.encode())
    assert stage.read_bytes() == STAGE.encode()
    checked = run("format", "-", "--stdin-filename", "stages/plan.md", "--check", "-q", text=STAGE.encode())
    assert (checked.returncode, checked.stdout) == (1, b"would format stages/plan.md\n")
    shown = run("format", "-", "--stdin-filename", "stages/plan.md", "--diff", "-q", text=STAGE.encode())
    assert (shown.returncode, shown.stdout) == (1, PATCH)


def test_what_is_no_document_passes_through(stage: Path, run: Run) -> None:
    ended = run("format", "-", "--stdin-filename", "notes.json", "-q", text=b'{"y" :1}')
    assert (ended.returncode, ended.stdout) == (0, b'{"y" :1}')


def test_broken_standard_input_gives_nothing(stage: Path, run: Run) -> None:
    ended = run("format", "-", "--stdin-filename", "pipeline.yaml", text=b"id: [\n")
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b"pipeline.yaml:" in ended.stderr


def test_a_broken_file_is_told_and_left_alone_and_the_others_are_formatted(stage: Path, run: Run) -> None:
    pipeline = stage.parents[1] / "pipeline.yaml"
    pipeline.write_bytes(b"id: p\nentry: 'plan\nstages: []\n")
    ended = run("format")
    assert (ended.returncode, ended.stdout) == (1, b"formatted stages/plan.md\n")
    assert b"pipeline.yaml:2:8: error[STG107]" in ended.stderr, ended.stderr
    assert b"left 'pipeline.yaml' unchanged" in ended.stderr
    assert pipeline.read_bytes() == b"id: p\nentry: 'plan\nstages: []\n"


def test_a_rare_form_is_told_and_is_no_failure(stage: Path, run: Run) -> None:
    pipeline = stage.parents[1] / "pipeline.yaml"
    pipeline.write_bytes(pipeline.read_bytes() + b"? name\n: N\n")
    ended = run("format")
    assert ended.returncode == 0
    assert b"left 'pipeline.yaml' as it is: line 7 has a form that stagec does not lay out" in ended.stderr


def test_only_what_is_named_is_formatted(stage: Path, run: Run) -> None:
    (stage.parent / "write.md").write_bytes(STAGE.replace("id: plan", "id: write").encode())
    ended = run("format", "stages/write.md")
    assert ended.stdout == b"formatted stages/write.md\n"
    assert stage.read_bytes() == STAGE.encode()
    inside = run("format", "stages")
    assert inside.stdout == b"formatted stages/plan.md\n"


def test_names_are_those_of_where_the_user_stands(
    stage: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stage.parent)
    assert run_here(["format", "--check", "--root", ".."]) == 1
    assert capsys.readouterr().out == "would format plan.md\n"


def test_a_link_leads_to_the_file_that_is_formatted(stage: Path, run: Run) -> None:
    target = stage.parents[1] / "shared" / "plan.md"
    target.parent.mkdir()
    stage.rename(target)
    stage.symlink_to(Path("..", "shared", "plan.md"))
    ended = run("format")
    assert (ended.returncode, ended.stdout) == (0, b"formatted shared/plan.md\n"), ended.stderr
    assert stage.is_symlink()
    assert target.read_bytes() == FORMATTED.encode()


def test_a_link_out_of_the_project_is_not_followed(stage: Path, run: Run, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.md"
    stage.rename(outside)
    stage.symlink_to(outside)
    ended = run("format")
    assert ended.returncode == 1
    assert outside.read_bytes() == STAGE.encode()


def test_a_read_only_file_is_refused_and_nothing_is_written(stage: Path, run: Run) -> None:
    other = stage.parent / "write.md"
    other.write_bytes(STAGE.replace("id: plan", "id: write").encode())
    other.chmod(0o444)
    ended = run("format")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"cannot write 'stages/write.md': it is read-only" in ended.stderr
    assert stage.read_bytes() == STAGE.encode()
    assert run("format", "--check", "-q").stdout == b"would format stages/plan.md\nwould format stages/write.md\n"


def test_a_folder_that_cannot_be_written_is_a_failure(stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(stage.parents[1])
    stage.parent.chmod(0o555)
    try:
        with ordinary_rights():
            assert run_here(["format"]) == 2
    finally:
        stage.parent.chmod(0o755)
    assert stage.read_bytes() == STAGE.encode()
    assert os.listdir(stage.parent) == ["plan.md"]


def test_a_file_that_changes_meanwhile_is_not_written(stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stagec.cli.commands import format as command

    monkeypatch.chdir(stage.parents[1])
    read = command.read_trees

    def read_and_change(project: Project) -> tuple[Tree, ...]:
        trees = read(project)
        stage.write_bytes(b"mine\n")
        return trees

    monkeypatch.setattr(command, "read_trees", read_and_change)
    assert run_here(["format"]) == 2
    assert stage.read_bytes() == b"mine\n"


def test_a_file_keeps_its_mode(stage: Path, run: Run) -> None:
    stage.chmod(0o640)
    run("format")
    assert stat.S_IMODE(stage.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    "words",
    [
        ("--stdin-filename", "x"),
        ("-",),
        ("-", "stages", "--stdin-filename", "x"),
        ("--root", ".", "-", "--stdin-filename", "/x.md"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(stage: Path, run: Run, words: tuple[str, ...]) -> None:
    ended = run("format", *words, text=b"")
    assert (ended.returncode, ended.stdout) == (2, b"")


def test_nothing_to_format_is_told(tmp_path: Path, run: Run) -> None:
    assert run("format").returncode == 3
    assert run("format", "--allow-empty").returncode == 0
