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

import programs
import pytest
from agent_paths import PATHS
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from stagec import languages as frontends
from stagec.cli.app import run
from stagec.core.shelf import members
from stagec.languages import FrontEnd
from stagec.languages.agent_files.kinds import list_kinds

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
@programs.starts("git")
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
        "PIP_NO_COMPILE": "1",
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
    (checked / ".claude").mkdir()
    stage(checked, "write.md", prompt)
    stage(checked, ".claude/settings.json", "{")
    assert hooked(checked, every, surroundings, "stagec-validate").returncode == 1
    git(checked, "rm", "-q", "-f", ".claude/settings.json")
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


BY_NAME = (
    ".agent/writer/steps_registry.json",
    ".agent/writer/agent.json",
    ".agent/workflow.json",
    ".agent/workflow-merge.json",
    "flow/pipeline.yaml",
    "flow/pipeline.yml",
    "flow/pipeline.json",
    "flow/draft.md",
    "flow/draft.markdown",
    "tools.yaml",
    "tools.yml",
    "tools.json",
    "tools.lock.json",
)
"""Files that a front end claims by their names, besides agent files."""
BESIDE = (
    ".agent/writer/schemas/draft.schema.json",
    ".agent/writer/prompts/steps/draft.md",
    ".agent/writer/_config/steps.yml",
    "flow/machine.config.json",
    "plugin/.claude-plugin/plugin.json",
    ".claude-plugin/marketplace.json",
    ".github/plugin/plugin.json",
    ".github/plugin/marketplace.json",
    ".github/workflows/other.lock.yml",
    "stagec.toml",
    "pyproject.toml",
    "stagec-baseline.json",
    ".gitignore",
)
"""Files that change what a check says of others."""
OTHERS = ("main.py", "package.json", "src/settings.json", "docs/page.txt", ".github/workflows/ci.yml", "hooks.json")


def test_every_front_end_and_every_kind_of_agent_files_has_a_file_here() -> None:
    assert {each.name for each in list_kinds()} == PATHS.keys()
    for kind in list_kinds():
        assert any(kind.find(PATHS[kind.name])), kind.name
    ends = members(frontends, FrontEnd)
    every = (*BY_NAME, *PATHS.values())
    assert [file for file in every if not any(end.claims(file) for end in ends)] == []
    by_any_name = [end.name for end in ends if not any(end.claims(file) for file in every)]
    assert by_any_name == ["envelopes"]  # 'stagec-validate-all' is for these


@pytest.mark.needs("git")
def test_the_hook_runs_for_each_file_that_is_read(tmp_path: Path) -> None:
    """The hook of this checkout, but for what it starts: that prints the files for which pre-commit starts it."""
    repository, project = tmp_path / "hook", tmp_path / "project"
    text = (TOP / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    text = text.replace("entry: stagec validate --allow-empty\n  language: python", "entry: echo\n  language: system")
    repository.mkdir()
    hooks = text.replace("pass_filenames: false", "verbose: true\n  require_serial: true")
    (repository / ".pre-commit-hooks.yaml").write_text(hooks, encoding="utf-8")
    wanted = {*BY_NAME, *BESIDE, *PATHS.values()}
    for file in (*wanted, *OTHERS):
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).touch()
    configuration = CONFIGURATION.format(repository=repository, revision=committed(repository))
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    shown = hooked(project, configuration, environment).stdout
    assert "Passed" in shown
    assert {word for line in shown.splitlines()[1:] for word in line.split()} & {*wanted, *OTHERS} == wanted
