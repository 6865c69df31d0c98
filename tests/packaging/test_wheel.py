"""What is shipped, and what is not."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Return the wheel as it is built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    ended = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_every_module_is_shipped(wheel: zipfile.ZipFile) -> None:
    modules = {str(path.relative_to(TOP / "compiler")) for path in (TOP / "compiler" / "stagec").rglob("*.py")}
    shipped = {name for name in wheel.namelist() if name.endswith(".py")}
    assert {name for name in shipped if not name.startswith(("stagec/registries/", "stagec/starters/"))} == modules


def test_schemas_and_examples_are_shipped(wheel: zipfile.ZipFile) -> None:
    files = {
        f"stagec/{path.relative_to(folder.parent)}"
        for folder in (TOP / "schemas", TOP / "registries", TOP / "compiler" / "starters")
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert files - set(wheel.namelist()) == set()


def test_vectors_are_shipped_without_the_runner_beside_them(wheel: zipfile.ZipFile) -> None:
    folder = TOP / "tests" / "plan_vectors"
    files = {f"stagec/vectors/{path.relative_to(folder)}" for path in folder.rglob("*.json")}
    assert {name for name in wheel.namelist() if name.startswith("stagec/vectors/")} == files
    assert sum(each.compress_size for each in wheel.infolist() if each.filename in files) < 200_000


def test_what_modules_read_is_shipped_beside_them(wheel: zipfile.ZipFile) -> None:
    read = {
        str(path.relative_to(TOP / "compiler")): path
        for path in (TOP / "compiler" / "stagec").rglob("*")
        if path.is_file() and path.suffix != ".py" and path.parent.name != "__pycache__"
    }
    beside = ("stagec/schemas/", "stagec/registries/", "stagec/starters/", "stagec/vectors/")
    inside = {name for name in wheel.namelist() if name.startswith("stagec/") and not name.startswith(beside)}
    assert {name for name in inside if not name.endswith(".py")} == read.keys()
    assert {"prices.toml", "known_labels.json", "fallback_prompts.md", "index.html", "py.typed"} <= {
        path.name for path in read.values()
    }
    assert [name for name, path in read.items() if wheel.read(name) != path.read_bytes()] == []


def test_nothing_else_is_shipped(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"stagec"}
