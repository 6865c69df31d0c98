"""What a checkout says of projects is the same text wherever they lie, and a difference is found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stagec_dev.__main__ import main
from stagec_dev.checkout import ROOT
from stagec_dev.tools.outputs import compare

EXAMPLE = ROOT / "registries" / "docs-repair"


def _write(top: Path) -> Path:
    """Write a folder with two projects, one of them with a mistake, and return the file with what is said of them."""
    for name in ("good", "bad"):
        shutil.copytree(EXAMPLE, top / "projects" / name)
    (top / "projects" / "bad" / "pipeline.yaml").write_text("entry: 5\n", encoding="utf-8")
    out = top / "out.txt"
    assert main(["outputs", str(out), str(top / "projects")]) == 0
    return out


def test_all_that_is_said_of_projects_is_the_same_in_two_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = _write(tmp_path / "one"), _write(tmp_path / "two" / "below")
    text = first.read_text(encoding="utf-8")
    assert text.encode() == second.read_bytes()
    assert str(tmp_path) not in text
    parts = dict(each.partition("\n")[::2] for each in text.removeprefix("== ").split("\n== "))
    assert [*parts] == [
        f"projects/{name}: {part}" for name in ("bad", "good") for part in ("findings", "plans", "drawings", "traces")
    ]
    assert "error STG" in parts["projects/bad: findings"]
    assert parts["projects/good: plans"].startswith('{"digest":"sha256:')
    assert parts["projects/good: drawings"].startswith('{"format": "stagec.graph/1"')
    assert '"event": "WorkflowExit"' in parts["projects/good: traces"]
    projects = str(tmp_path / "one" / "projects")
    assert main(["outputs", str(second), projects, "--against", str(first)]) == 0
    assert capsys.readouterr().out == "the same output\n"
    stage = tmp_path / "one" / "projects" / "good" / "write.md"
    stage.write_text(stage.read_text(encoding="utf-8") + "One word more.\n", encoding="utf-8")
    assert main(["outputs", str(second), projects, "--against", str(first)]) == 1
    told = capsys.readouterr().out
    assert told.startswith("== projects/good: plans\n- ")
    assert "== projects/good: traces\n- " in told
    assert "projects/bad" not in told


def test_the_first_difference_of_each_part_is_shown() -> None:
    old = f"== a\nsame\n{'x' * 500}old\n== b\nlast\n"
    new = f"== a\nsame\n{'x' * 500}new\n== b\nlast\nmore\n== c\n"
    assert [*compare(old, new)] == [
        f"== a\n- {'x' * 120}old\n+ {'x' * 120}new",
        "== b\n- \n+ more",
        "== c\n- \n+ == c",
    ]
