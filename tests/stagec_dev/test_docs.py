"""Pages of rules: written, found current, found stale."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stagec_dev.__main__ import main
from stagec_dev.checkout import ROOT


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(
        ROOT / "tests" / "rules", tmp_path / "tests" / "rules", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


def test_pages_are_current_once_they_are_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--root", str(root)]) == 0
    assert main(["docs", "--check", "--root", str(root)]) == 0
    assert capsys.readouterr().out == ""


def test_a_changed_page_is_not_current(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["docs", "--root", str(root)])
    (root / "docs" / "rules" / "index.md").write_text("changed", encoding="utf-8")
    assert main(["docs", "--check", "--root", str(root)]) == 1
    assert capsys.readouterr().out == "not current: docs/rules/index.md\n"


def test_a_page_without_a_rule_is_removed(root: Path) -> None:
    main(["docs", "--root", str(root)])
    stray = root / "docs" / "rules" / "STG000.md"
    stray.write_text("stray", encoding="utf-8")
    assert main(["docs", "--check", "--root", str(root)]) == 1
    main(["docs", "--root", str(root)])
    assert not stray.exists()
