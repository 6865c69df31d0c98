"""The pattern of the hook is made of what the front ends read: it is current here, and found stale when changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec_dev.__main__ import main
from stagec_dev.checkout import ROOT

HOOKS = ".pre-commit-hooks.yaml"


def test_the_pattern_of_this_checkout_is_current() -> None:
    assert main(["hooks", "--check"]) == 0


@pytest.mark.parametrize("instead", ["", "|hooks/other\\.json"])
def test_a_changed_pattern_is_found_and_written_again(
    instead: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / HOOKS).read_text(encoding="utf-8")
    (tmp_path / HOOKS).write_text(text.replace("|hooks/hooks\\.json", instead), encoding="utf-8")
    assert main(["hooks", "--check", "--root", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"not current: {HOOKS}\n"
    assert main(["hooks", "--root", str(tmp_path)]) == 0
    assert (tmp_path / HOOKS).read_text(encoding="utf-8") == text


def test_a_pattern_in_one_line_is_replaced(tmp_path: Path) -> None:
    text = (ROOT / HOOKS).read_text(encoding="utf-8")
    before, _, rest = text.partition("  files: |\n")
    (tmp_path / HOOKS).write_text(f"{before}  files: 'x'\n{rest[rest.index('- id') :]}", encoding="utf-8")
    assert main(["hooks", "--root", str(tmp_path)]) == 0
    assert (tmp_path / HOOKS).read_text(encoding="utf-8") == text
