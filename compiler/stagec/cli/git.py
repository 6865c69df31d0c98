"""Ask git about a repository, without anything that the repository could make it start."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from stagec.core.canonical import digest
from stagec.core.failure import Failure

_PATIENCE = 60.0
"""Seconds after which git is given up."""
_SAFE = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")
_FOREIGN = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_PREFIX"})
"""Variables that hooks are given, and that would lead git to another repository."""


def run_git(top: str, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run git in a repository; raise `Failure` where it is not there, or does not end."""
    kept = {name: each for name, each in os.environ.items() if name not in _FOREIGN}
    environment = {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        return subprocess.run(
            ["git", "-C", top, *_SAFE, *words],
            input=given,
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
            env=environment,
        )
    except FileNotFoundError as error:
        raise Failure("a revision needs the program 'git', which is not there") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"'git' did not finish within {_PATIENCE:.0f} seconds") from error


def find_commit(root: Path, files: Mapping[str, str]) -> str | None:
    """Return the commit that is checked out if it has all files, by path from the root, with these digests."""
    top = str(root)
    try:
        named = run_git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        commit = named.stdout.decode("ascii", "replace").strip()
        held = {run_git(top, "cat-file", "blob", f"{commit}:./{file}").stdout: wanted for file, wanted in files.items()}
    except Failure:  # a statement can do without git
        return None
    return commit if named.returncode == 0 and all(digest(blob) == wanted for blob, wanted in held.items()) else None
