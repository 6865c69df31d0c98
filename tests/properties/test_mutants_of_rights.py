"""A right too many is told where it is given, and the project without it has none to tell."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest
from permitted import compile_with_rights
from properties.mutants.projects import EXAMPLES, load_project
from properties.mutants.rights import OPERATORS

PROJECTS = {
    "STG551": "support-desk/apart",
    "STG552": "support-desk/apart",
    "STG553": "project-flow",
    "STG554": "issue-flow",
}


@pytest.mark.parametrize("code", OPERATORS)
def test_a_right_too_many_is_told_where_it_is_given(code: str, tmp_path: Path) -> None:
    source = EXAMPLES / PROJECTS[code]
    root = tmp_path / "project"
    shutil.copytree(source, root)
    base = load_project(source)
    assert [each.code for each in compile_with_rights(root).diagnostics if each.code in OPERATORS] == []
    changes = list(OPERATORS[code](base, Random(code)))
    assert changes
    for change in changes:
        kept = {file: (root / file).read_bytes() for file in change.files}
        for file, data in change.files.items():
            assert data is not None
            (root / file).write_bytes(data)
        told = {(each.at.file, each.at.pointer) for each in compile_with_rights(root).diagnostics if each.code == code}
        assert set(change.places) <= told, (change.places, told)
        for file, data in kept.items():
            (root / file).write_bytes(data)


@pytest.mark.parametrize("name", sorted(each.name for each in EXAMPLES.iterdir()))
def test_only_the_example_that_shows_it_has_a_right_too_many(name: str) -> None:
    said = compile_with_rights(EXAMPLES / name).diagnostics
    found = [(each.code, each.at.file) for each in said if each.code in OPERATORS]
    assert found == ([("STG551", "together/answer.md")] if name == "support-desk" else [])
