"""A cloned repository that means harm: what `validate`, `graph`, `diff`, `review`, `sign` and `run` refuse to do."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from cli.test_diff import git
from cli.test_signing import KEY
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from stagec.cli.app import run

STAGE = {
    "id": "s",
    "name": "N \u001b[2J\u202e",
    "allowedTools": [],
    "completionTool": "done",
    "completionSchema": {"type": "object"},
    "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
    "turnCap": 9,
    "resolutionPolicy": "fail",
}
LURES = "![x](http://evil.example/a.png) <img src=http://evil.example/b> <script>alert(1)</script>\n```\n::error::x\n"
CONFIGURATION = """
[core]
    fsmonitor = {0} fsmonitor
    sshCommand = {0} ssh
    pager = {0} pager
    hooksPath = hooks
    alternateRefsCommand = {0} refs
    askPass = {0} askpass
[diff "x"]
    textconv = {0} textconv
    command = {0} diff
[filter "x"]
    smudge = {0} smudge
    process = {0} process
    required = true
[alias]
    ls-tree = !{0} alias
    cat-file = !{0} alias
[gpg]
    program = {0} gpg
[log]
    showSignature = true
[remote "origin"]
    url = ext::{0} remote
    promisor = true
[extensions]
    partialClone = origin
[uploadpack]
    packObjectsHook = {0} pack
"""
COMMANDS = (
    *("validate", "graph . -o g.html", "graph . -o g.svg", "bounds .", "handbook . -o hb", "permissions ."),
    *("compile . -o p.json", "paths .", "doctor", "diff HEAD .", "breaking --against HEAD"),
    *("review --against HEAD --format markdown", "graph --diff HEAD -o d.html", "sign p.json --key key --against ."),
)
Shown = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project that is no repository yet, and go there."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "s.md").write_text(f"---\n{json.dumps(STAGE)}\n---\nWork. Call done. {LURES}")
    (root / "pipeline.yaml").write_text("id: p\nentry: s\n")
    (root / "s.json").write_text('{"conversations": {"s": [{"complete": {}}]}}')
    monkeypatch.chdir(root)
    return root


@pytest.mark.needs("git")
def test_no_program_of_a_repository_is_started_and_nothing_in_it_is_markup(
    project: Path, tmp_path: Path, capfd: Shown
) -> None:
    git(project, "init", "-q", ".")
    (project / ".gitattributes").write_text("* diff=x filter=x\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "x")
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path / "sprung"}\n')
    trap.chmod(0o755)
    (project / "hooks").mkdir()
    for each in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        (project / "hooks" / each).symlink_to(trap)
    with (project / ".git" / "config").open("a") as file:
        file.write(CONFIGURATION.format(trap))
    (project / "s.md").write_text((project / "s.md").read_text() + f"Be kind. {LURES}")
    (project / "key").write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    for command in COMMANDS:
        assert run(command.split()) in {0, 1}, command
        out, err = capfd.readouterr()
        assert not {"\x1b", "\u202e"} & {*out, *err}, command
        assert not [each for each in (out + err).splitlines() if each.startswith(("::", "```\n::"))], command
    assert not (tmp_path / "sprung").exists()
    subprocess.run(["git", "status"], capture_output=True, check=False)
    assert (tmp_path / "sprung").exists()  # the traps would have told
    pages = [each.read_text() for each in project.rglob("*") if each.suffix in {".html", ".svg"}]
    assert len(pages) > 3
    assert not [each for each in pages if "<script>alert" in each or "<img src=http" in each]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('documentation = "javascript:alert(1)"', "must be the address of a site"),
        ('documentation = "data:text/html,x"', "must be the address of a site"),
        ('documentation = "https://a.example/\\u001b[2J"', "must be the address of a site"),
        ('baseline = "../outside"', "leads out of the project"),
        ('baseline = "link"', "leads out of the project"),
        ('roots = ["../.."]', "lies outside the project"),
        ('[budgets]\nfile-size = "1 TB"', "file-size"),
        ('[run]\nanswers = "allow"', "answers"),
        ('[run]\ntools-in = "/"', "tools-in"),
    ],
)
def test_a_configuration_widens_nothing(text: str, says: str, project: Path, tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "outside").write_text("{}")
    (project / "link").symlink_to(tmp_path / "outside")
    (project / "stagec.toml").write_text(f"{text}\n")
    assert run(["validate"]) == 2
    assert says in capfd.readouterr().err


def test_findings_that_a_configuration_silences_make_no_plan(project: Path, capfd: Shown) -> None:
    (project / "s.md").write_text((project / "s.md").read_text().replace('"turnCap": 9', '"turnCap": "x"'))
    (project / "stagec.toml").write_text('ignore = ["ALL"]\nfail-on = "never"\n')
    assert run(["compile", ".", "-o", "p.json"]) == 1
    assert "is not compiled: 1 error" in capfd.readouterr().err
    assert not (project / "p.json").exists()


def _link_runs(project: Path, outside: Path) -> None:
    (project / ".stagec").symlink_to(outside)


def _link_journal(project: Path, outside: Path) -> None:
    (project / ".stagec" / "runs").mkdir(parents=True)
    (project / ".stagec" / "runs" / "one.run").symlink_to(outside / "file")


def _pipe_journal(project: Path, _outside: Path) -> None:
    (project / ".stagec" / "runs").mkdir(parents=True)
    os.mkfifo(project / ".stagec" / "runs" / "one.run")


def _open_messages(project: Path, _outside: Path) -> None:
    (project / ".stagec" / "runs" / "one.run.messages").mkdir(parents=True)
    (project / ".stagec" / "runs" / "one.run.messages").chmod(0o755)


def _link_messages(project: Path, outside: Path) -> None:
    (project / ".stagec" / "runs").mkdir(parents=True)
    (project / ".stagec" / "runs" / "one.run.messages").symlink_to(outside)


@pytest.mark.parametrize(
    ("lay", "says"),
    [
        (_link_runs, "reached through a link that leads out of this folder"),
        (_link_journal, "it is a link, and only files are written"),
        (_pipe_journal, "it is not a file"),
        (_open_messages, "has the mode 0755"),
        (_link_messages, "is a link"),
    ],
)
def test_a_run_does_not_use_what_a_project_brings_along(
    lay: object, says: str, project: Path, tmp_path: Path, capfd: Shown
) -> None:
    assert run(["compile", ".", "-o", "p.json"]) == 0
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / "file").write_text("kept")
    assert callable(lay)
    lay(project, outside)
    capfd.readouterr()
    assert run(["run", "p.json", "--scenario", "s.json", "--run", "one"]) == 2
    assert says in capfd.readouterr().err
    assert [(each.name, each.read_text()) for each in outside.iterdir()] == [("file", "kept")]


def test_a_plan_of_a_project_is_executed_only_with_the_digest_that_is_named(project: Path, capfd: Shown) -> None:
    assert run(["compile", ".", "-o", "p.json"]) == 0
    assert run(["run", "p.json", "--scenario", "s.json", "--digest", f"sha256:{'0' * 64}"]) == 2
    assert "sha256:" in capfd.readouterr().err
    assert not (project / ".stagec").exists()
