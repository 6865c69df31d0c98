"""The tutorials, followed to the letter: every file written as shown, every command run, and the example at the end."""

from __future__ import annotations

from pathlib import Path

import pages
import pytest
from registries.test_blocks import give, lines

TOP = Path(__file__).parents[2]
GUIDE = TOP / "docs" / "user-guide"


@pytest.mark.parametrize(
    ("page", "example"), [("tutorial-repair-loop.md", "docs-repair"), ("tutorial-code-review.md", "code-review")]
)
def test_a_tutorial_does_what_it_says_and_ends_with_the_example(page: str, example: str, tmp_path: Path) -> None:
    for block in pages.blocks((GUIDE / page).read_text(encoding="utf-8")):
        if block.words:
            pages.write(tmp_path, block)
        else:
            for line in lines(block.text):
                give(tmp_path, line)
    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    there = TOP / "registries" / example
    kept = {path.relative_to(there): path.read_text() for path in there.rglob("*") if path.is_file()}
    left_out = {Path("README.md"), Path("scenario.yaml"), Path("tools.lock.json"), Path(f"{example}.flow-test.yaml")}
    assert made == {path: text for path, text in kept.items() if path not in left_out}
