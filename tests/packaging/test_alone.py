"""Installed without the extra `dbos`, stagec brings and imports nothing of it, and says what lacks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from playable import STEPS, steps

from stagec.ir.plan import dump

TOP = Path(__file__).parents[2]
OF_THE_ENGINE = ("dbos", "sqlalchemy", "psycopg", "alembic")


def list_needed(extra: str = "") -> set[str]:
    """Return the distributions that stagec needs, and what those need, with an extra or without."""
    found: dict[str, str] = {}
    left = [("stagec", extra)]
    while left:
        name, chosen = left.pop()
        for text in distribution(name).requires or ():
            needed = Requirement(text)
            is_needed = needed.marker is None or needed.marker.evaluate({"extra": chosen})
            if is_needed and needed.name not in found:
                found[needed.name] = canonicalize_name(needed.name)
                left += [(needed.name, each) for each in ("", *needed.extras)]
    return set(found.values())


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the wheel and what it needs; nothing comes from a network."""
    folder = tmp_path_factory.mktemp("alone")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=TOP, check=True)
    place = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    here = Path(sysconfig.get_path("purelib"))
    for name in list_needed():
        for file in distribution(name).files or ():
            source = Path(str(file.locate()))
            if source.is_relative_to(here) and source.suffix != ".pyc":
                target = place / source.relative_to(here)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
    python = environment / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "--no-compile", wheel]
    subprocess.run(pip, check=True)
    return python


def execute(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Execute a command of stagec with the list of what it imports on standard error."""
    return subprocess.run(
        [python, "-X", "importtime", "-m", "stagec", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"STAGEC_NO_CACHE": "1", "PATH": "", "LC_ALL": "C.UTF-8"},
    )


def test_nothing_else_is_installed(python: Path) -> None:
    words = [sys.executable, "-m", "pip", "--python", python, "list", "--format", "json"]
    listed = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert {canonicalize_name(each["name"]) for each in listed} == {"stagec", *list_needed()}
    assert set(OF_THE_ENGINE).isdisjoint(list_needed())
    assert {"dbos", "sqlalchemy", "psycopg"} <= list_needed("dbos")
    checked = subprocess.run([sys.executable, "-m", "pip", "--python", python, "check"], check=False)
    assert checked.returncode == 0


def test_nothing_of_the_engine_is_imported(python: Path, tmp_path: Path) -> None:
    (tmp_path / "steps.plan.json").write_bytes(dump(steps()))
    (tmp_path / "steps.yaml").write_text(f"{STEPS}commands: {{exit 0: {{exit: 0}}}}\n", encoding="utf-8")
    run = ("run", "steps.plan.json", "--scenario", "steps.yaml", "--input", "topic=cats", "--run", "one")
    example = str(TOP / "registries" / "docs-repair")
    for words in (("--help",), ("validate", example), run, ("runs", "list"), ("worker", "--help")):
        done = execute(python, tmp_path, *words)
        assert done.returncode == 0, (words, done.stdout)
        imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
        assert "stagec" in imported
        assert imported.isdisjoint(OF_THE_ENGINE)


@pytest.mark.parametrize(
    "words", [("worker",), ("submit", "steps.plan.json"), ("database", "migrate"), ("runs", "list")]
)
def test_what_needs_the_extra_says_so(python: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "steps.plan.json").write_bytes(dump(steps()))
    given = ("--input", "topic=cats") if words[0] == "submit" else ()
    done = execute(python, tmp_path, *words, *given, "--database", "sqlite:///runs.sqlite")
    told = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    assert done.returncode == 2
    (wheel,) = python.parents[2].glob("*.whl")  # what the environment was made of
    command = f"pip --python {python} install '{wheel}[dbos]'"
    assert told == [
        f"stagec: error: runs in a database need libraries of the extra 'dbos', which are not installed: {command}"
    ]
