"""Shells that have read the script of `stagec completion` complete rules, flows, entries, schemas, runs and formats."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from stagec.check.pipeline import list_families
from stagec.cli.app import run, stagec
from stagec.cli.completions import GROUPS

Shown = pytest.CaptureFixture[str]
PLAN = "numbers.plan.json"
ENTRY, MAPPING = '"entryStep": "initial.task"', '"entryStepMapping": {"count:iteration": "initial.task"}'


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with plans, a run, and the program `stagec` itself beside it."""
    folder = tmp_path_factory.mktemp("completion")
    program = folder / "bin" / "stagec"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m stagec "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    with chdir(folder):
        assert run(["init", "--system", "pipeline"]) == 0
        assert run(["compile", "-o", PLAN]) == 0
        assert run(["init", "--system", "registry", "registry"]) == 0
        registry = Path("registry/.agent/helper/steps_registry.json")
        text = registry.read_text(encoding="utf-8").replace(ENTRY, MAPPING)
        registry.write_text(text, encoding="utf-8")
        assert run(["compile", "registry", "-o", "helper.plan.json"]) == 0
        assert run(["run", PLAN, "--scenario", "scenario.yaml", "--run", "nightly"]) == 0
    return folder


def _run_shell(folder: Path, shell: str, script: str) -> list[str]:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    argv, environment = [shell, "-c", script], {**os.environ, "PATH": path}
    ended = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    return ended.stdout.splitlines()


def _complete(folder: Path, *words: str) -> list[str]:
    """Return what bash offers behind some words, of which the last one is begun."""
    line = shlex.join(["stagec", *words])
    return _run_shell(
        folder,
        "bash",
        f'eval "$(stagec completion bash)"\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words)}\n'
        "_stagec_completion stagec\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n",
    )


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["vali"], ["validate"]),
        (["explain", "unknown-tar"], ["unknown-target", "unknown-target-mode"]),
        (["bounds", "--flow", "d"], ["draft-and-review"]),
        (["plan", PLAN, "--node", ""], ["draft", "review"]),
        (["schema", "stage_p"], ["stage_plan"]),
        (["resume", ""], ["nightly"]),
        (["validate", "--format", "sa"], ["sarif"]),
    ],
    ids=" ".join,
)
@pytest.mark.needs("bash")
def test_bash_offers_what_fits(words: list[str], offered: list[str], project: Path) -> None:
    assert _complete(project, *words) == offered


ZSH = """
autoload -U compinit && compinit -u
eval "$(stagec completion zsh)"
_describe() { print -l -- ${(P)3} }
words=(stagec vali)
CURRENT=2
_stagec_completion
"""
"""What zsh offers goes to the terminal only, so the function that shows it is replaced."""


@pytest.mark.needs("zsh")
def test_zsh_offers_what_fits(project: Path) -> None:
    assert [line.partition(":")[0] for line in _run_shell(project, "zsh", ZSH)] == ["validate"]


@pytest.mark.needs("fish")
def test_fish_offers_what_fits(project: Path) -> None:
    script = "stagec completion fish | source\ncomplete -C 'stagec vali'"
    assert [line.partition("\t")[0] for line in _run_shell(project, "fish", script)] == ["validate"]


def _offer(monkeypatch: pytest.MonkeyPatch, capfd: Shown, *words: str) -> list[str]:
    """Return what this process answers a shell, without starting one."""
    monkeypatch.setenv("COMP_WORDS", shlex.join(["stagec", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    monkeypatch.setenv("_STAGEC_COMPLETE", "bash_complete")
    with pytest.raises(SystemExit) as ended:
        stagec.main(prog_name="stagec")
    assert ended.value.code == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    return [line.partition(",")[2] for line in shown.out.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("validate --select STG20", "STG201"),
        ("validate --ignore STG201,unknown-tar", "STG201,unknown-target"),
        ("validate --extend-select porta", "portability"),
        ("explain reg", "registry"),
        ("compile --flow dr", "draft-and-review"),
        ("graph . --flow dr", "draft-and-review"),
        (f"plan {PLAN} --node re", "review"),
        ("simulate helper.plan.json --entry count", "count:iteration"),
        ("run helper.plan.json --entry co", "count:iteration"),
        ("bounds registry --flow h", "helper"),
        ("schema pl", "plan"),
        ("runs show night", "nightly"),
        ("graph --format merm", "mermaid"),
        ("init --system reg", "registry"),
        ("checkpoint ve", "verify"),
        ("validate --for", "--format"),
    ],
)
def test_a_name_is_offered(
    words: str, offered: str, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown
) -> None:
    monkeypatch.chdir(project)
    assert offered in _offer(monkeypatch, capfd, *words.split())


@pytest.mark.parametrize(
    "words",
    [
        "compile --flow",
        "compile nowhere --flow",
        "compile --root nowhere --flow",
        "run nowhere --entry",
        "run scenario.yaml --entry",
        "run . --entry",
        "plan broken --node",
        "resume --runs nowhere",
    ],
)
def test_what_cannot_be_read_offers_nothing_and_says_nothing(
    words: str, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stagec.toml").write_text("selct = 1\n", encoding="utf-8")
    (tmp_path / "scenario.yaml").write_text("a: 1\n", encoding="utf-8")
    (tmp_path / "broken").write_text('{"digest":"sha256:', encoding="utf-8")
    assert _offer(monkeypatch, capfd, *words.split(), "") == []


@pytest.mark.parametrize(
    "name", ["a $(touch b)", "`touch b`", "a;b", "a b", "a'b", 'a"b', "a*", "~root", "-x", "a\\b", "a\nb"]
)
def test_names_that_a_shell_would_read_as_something_else_are_not_offered(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: Shown, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "--system", "pipeline"]) == 0
    pipeline = tmp_path / "pipeline.yaml"
    text = pipeline.read_text(encoding="utf-8")
    for folder, flow in (("plain", "plain-flow"), ("odd", name)):
        shutil.copytree(tmp_path / "stages", tmp_path / folder / "stages")
        written = text.replace("id: draft-and-review", f"id: {json.dumps(flow)}")
        (tmp_path / folder / "pipeline.yaml").write_text(written, encoding="utf-8")
    pipeline.unlink()
    capfd.readouterr()
    assert _offer(monkeypatch, capfd, "bounds", "--flow", "") == ["plain-flow"]


def test_every_rule_and_group_is_offered(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    offered = set(_offer(monkeypatch, capfd, "validate", "--select", ""))
    rules = [rule for family in list_families() for rule in family.rules()]
    assert {group for rule in rules for group in rule.groups} == set(GROUPS)
    wanted = {name for rule in rules for name in (rule.code, rule.name, *rule.groups)}
    assert wanted | {family.name for family in list_families()} <= offered
