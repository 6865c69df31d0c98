"""The same sources give the same plans, byte for byte, whatever is around them; other sources give others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from campaigns import choose

from stagec.core.value import replace
from stagec.ir.plan import load

TOP = Path(__file__).parents[2]
SEEDS = tuple(range(choose(2, whole=10)))
PYTHONS = tuple(filter(None, os.environ.get("STAGEC_PYTHONS", "").split(os.pathsep))) or (sys.executable,)
"""Pythons that `STAGEC_PYTHONS` names; each has stagec's dependencies installed."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with every example that has no errors."""
    target = tmp_path_factory.mktemp("determinism") / "project"
    shutil.copytree(TOP / "registries", target, ignore=shutil.ignore_patterns("broken-on-purpose"))
    return target


def plans(
    project: Path, out: Path, *, python: str = sys.executable, cwd: Path | None = None, **around: str
) -> Mapping[str, bytes]:
    """Return the plans that `stagec compile` makes of a project, by file name; there must be some."""
    environment = {"PYTHONPATH": str(TOP / "compiler"), "PATH": os.environ["PATH"], "PYTHONUTF8": "1", **around}
    argv = [python, "-m", "stagec", "compile", str(project), "--root", str(project), "-o", f"{out}{os.sep}"]
    ended = subprocess.run(argv, cwd=cwd or project, env=environment, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    found = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
    assert found
    return found


@pytest.fixture(scope="module")
def usual(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    return plans(project, tmp_path_factory.mktemp("usual"))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_hash_seed_does_not_matter(project: Path, usual: Mapping[str, bytes], tmp_path: Path, seed: int) -> None:
    assert plans(project, tmp_path, PYTHONHASHSEED=str(seed)) == usual


def test_the_locale_does_not_matter(project: Path, usual: Mapping[str, bytes], tmp_path: Path) -> None:
    assert plans(project, tmp_path, LC_ALL="C.UTF-8") == usual


def test_the_working_directory_the_place_and_the_order_of_the_files_do_not_matter(
    project: Path, usual: Mapping[str, bytes], tmp_path: Path
) -> None:
    copy = tmp_path / "elsewhere" / "copy"
    for path in sorted((path for path in project.rglob("*") if path.is_file()), reverse=True):
        target = copy / path.relative_to(project)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    assert plans(copy, tmp_path / "out", cwd=tmp_path) == usual


def test_the_python_does_not_matter(project: Path, usual: Mapping[str, bytes], tmp_path: Path) -> None:
    for number, python in enumerate(PYTHONS):
        assert plans(project, tmp_path / str(number), python=python) == usual


def test_one_byte_of_a_prompt_makes_another_plan(project: Path, usual: Mapping[str, bytes], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    prompt = copy / "code-review" / "stages" / "lint.md"
    prompt.write_bytes(prompt.read_bytes().replace(b"Mend nothing.", b"Mend nothing!"))
    changed = plans(copy, tmp_path / "out")
    assert [name for name in usual if changed[name] != usual[name]] == ["code-review.plan.json"]
    assert load(changed["code-review.plan.json"]).digest != load(usual["code-review.plan.json"]).digest


def test_writing_a_registry_otherwise_changes_only_the_digest_of_its_source(
    project: Path, usual: Mapping[str, bytes], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    registry = next(copy.glob("issue-flow/**/steps_registry.json"))
    registry.write_text(json.dumps(json.loads(registry.read_bytes()), indent=7), encoding="utf-8")
    changed = plans(copy, tmp_path / "out")
    differing = [name for name in usual if changed[name] != usual[name]]
    assert len(differing) == 1
    before, after = (load(each[differing[0]]).plan for each in (usual, changed))
    assert replace(before, sources=after.sources) == after
    assert [file for file in before.sources if before.sources[file] != after.sources[file]] == [registry.name]


def test_every_example_without_errors_has_a_plan(usual: Mapping[str, bytes]) -> None:
    examples = {path.name for path in (TOP / "registries").iterdir()} - {"broken-on-purpose"}
    assert len(usual) == len(examples) + 2  # two have two flows
