"""The hook, tried with the real pre-commit program from a local repository and without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from stagec.cli.app import run

TOP = Path(__file__).parents[2]
PARTS = (".pre-commit-hooks.yaml", "LICENSE", "README.md", "compiler", "pyproject.toml", "registries", "schemas")
CONFIGURATION = """
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: stagec-validate
"""
EVERY = """      - id: stagec-validate-all
      - id: stagec-compile-check
        args: [-o, plans/]
      - id: stagec-format
"""


def needed(names: Iterable[str]) -> dict[str, Distribution]:
    """Return the installed distributions of these names and all that they need."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in found:
            found[name] = distribution(name)
            required = map(Requirement, found[name].requires or ())
            waiting.extend(each.name for each in required if not each.marker or each.marker.evaluate({"extra": ""}))
    return found


def packed(installed: Distribution, folder: Path) -> None:
    """Write an installed distribution as the wheel it came from."""
    kept = [file for file in installed.files or () if not {"..", "__pycache__"} & set(file.parts)]
    kept = [file for file in kept if file.name not in {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json"}]
    (mark,) = (file for file in kept if file.name == "WHEEL" and file.parts[0].endswith(".dist-info"))
    tag = mark.read_text().partition("Tag: ")[2].split()[0]
    stem = mark.parts[0].removesuffix(".dist-info")
    with zipfile.ZipFile(folder / f"{stem}-{tag}.whl", "w") as wheel:
        record = ""
        for file in kept:
            data = file.read_binary()
            wheel.writestr(str(file), data)
            digest = urlsafe_b64encode(sha256(data).digest()).decode().rstrip("=")
            record += f"{file},sha256={digest},{len(data)}\n"
        wheel.writestr(f"{mark.parts[0]}/RECORD", f"{record}{mark.parts[0]}/RECORD,,\n")


def git(folder: Path, *words: str) -> str:
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost", "-c", "commit.gpgsign=false")
    ended = subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


def committed(folder: Path) -> str:
    """Make a folder a repository with everything in it and return the revision."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a configuration that takes the hook from a repository of this checkout."""
    repository = tmp_path_factory.mktemp("hook") / "stagec"
    repository.mkdir()
    for part in PARTS:
        copy = shutil.copytree if (TOP / part).is_dir() else shutil.copyfile
        copy(TOP / part, repository / part)
    for left in repository.rglob("__pycache__"):
        shutil.rmtree(left)
    return CONFIGURATION.format(repository=repository, revision=committed(repository))


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which pip finds what this Python has installed, and nothing else."""
    folder = tmp_path_factory.mktemp("surroundings")
    wheels = folder / "wheels"
    wheels.mkdir()
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for installed in needed(["hatchling", *(Requirement(each).name for each in project["dependencies"])]).values():
        packed(installed, wheels)
    return {
        "HOME": str(folder),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": str(wheels),
        "PIP_NO_INDEX": "1",
        "PRE_COMMIT_HOME": str(folder / "pre-commit"),
        "VIRTUALENV_NO_PERIODIC_UPDATE": "1",
        "VIRTUALENV_OVERRIDE_APP_DATA": str(folder / "virtualenv"),
    }


def hooked(
    project: Path, configuration: str, surroundings: dict[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    """Run the hooks on a project that is a repository of its own: on all of its files, or on what `git add` took."""
    (project / ".pre-commit-config.yaml").write_text(configuration, encoding="utf-8")
    if not words:
        committed(project)
    argv = [sys.executable, "-m", "pre_commit", "run", *(words or ("--all-files",)), "--color=never"]
    return subprocess.run(argv, cwd=project, env=surroundings, capture_output=True, text=True, check=False)


def test_the_hook_stops_a_broken_registry_and_lets_a_clean_one_pass(
    tmp_path: Path, configuration: str, surroundings: dict[str, str]
) -> None:
    broken, clean = tmp_path / "broken", tmp_path / "clean"
    shutil.copytree(TOP / "registries" / "broken-on-purpose", broken)
    shutil.copytree(TOP / "registries" / "issue-flow", clean)
    stopped = hooked(broken, configuration, surroundings)
    assert stopped.returncode == 1, stopped.stdout + stopped.stderr
    assert "STG" in stopped.stdout
    passed = hooked(clean, configuration, surroundings)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "Passed" in passed.stdout


@pytest.fixture
def checked(tmp_path: Path, configuration: str, surroundings: dict[str, str]) -> Path:
    """Return a repository of a clean pipeline that all hooks let pass, with its plan beside it."""
    shutil.copytree(TOP / "registries" / "docs-repair", tmp_path / "project")
    assert run(["compile", str(tmp_path / "project"), "-o", str(tmp_path / "project" / "plans") + "/"]) == 0
    passed = hooked(tmp_path / "project", f"{configuration}{EVERY}", surroundings)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    return tmp_path / "project"


def stage(project: Path, file: str, text: str) -> None:
    (project / file).write_text(text, encoding="utf-8")
    git(project, "add", file)


def test_every_hook_stops_what_it_is_for(checked: Path, configuration: str, surroundings: dict[str, str]) -> None:
    every = f"{configuration}{EVERY}"
    stage(checked, "notes.txt", "Nothing that stagec reads.")
    assert hooked(checked, every, surroundings, "stagec-validate").returncode == 0
    prompt = (checked / "write.md").read_text(encoding="utf-8")
    stage(checked, "write.md", f"{prompt}And be brief.\n")
    assert hooked(checked, every, surroundings, "stagec-validate").returncode == 0
    assert hooked(checked, every, surroundings, "stagec-format").returncode == 0
    stage(checked, "write.md", prompt.replace("name: Write\n", "").replace("turnCap:", "name: Write\nturnCap:"))
    disordered = hooked(checked, every, surroundings, "stagec-format")
    assert (disordered.returncode, "formatted write.md" in disordered.stdout) == (1, True), disordered.stdout
    assert (checked / "write.md").read_text(encoding="utf-8") == prompt
    stage(checked, "write.md", f"{prompt}And be brief.\n")
    stale = hooked(checked, every, surroundings, "stagec-compile-check")
    assert (stale.returncode, "'write.md' changed" in stale.stdout) == (1, True), stale.stdout
    stage(checked, "write.md", prompt.replace("completionTool:", "completionTol:"))
    (checked / "write.md").write_text(prompt, encoding="utf-8")  # only what is staged is broken
    assert hooked(checked, every, surroundings, "stagec-validate").returncode == 1
    assert hooked(checked, every, surroundings, "stagec-validate-all").returncode == 1


def test_a_repository_without_anything_to_check_passes(
    tmp_path: Path, configuration: str, surroundings: dict[str, str]
) -> None:
    (tmp_path / "README.md").write_text("# Nothing of ours\n", encoding="utf-8")
    passed = hooked(tmp_path, f"{configuration}{EVERY}", surroundings)
    assert passed.returncode == 0, passed.stdout + passed.stderr
