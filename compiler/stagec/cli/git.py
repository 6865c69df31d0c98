"""Ask git about a repository, without anything that the repository could make it start."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from threading import Thread, Timer
from typing import BinaryIO, cast

from stagec.core.bounded import OversizedError, read_stream
from stagec.core.canonical import digest
from stagec.core.disk import OpenedFolder, RefusedWriteError, open_folder
from stagec.core.failure import Failure
from stagec.core.folders import enter_folder, make_fresh, remove_tree
from stagec.core.value import value
from stagec.core.words import quote, visible
from stagec.sources.project.find import find_repository

_PATIENCE = 60.0
"""Seconds after which git is given up."""
_GIT_MOST = 512 * 2**20
"""Bytes that git may answer."""
_TOLD = 300
"""Characters of git's own message that are shown."""
_SAFE = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")
_FOREIGN = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_PREFIX"})
"""Variables that hooks are given, and that would lead git to another repository."""
_OWN = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
}
"""Variables with which git writes nothing, fetches nothing, asks nobody, and takes no object for another."""


class MissingGitError(Failure):
    """The program git is not installed."""


def run_git(
    top: str, *words: str, given: bytes = b"", absent: int | None = None, most: int = _GIT_MOST
) -> bytes | None:
    """Return the output of git; raise `Failure` if it fails, does not end, or writes too much.

    `absent` is the exit status with which git says that it knows no such object; the result is then None.
    """
    environment = {name: each for name, each in os.environ.items() if name not in _FOREIGN} | _OWN
    command = ["git", "-C", top, *_SAFE, *words]
    try:
        process = subprocess.Popen(command, stdin=_PIPE, stdout=_PIPE, stderr=_PIPE, env=environment)
    except FileNotFoundError as error:
        raise MissingGitError("a revision needs the program 'git', which is not there") from error
    except OSError as error:
        raise Failure(f"'git' cannot be started: {error.strerror or type(error).__name__}") from error
    try:
        told, said, late = _communicate(process, given, most)
    except OversizedError as error:
        raise Failure(f"'git {words[0]}' answers with more than {error.most:,} bytes") from error
    finally:
        process.kill()
        process.wait()
    if late:
        raise Failure(f"'git' did not finish within {_PATIENCE:.0f} seconds")
    if process.returncode == absent and not told:
        return None
    if process.returncode != 0:
        raise Failure(_explain(words[0], process.returncode, said))
    return told


_PIPE = subprocess.PIPE


def _communicate(process: subprocess.Popen[bytes], given: bytes, most: int) -> tuple[bytes, bytes, bool]:
    """Return both outputs of git, and whether it took too long; they are read while it runs."""
    said: list[bytes] = []
    late: list[bool] = []

    def give_up() -> None:
        late.append(True)
        process.kill()

    watch = Timer(_PATIENCE, give_up)
    helpers = (
        Thread(target=_write_git, args=(process.stdin, given)),
        Thread(target=_drain, args=(process.stderr, said)),
        watch,
    )
    for each in helpers:
        each.start()
    try:
        with cast("BinaryIO", process.stdout) as answer:
            told = read_stream(answer, most)
        process.wait()
    finally:
        watch.cancel()
        process.kill()
        for each in helpers:
            each.join()
    return told, b"".join(said), bool(late)


def _write_git(stream: BinaryIO, given: bytes) -> None:
    with suppress(BrokenPipeError), stream:  # git has ended, and its exit status says why
        stream.write(given)


def _drain(stream: BinaryIO, said: list[bytes]) -> None:
    with stream:
        said.append(stream.read(_CHUNK))
        while stream.read(_CHUNK):
            pass


_CHUNK = 1 << 16


