"""A new member of every shelf, begun in a copy of the checkout: sound but for the marks, and its test fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from campaigns import sample

from stagec.check.pipeline import list_families
from stagec.core.rule import AnyFamily
from stagec.core.shelf import names
from stagec_dev.checkout import ROOT
from stagec_dev.scaffolds import MARK
from stagec_dev.tools.new import begin


def free_code(family: AnyFamily) -> str:
    """Return the last code of a family that no rule has."""
    taken = {rule.code for rule in family.rules()}
    codes = (f"STG{number:03}" for numbers in family.numbers for number in numbers)
    return [code for code in codes if code not in taken][-1]


def topics(family: AnyFamily) -> tuple[str, ...]:
    """Return a topic of a family of several, and nothing where the family is one module."""
    package = sys.modules[family.package]
    return names(package)[:1] if hasattr(package, "__path__") else ()


RULES = {
    f"rule of {family.name}": (
        "rule",
        free_code(family),
        f"never-seen-in-{family.name.replace('_', '-')}",
        *topics(family),
    )
    for family in list_families()
}
NAMES = {
    **RULES,
    "format": ("format", "never-seen"),
    "frontend": ("frontend", "never-seen"),
    "reporter": ("reporter", "never-seen"),
    "emitter": ("emitter", "never-seen"),
    "command": ("command", "never"),
}
"""What is begun: a rule in every family, and one member of each other shelf."""
LAWS = ("laws/test_sizes.py", "laws/test_words.py", "laws/test_imports.py")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout without what tools leave behind."""
    target = tmp_path_factory.mktemp("copy") / "checkout"
    left = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "examples", "hostile")
    shutil.copytree(ROOT, target, ignore=left)
    return target


def run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy / "compiler"),
    }
    environment.pop("PYTEST_ADDOPTS", None)
    argv = [sys.executable, "-m", *words]
    return subprocess.run(argv, cwd=copy, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def written(copy: Path) -> dict[str, list[Path]]:
    """Begin every member and return the files of each."""
    files: dict[str, list[Path]] = {}
    for member, words in NAMES.items():
        files[member] = [*begin(copy, words[0], words[1:])]
    return files


@pytest.mark.parametrize("member", NAMES)
def test_a_member_is_two_files_with_marks(written: dict[str, list[Path]], member: str) -> None:
    assert [MARK in path.read_text(encoding="utf-8") for path in written[member]] == [True, True]


def test_what_is_written_satisfies_the_linter(copy: Path, written: dict[str, list[Path]]) -> None:
    paths = [str(path) for files in written.values() for path in files if path.suffix == ".py"]
    checked = run(copy, "ruff", "check", "--no-cache", *paths)
    assert checked.returncode == 0, checked.stdout
    formatted = run(copy, "ruff", "format", "--no-cache", "--check", *paths)
    assert formatted.returncode == 0, formatted.stdout


def test_what_is_written_satisfies_the_type_checker(copy: Path, written: dict[str, list[Path]]) -> None:
    paths = [str(files[0].relative_to(copy)) for files in written.values()]
    ended = run(copy, "mypy", "--follow-imports=silent", "--cache-dir", str(copy.parent / "types"), *paths)
    assert ended.returncode == 0, ended.stdout


def test_what_is_written_keeps_the_laws_but_for_the_marks(copy: Path, written: dict[str, list[Path]]) -> None:
    laws = [f"tests/{law}" for law in LAWS]
    ended = run(copy, "pytest", "-q", "-p", "no:cacheprovider", "-n0", *laws)
    failed = [line for line in ended.stdout.splitlines() if line.startswith("FAILED")]
    assert [line.partition("::")[2].partition(" ")[0] for line in failed] == ["test_nothing_is_left_to_be_filled_in"], (
        ended.stdout
    )


def failing(copy: Path, *tests: Path) -> set[Path]:
    """Run tests and return the files in which one fails; none may be in error."""
    ended = run(copy, "pytest", "-q", "-p", "no:cacheprovider", "-n0", *map(str, tests))
    assert "error" not in ended.stdout.splitlines()[-1], ended.stdout
    failed = (line for line in ended.stdout.splitlines() if line.startswith("FAILED"))
    return {copy / line.split()[1].partition("::")[0] for line in failed}


def test_the_tests_that_are_written_fail(copy: Path, written: dict[str, list[Path]]) -> None:
    tests = [files[1] for member, files in written.items() if member not in RULES]
    assert failing(copy, *tests) == {*tests}


@pytest.mark.parametrize("member", sample(tuple(RULES), 2, full=6))
def test_a_new_rule_speaks_where_its_specification_is_silent(
    copy: Path, written: dict[str, list[Path]], member: str
) -> None:
    """It is alone in that: what a new rule of an earlier family says of the same file would hide it."""
    others = [files[0] for rule, files in written.items() if rule in RULES and rule != member]
    begun = {path: path.read_text(encoding="utf-8") for path in others}
    for path in others:
        path.write_text((ROOT / path.relative_to(copy)).read_text(encoding="utf-8"), encoding="utf-8")
    try:
        assert failing(copy, written[member][1]) == {written[member][1]}
    finally:
        for path, text in begun.items():
            path.write_text(text, encoding="utf-8")


def test_a_taken_code_is_refused(copy: Path, written: dict[str, list[Path]]) -> None:
    _, code, name, _ = RULES["rule of document"]
    ended = run(copy, "stagec_dev", "new", "rule", code, "other-name")
    assert (ended.returncode, ended.stderr) == (2, f"{code} is {name!r} already\n")


def test_a_shelf_that_does_not_exist_is_refused(copy: Path) -> None:
    ended = run(copy, "stagec_dev", "new", "layer", "dot")
    assert (ended.returncode, ended.stderr) == (
        2,
        (
            "there is no shelf of layers to put something into; "
            "there are 'command', 'emitter', 'format', 'frontend', 'reporter' and 'rule'\n"
        ),
    )


def test_a_file_is_never_overwritten(copy: Path, written: dict[str, list[Path]]) -> None:
    ended = run(copy, "stagec_dev", "new", "command", "never")
    assert (ended.returncode, ended.stderr) == (2, "compiler/stagec/cli/commands/never.py is there already\n")
