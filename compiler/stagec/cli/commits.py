"""Which commit has the files that somebody works with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stagec.cli.git import run_git
from stagec.core.canonical import digest
from stagec.core.failure import Failure


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
