"""The files of a revision, read with git into a folder of their own; nothing of the user's working tree is touched."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from stagec.cli.git import REGULAR, read_blobs, read_name, run_git
from stagec.core.disk import OpenedFolder, RefusedWriteError, open_folder, write_all
from stagec.core.failure import Failure
from stagec.core.folders import enter_folder, make_fresh, remove_tree
from stagec.core.value import value
from stagec.core.words import quote
from stagec.project.find import find_repository

_LARGEST, _MOST, _FILES = 16 * 2**20, 256 * 2**20, 200_000
"""Bytes of a file, above which it is left out, and bytes, files and folders of a revision that is read."""
_LISTED = 64 * 2**20
"""Bytes of the list of these files and folders; a tree that names itself again and again has no end."""
_EMPTY = frozenset(
    {"4b825dc642cb6eb9a060e54bf8d69288fbee4904", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"}
)
"""The ids of a tree without files."""
_ENTRY = re.compile(rb"(?P<mode>\d{6}) (?:blob|tree|commit) (?P<id>[0-9a-f]{40,64}) +(?:-|(?P<size>\d+))")


@value
class Revision:
    """A revision and a path in it, which may be empty; `top` is the repository, `tree` the id of its whole tree."""

    top: str
    name: str
    tree: str
    path: str

    def list_files(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the id of every regular file: links and repositories inside this one are left out."""
        listed = run_git(self.top, "ls-tree", "-r", "-t", "-z", "-l", "--full-tree", self.tree, most=_LISTED) or b""
        if not listed.endswith(b"\0") and (listed or self.tree not in _EMPTY):
            raise Failure(f"the answer of 'git ls-tree' about revision {quote(self.name)} is cut off")
        size = 0
        for count, entry in enumerate(listed.split(b"\0")[:-1], 1):
            about, _, path = entry.partition(b"\t")
            found = _ENTRY.fullmatch(about)
            if found is None or not path:
                raise Failure(f"'git ls-tree' does not answer with the files of revision {quote(self.name)}")
            length = int(found["size"] or 0)
            if found["mode"] in REGULAR and length <= _LARGEST:
                size += length
                yield os.fsdecode(path), found["id"].decode()
            if size > _MOST or count > _FILES:
                raise Failure(
                    f"revision {quote(self.name)} has more than {_MOST:,} bytes or {_FILES:,} files",
                    hints=["'git worktree add FOLDER REV' makes a folder of it, which can be named instead"],
                )

    def read_files(self, listed: list[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the contents of files."""
        blobs = read_blobs(self.top, [identifier for _, identifier in listed])
        for (path, _), blob in zip(listed, blobs, strict=True):
            if blob is None:
                raise Failure(f"git has not all of revision {quote(self.name)}: {quote(path)} is missing")
            yield path, blob


def find_revision(text: str, beside: Path) -> Revision | None:
    """Return the revision that `REV` or `REV:path` names in the repository around a path; nothing when there is none.

    Without `:path` it is the path itself, as it was in the revision.
    """
    folder = os.path.realpath(beside if beside.is_dir() else beside.parent)
    top = find_repository(folder)
    name, colon, path = text.partition(":")
    if top is None or not name or "\0" in text or os.path.lexists(text):
        return None
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{tree}}")
    tree = read_name(run_git(top, *asked, absent=1), "rev-parse")
    if tree is None:
        return None
    if not colon:
        path = os.path.relpath(os.path.realpath(beside), top)
    path = os.path.normpath(path or os.curdir)
    if path.startswith(os.pardir) or os.path.isabs(path):
        raise Failure(f"{quote(text)} names a path outside of the repository {quote(top)}")
    return Revision(top, name, tree, "" if path == os.curdir else path)


def find_merge_base(text: str, beside: Path) -> str:
    """Return the commit from which what is checked out around a path and `REV` went apart, `REV:path` with its path."""
    folder = os.path.realpath(beside if beside.is_dir() else beside.parent)
    top = find_repository(folder)
    name, colon, path = text.partition(":")
    if top is None or not name or "\0" in text:
        raise Failure(f"{quote(text)} is not a revision: there is no repository around {quote(str(beside))}")
    found = read_name(run_git(top, "merge-base", "--end-of-options", name, "HEAD", absent=1), "merge-base")
    if found is None:
        raise Failure(
            f"{quote(name)} and HEAD have no commit in common that git knows here",
            hints=["a shallow clone lacks older commits: 'git fetch --unshallow' brings them"],
        )
    return f"{found[:_SHORT]}{colon}{path}"


@contextmanager
def open_revision(revision: Revision) -> Iterator[Path]:
    """Write the files of a revision into a private folder, yield its path, and remove it.

    The contents are those that git keeps: no filter, no hook and no other program of the repository is started.
    """
    listed = list(revision.list_files())
    temporary = os.environ.get("TMPDIR") or os.path.join(os.sep, "tmp")
    with open_folder(os.path.realpath(temporary)) as above:
        name = f"stagec-{os.urandom(16).hex()}"
        make_fresh(above, name)
        try:
            with enter_folder(above, name) as folder:
                _fill(folder, revision.read_files(listed))
            yield Path(above.path) / name
        finally:
            remove_tree(above, name)


def _fill(folder: OpenedFolder, files: Iterable[tuple[str, bytes]]) -> None:
    _write(folder, ".git", b"")  # a project ends at the top of its repository
    for path, data in files:
        with suppress(RefusedWriteError):  # no path of a sound tree leads elsewhere
            _write(folder, path, data)


_SHORT = 16
"""Digits of a commit that people see; more than git needs in any repository."""


def _write(folder: OpenedFolder, path: str, data: bytes) -> None:
    above, _, name = path.rpartition("/")
    with enter_folder(folder, above, make=True) as opened:
        os.close(opened.create(name, partial(write_all, data=data), durable=False))