def _explain(word: str, status: int, said: bytes) -> str:
    how = f"was ended by signal {-status}" if status < 0 else f"failed with status {status}"
    lines = [each for each in said.decode("utf-8", "replace").splitlines() if each.strip()]
    reason = next((each for each in lines if each.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    return f"'git {word}' {how}{f': {visible(reason[:_TOLD])}' if reason else ''}"


def read_name(told: bytes | None, word: str) -> str | None:
    """Return the one object id that git wrote; None if it knows none. Anything else is a `Failure`."""
    if told is None:
        return None
    name = told.decode("ascii", "replace").removesuffix("\n")
    if len(name) not in _DIGITS or set(name) - set("0123456789abcdef"):
        raise Failure(f"'git {word}' answers with something else than the id of an object")
    return name


_DIGITS = (40, 64)
"""Digits of the id of an object: SHA-1 and SHA-256."""
_HEAD = 3
"""Words before an object: its id, its type and its size."""


def read_blobs(top: str, names: Sequence[str]) -> Iterator[bytes | None]:
    """Yield the content of each object by its id; None for one that git does not have."""
    given = "".join(f"{name}\n" for name in names)
    told = run_git(top, "cat-file", "--batch", "--buffer", given=os.fsencode(given)) or b""
    at = 0
    for name in names:
        end = told.find(b"\n", at)
        head = told[at:end]
        if end >= 0 and head == os.fsencode(f"{name} missing"):
            yield None
            at = end + 1
            continue
        words = head.split()
        if end < 0 or len(words) != _HEAD or words[1] != b"blob" or not words[2].isdigit():
            raise Failure(f"'git cat-file' does not answer with the file {quote(name)}")
        begin, at = end + 1, end + 2 + int(words[2])
        if told[at - 1 : at] != b"\n":
            raise Failure(f"the answer of 'git cat-file' ends in the middle of {quote(name)}")
        yield told[begin : at - 1]
    if at != len(told):
        raise Failure("'git cat-file' answers with more than it was asked for")


def find_commit(root: Path, files: Mapping[str, str]) -> str | None:
    """Return the commit that is checked out if each path from the root has in it the bytes with that digest.

    Without a repository, without git and without a commit there is none. Any other failure of git is a `Failure`.
    """
    top = str(root)
    if find_repository(os.path.realpath(top)) is None or any("\n" in file for file in files):
        return None
    try:
        head = run_git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", absent=1)
    except MissingGitError:  # a statement can do without git
        return None
    commit = read_name(head, "rev-parse")
    if commit is None:
        return None
    blobs = read_blobs(top, [f"{commit}:./{file}" for file in files])
    same = [blob is not None and digest(blob) == wanted for blob, wanted in zip(blobs, files.values(), strict=True)]
    return commit if all(same) and _are_regular(top, commit, list(files)) else None


def _are_regular(top: str, commit: str, files: Sequence[str]) -> bool:
    """Tell whether all of some files of a commit are regular: the content of a link is the path that it names."""
    modes: dict[str, bytes] = {}
    for at in range(0, len(files), _AT_ONCE):
        told = run_git(top, "ls-tree", "-z", commit, "--", *files[at : at + _AT_ONCE]) or b""
        for entry in told.split(b"\0")[:-1]:
            about, _, path = entry.partition(b"\t")
            modes[os.fsdecode(path)] = about.partition(b" ")[0]
    if modes.keys() != {*files}:
        raise Failure("'git ls-tree' does not answer with the files that it was asked for")
    return all(each in REGULAR for each in modes.values())


REGULAR = frozenset({b"100644", b"100755", b"100664"})
"""The modes of regular files in a tree."""
_AT_ONCE = 1_000
"""Files that are named in one command line."""


_LARGEST, _REVISIONS_MOST, _FILES = 16 * 2**20, 256 * 2**20, 200_000
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
            if size > _REVISIONS_MOST or count > _FILES:
                raise Failure(
                    f"revision {quote(self.name)} has more than {_REVISIONS_MOST:,} bytes or {_FILES:,} files",
                    hints=["'git worktree add FOLDER REV' makes a folder of it, which can be named instead"],
                )

    def read_files(self, listed: list[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the contents of files."""
        blobs = read_blobs(self.top, [identifier for _, identifier in listed])
        for (path, _), blob in zip(listed, blobs, strict=True):
            if blob is None:
                raise Failure(f"revision {quote(self.name)} is incomplete in this repository: git lacks {quote(path)}")
            yield path, blob


def find_revision(text: str, beside: Path) -> Revision | None:
    """Return the revision that `REV` or `REV:path` names in the repository of a path, or None where there is none.

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
            f"{quote(name)} and HEAD have no common commit in this repository",
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
    folder.fill(".git", b"")  # a project ends at the top of its repository
    for above, inside in groupby(files, key=_folder_of):
        # no path of a sound tree leads elsewhere
        with suppress(RefusedWriteError), enter_folder(folder, above, make=True) as opened:
            for path, data in inside:
                opened.fill(posixpath.basename(path), data)


def _folder_of(file: tuple[str, bytes]) -> str:
    return posixpath.dirname(file[0])


_SHORT = 16
"""Digits of a commit that people see; more than git needs in any repository."""
