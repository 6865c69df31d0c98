"""The tutorials, followed to the letter: every file written as shown, every command run, and the example at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nursery
import pytest

TOP = Path(__file__).parents[2]
GUIDE = TOP / "docs" / "user-guide"
FENCE = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = "$ stagec "


class Step(NamedTuple):
    """A file to write or to change, or without a file a command to run and what it prints."""

    kind: str
    file: str
    text: str


def steps(page: str) -> Iterator[Step]:
    for fence in FENCE.finditer((GUIDE / page).read_text(encoding="utf-8")):
        if fence["file"] or fence["kind"] == "console":
            yield Step(fence["kind"], fence["file"] or "", fence["text"])


def change(text: str, diff: str) -> str:
    """Replace the lines of a diff without `+`, which occur once, by those without `-`."""
    lines = diff.splitlines(keepends=True)
    before, after = ("".join(line[1:] for line in lines if line[0] != sign) for sign in "+-")
    assert text.count(before) == 1, diff
    return text.replace(before, after)


def printed(folder: Path, command: str) -> str:
    ended = nursery.run(command.split(), folder, nursery.environment())
    return (ended.stdout + ended.stderr).decode()


@pytest.mark.parametrize(
    ("page", "example"), [("tutorial-repair-loop.md", "docs-repair"), ("tutorial-code-review.md", "code-review")]
)
def test_a_tutorial_does_what_it_says_and_ends_with_the_example(page: str, example: str, tmp_path: Path) -> None:
    for kind, file, text in steps(page):
        if file:
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(change(path.read_text(), text) if kind == "diff" else text, encoding="utf-8")
            continue
        command, _, shown = text.partition("\n")
        assert command.startswith(COMMAND)
        assert printed(tmp_path, command.removeprefix(COMMAND)) == shown, command
    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    there = TOP / "registries" / example
    kept = {path.relative_to(there): path.read_text() for path in there.rglob("*") if path.is_file()}
    left_out = {Path("README.md"), Path("scenario.yaml"), Path("tools.lock.json"), Path(f"{example}.flow-test.yaml")}
    assert made == {path: text for path, text in kept.items() if path not in left_out}
