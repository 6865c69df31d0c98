"""Which catalogues a project has."""

from __future__ import annotations

import json
from pathlib import Path

from stagec.check.pipeline import Project, compile_project
from stagec.core.json import Json
from stagec.sources.project.settings import Settings

SERVERS: Json = {"mcpServers": {}}


def project(root: Path, **files: Json) -> None:
    for name, body in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body if isinstance(body, str) else json.dumps(body), encoding="utf-8")


def read(root: Path, *named: str) -> tuple[list[str], list[str]]:
    """Return the files that were read, and the codes of what was found."""
    compilation = compile_project(Project(root, tuple(root / each for each in named), Settings()))
    return sorted(compilation.trees), [each.code for each in compilation.diagnostics]


def test_files_with_a_dot_are_found(tmp_path: Path) -> None:
    project(tmp_path, **{".mcp.json": SERVERS, "a__.mcp.json": {"mcpServers": []}})
    assert read(tmp_path) == ([".mcp.json", "a/.mcp.json"], ["STG121"])


def test_files_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    project(tmp_path, **{"tools.json": {"tools": 3}, "a__tools.yaml": "- a\n- b\n", "b__tools.yml": "name: [\n"})
    assert read(tmp_path) == ([], [])


def test_a_file_that_is_named_is_judged(tmp_path: Path) -> None:
    project(tmp_path, **{"tools.json": {"tools": 3}})
    assert read(tmp_path, "tools.json") == (["tools.json"], ["STG125"])


def test_a_catalogue_may_have_another_name(tmp_path: Path) -> None:
    project(tmp_path, **{"all.yaml": "bundled: [Read, Read]\n"})
    assert read(tmp_path, "all.yaml") == (["all.yaml"], ["STG501"])


def test_a_lock_is_judged_with_its_catalogue(tmp_path: Path) -> None:
    project(tmp_path, **{"tools.yaml": "bundled: [Read, Read]\n", "tools.lock.json": {"version": 2, "servers": {}}})
    assert read(tmp_path, "tools.lock.json") == (["tools.lock.json", "tools.yaml"], ["STG122", "STG501"])


def test_a_lock_of_another_program_is_left_alone(tmp_path: Path) -> None:
    project(tmp_path, **{"tools.lock.json": {"anything": 1}})
    assert read(tmp_path) == ([], [])


def test_one_finding_for_a_file_that_two_catalogues_share(tmp_path: Path) -> None:
    project(tmp_path, **{"a__tools.yaml": "bundled: []\n", "b__tools.yaml": "bundled: []\n", ".mcp.json": {}})
    files, codes = read(tmp_path)
    assert (files, codes) == ([".mcp.json", "a/tools.yaml", "b/tools.yaml"], ["STG510"])
