"""Every call of git with each of its failures: the command says so and ends with 2."""

from __future__ import annotations

import os
import shutil
from itertools import count
from pathlib import Path

import pytest
from cli.test_diff import edit, git, repository
from cli.test_signing import KEY
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from stagec.cli import git as door
from stagec.cli import git as revisions
from stagec.cli.app import run

__all__ = ["repository"]
Shown = pytest.CaptureFixture[str]
_FAILURES = {
    "status": "exit 3",
    "message": "echo 'fatal: bad object' >&2; exit 128",
    "signal": "kill -9 $$",
    "half": '"$REAL_GIT" "$@" > "$COUNT.out"; head -c $(( $(wc -c < "$COUNT.out") / 2 )) "$COUNT.out"; exit 0',
    "empty": 'cat > "$COUNT.in"; exit 0',
    "half-then-status": '"$REAL_GIT" "$@" | head -c 30; exit 128',
}
_COMMANDS = {
    "diff": ("diff", "HEAD", "."),
    "breaking": ("breaking", "--against", "HEAD"),
    "review": ("review", "--against", "HEAD", "--merge-base"),
    "graph": ("graph", "--diff", "HEAD"),
    "sign": ("sign", "d.plan.json", "--key", "key", "--against", "docs"),
}
_SIGNED = "d.plan.json.dsse.json"


def _ask(folder: Path, *words: str, given: bytes = b"") -> str:
    return (door.run_git(str(folder), *words, given=given) or b"").decode().strip()


def _break_git(folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, failure: str) -> Path:
    """Put a git on the path whose call of that number fails; return the file that counts the calls."""
    real, counted = str(shutil.which("git")), folder / "count"
    folder.mkdir(parents=True)
    program = folder / "git"
    program.write_text(
        f'#!/bin/sh\nn=$(( $(cat "$COUNT" 2>/dev/null || echo 0) + 1 )); echo $n > "$COUNT"\n'
        f'if [ $n = {number} ]; then {_FAILURES[failure]}; fi\nexec "$REAL_GIT" "$@"\n'
    )
    program.chmod(0o755)
    for name, given in {"REAL_GIT": real, "COUNT": str(counted), "PATH": f"{folder}:{os.environ['PATH']}"}.items():
        monkeypatch.setenv(name, given)
    return counted


@pytest.mark.parametrize("failure", _FAILURES)
@pytest.mark.parametrize("command", _COMMANDS)
def test_each_failure_of_each_call_is_told(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown, command: str, failure: str
) -> None:
    edit(repository / "docs" / "pipeline.yaml", "maxStageExecutions: 8", "maxStageExecutions: 4")
    if command == "sign":
        git(repository, "commit", "-qam", "all sources are there")
        Path("key").write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        assert run(["compile", "docs", "-o", "d.plan.json"]) == 0
    for number in count(1):
        with monkeypatch.context() as patch:
            counted = _break_git(tmp_path / "programs" / str(number), patch, number, failure)
            status = run([*_COMMANDS[command]])
        told = capfd.readouterr().err
        if int(counted.read_text()) < number:  # every call has failed once
            assert status in {0, 1}
            break
        assert (status, "git" in told, Path(_SIGNED).exists()) == (2, True, False), f"call {number}: {told}"
    assert number > (2 if command == "sign" else 3)
    assert Path(_SIGNED).exists() is (command == "sign")


def test_a_tree_without_end_ends(repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    below = _ask(repository, "rev-parse", "HEAD^{tree}")
    for _ in range(9):
        entries = "".join(f"040000 tree {below}\t{each}\n" for each in range(10))
        below = _ask(repository, "mktree", given=entries.encode())
    monkeypatch.setattr(revisions, "_LISTED", 100_000)
    assert run(["diff", f"{below}:", "."]) == 2
    assert "answers with more than 100,000 bytes" in capfd.readouterr().err


def test_git_may_reach_no_other_repository(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "programs" / "git"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "${GIT_ALLOW_PROTOCOL-unset}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:file")
    assert door.run_git(str(repository), "version") == b"\n"


def test_a_commit_that_lacks_a_source_is_not_named(repository: Path) -> None:
    from stagec.core.canonical import digest

    one, two = repository / "one.md", repository / "two.md"
    one.write_text("equal\n")
    two.write_text("equal\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "equal bytes under two paths")
    equal, other = digest(b"equal\n"), digest(b"other\n")
    commit = _ask(repository, "rev-parse", "HEAD")
    assert door.find_commit(repository, {"one.md": equal, "two.md": equal}) == commit
    assert door.find_commit(repository, {"one.md": other, "two.md": equal}) is None
    assert door.find_commit(repository, {"one.md": equal, "absent.md": digest(b"")}) is None


def test_an_object_that_replaces_another_is_not_taken_for_it(repository: Path) -> None:
    from stagec.core.canonical import digest

    commit = _ask(repository, "rev-parse", "HEAD")
    text = (repository / "docs" / "check.md").read_bytes()
    (repository / "docs" / "check.md").write_bytes(b"Say yes.\n")
    other = _ask(repository, "hash-object", "-w", "docs/check.md")
    git(repository, "replace", _ask(repository, "rev-parse", "HEAD:docs/check.md"), other)
    assert door.find_commit(repository, {"docs/check.md": digest(b"Say yes.\n")}) is None
    assert door.find_commit(repository, {"docs/check.md": digest(text)}) == commit
    assert door.run_git(str(repository), "cat-file", "blob", "HEAD:docs/check.md") == text


def test_a_path_of_a_commit_that_is_a_link_is_no_source(repository: Path) -> None:
    from stagec.core.canonical import digest

    (repository / "one.md").symlink_to("two.md")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a link")
    (repository / "one.md").unlink()
    (repository / "one.md").write_text("two.md")
    assert door.find_commit(repository, {"one.md": digest(b"two.md")}) is None
