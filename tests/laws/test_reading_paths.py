"""The reading paths of the architecture page are short, and lead to what they name."""

from __future__ import annotations

import re

import pytest
from laws.modules import PACKAGE, TOP

PAGE = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST = {
    "Where is a gate's answer routed?": 7,
    "Where is STG212 computed?": 5,
    "How does resume find its place?": 7,
}
"""How many files each path may have."""


def steps(question: str) -> list[tuple[str, list[str]]]:
    """Return the files of a path, each with the names that its line explains."""
    section = PAGE.partition(f"### {question}\n")[2].partition("\n#")[0]
    lines = re.findall(r"^\d+\. `([^`]+)`: (.*)$", section, re.MULTILINE)
    return [(file, re.findall(r"`([\w.]+)`", told)) for file, told in lines]


@pytest.mark.parametrize("question", MOST)
def test_a_path_is_short_and_its_files_are_there(question: str) -> None:
    files = [file for file, _ in steps(question)]
    assert 1 < len(files) <= MOST[question]
    assert [file for file in files if not (PACKAGE / file).is_file()] == []


@pytest.mark.parametrize("question", MOST)
def test_a_line_names_what_its_file_has(question: str) -> None:
    foreign = [
        f"{name} in {file}"
        for file, names in steps(question)
        for name in (part for named in names for part in named.split("."))
        if not re.search(rf"\b{name}\b", (PACKAGE / file).read_text(encoding="utf-8"))
    ]
    assert foreign == []
