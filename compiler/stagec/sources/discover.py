"""The files that a command checks: those that a user names, and those that front ends claim."""

from __future__ import annotations

import os
import posixpath
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from enum import Enum
from functools import partial
from pathlib import Path

from stagec.core import observations
from stagec.core.budgets import SearchScope
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import quote
from stagec.sources.formats.plain import FORMAT as PLAIN
from stagec.sources.ignore import GITIGNORE, IgnoreRules
from stagec.sources.tree import Fault, Tree

_OF_TOOLS = (".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox", "__pycache__")
NEVER = frozenset((".git", ".hg", ".svn", ".venv", "venv", "node_modules", *_OF_TOOLS))
"""Folders that hold nothing anybody wrote for stagec, and often very much of it."""


@value
class VisitedFolder:
    """One folder on the way: its path in the project, and what counts around it."""

    file: str
    rules: IgnoreRules


Anchor = Callable[[str], tuple[str, str] | None]
"""Returns what the path of a folder says of the files in it: the folder it counts from, and the part that counts."""


class Walk:
    """Collects the wanted files under some folders of one project, and others to consider; `root` has no link in it.

    Links to folders come last, so that a file inside the project has its own path first. A folder is visited again by
    another path if an `anchor` tells that its files mean something else there: once for each folder from which the path
    counts, and for each part that counts. So many links cannot make more visits than folders times meanings.
    """

    def __init__(
        self,
        root: Path,
        scope: SearchScope,
        wanted: Callable[[str], bool],
        considered: Callable[[str], bool],
        anchors: tuple[Anchor, ...] = (),
    ) -> None:
        self.root = root
        self.files: list[str] = []
        self.others: list[str] = []
        self._scope = scope
        self._wanted = wanted
        self._considered = considered
        self._anchors = anchors
        self._trees: dict[str, Tree] = {}
        self._seen: set[tuple[str, ...]] = set()
        self._refused: set[str] = set()
        self._identities: dict[str, str] = {}
        self._folders: list[VisitedFolder] = []
        self._links: deque[VisitedFolder] = deque()

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The faulty folders and links, by path."""
        return tuple(tree for _, tree in sorted(self._trees.items()))

    def file(self, file: str) -> bool:
        """Tell whether a file is to be read, be it only to learn why it cannot be; a link to nothing is a fault."""
        path = self._path(file)
        if not (_missing_walk(path) and observations.is_link(path) and self._inside(observations.resolve(path))):
            return True
        try:
            target = observations.read_link(path)
        except OSError:  # somebody has replaced it this moment
            return True
        self._keep(file, Fault("unreadable-file", Place(file), "dangling", {"target": target}))
        return False

    def folders(self, files: Iterable[str]) -> None:
        """Collect what is wanted under folders; the root is the empty path."""
        self._folders += [VisitedFolder(each, IgnoreRules.above(self.root, self._scope, each)) for each in files]
        while self._folders or self._links:
            stop = self._folders.pop() if self._folders else self._links.popleft()
            if self._is_first(stop.file):
                self._visit(stop)

    def find_place(self, file: str) -> str:
        """Return the key that two paths of one file share if they lead to it through different folders."""
        folder, name = posixpath.split(file)
        return f"{self._identify(folder)}/{name}"

    def _visit(self, stop: VisitedFolder) -> None:
        entries = self._entries(stop.file)
        has_gitignore = any(entry.name == GITIGNORE for entry in entries)
        rules = stop.rules.inside(self.root, stop.file) if has_gitignore else stop.rules
        base = f"{stop.file}/" if stop.file else ""
        for entry in entries:
            file = base + entry.name
            if entry.is_folder:
                if entry.name not in NEVER and not rules.prunes(file, folder=True):
                    self._folders.append(VisitedFolder(file, rules))
            elif entry.is_link and observations.is_folder(entry.path):
                if entry.name not in NEVER and not rules.prunes(file, folder=False) and self._enters(file):
                    self._links.append(VisitedFolder(file, rules))
            elif self._wanted(file) and rules.includes(file) and not rules.prunes(file, folder=False):
                self.files += [file] if self.file(file) else []
            elif self._considered(file) and rules.includes(file) and not rules.prunes(file, folder=False):
                self.others.append(file)

    def _entries(self, file: str) -> list[observations.FolderEntry]:
        try:
            return observations.list_folder(self._path(file))
        except (FileNotFoundError, NotADirectoryError):
            return []  # it vanished while we were walking
        except OSError as error:
            facts = {"error": error.strerror or type(error).__name__}
            self._keep(file or ".", Fault("unreadable-file", Place(file or "."), "folder", facts))
            return []

    def _is_first(self, file: str) -> bool:
        """Tell whether a folder has not been visited yet by a path that gives its files the same meaning."""
        meant = next((found for anchor in self._anchors if (found := anchor(file)) is not None), None)
        key = (self._identify(file), *(() if meant is None else (self._identify(meant[0]), meant[1])))
        is_first = key not in self._seen
        self._seen.add(key)
        return is_first

    def _identify(self, file: str) -> str:
        """Return a key that is equal for all paths of a folder; one that cannot be identified is itself."""
        if file not in self._identities:
            try:
                self._identities[file] = observations.identify(self._path(file))
            except OSError:  # listing it will say what is wrong
                self._identities[file] = file
        return self._identities[file]

    def _enters(self, file: str) -> bool:
        """Tell whether a link to a folder is followed: not out of the project, and not to a folder that it lies in."""
        real = observations.resolve(self._path(file))
        if not self._inside(real):
            facts = {"target": os.path.relpath(real, self.root)}
            if (place := self.find_place(file)) not in self._refused:
                self._keep(file, Fault("link-out-of-project", Place(file), facts=facts))
            self._refused.add(place)
            return False
        return not _is_below(observations.resolve(self._path(posixpath.dirname(file))), real)

    def _keep(self, file: str, fault: Fault) -> None:
        self._trees[file] = Tree(file, "folder", PLAIN, faults=(fault,), readable=False)

    def _path(self, file: str) -> str:
        return os.path.join(self.root, file)

    def _inside(self, real: str) -> bool:
        return _is_below(real, str(self.root))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _missing_walk(path: str) -> bool:
    try:
        observations.find_type(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


_LONGEST = 4_000
"""Characters of a path; resolving a longer one costs the square of its length, and no system knows it."""


class PathKind(Enum):
    """The kind of a path."""

    FOLDER = "a folder"
    FILE = "anything else on the disk"
    TEXT = "a text that stands for a file"


def resolve(root: Path, path: Path, overlay: Collection[str]) -> tuple[str, PathKind]:
    """Return a path relative to the root, with `/`, and what it is; the root itself is the empty path.

    Links on the way are resolved, a link at the end is left alone: whoever reads it says where it leads.
    """
    if len(str(path)) > _LONGEST:
        raise Failure(f"{quote(path)} is longer than a path can be")
    given = os.path.join(root, path)
    folder, name = os.path.split(given)
    is_whole = name in {"", ".", ".."}
    full = observations.resolve(given) if is_whole else os.path.join(observations.resolve(folder), name)
    file = os.path.relpath(full, root).replace(os.sep, "/")
    if not _inside(root, full):
        raise Failure(f"{quote(path)} lies outside the project {quote(root)}; --root says where a project begins")
    if file in overlay:
        return file, PathKind.TEXT
    if not observations.has_name(full):
        raise Failure(_missing_discover(root, full))
    if not observations.is_folder(full):
        return file, PathKind.FILE
    if not _inside(root, observations.resolve(full)):
        raise Failure(f"{quote(os.path.relpath(full))} is a link that leads out of the project {quote(root)}")
    return "" if file == "." else file, PathKind.FOLDER


def _inside(root: Path, full: str) -> bool:
    return full == str(root) or full.startswith(str(root).rstrip(os.sep) + os.sep)


def _spell(root: Path, path: Path) -> str | None:
    """Return a path relative to the root as it is written, with the links on the way; None where one leads back up."""
    parts = [part for part in os.path.join(root, path).split(os.sep) if part not in {"", "."}]
    if ".." in parts:
        return None
    before, real, start = "", "", None
    for at, part in enumerate(parts):
        before = f"{before}{os.sep}{part}"
        above, real = real, observations.resolve(before)
        if real == str(root) and start is None:
            start = at + 1
        elif start is not None and (not _inside(root, real) or above == real or above.startswith(real + os.sep)):
            return None
    return None if start is None else "/".join(parts[start:])


def _missing_discover(root: Path, full: str) -> str:
    """Name the first part of a path that does not exist, and the nearest name.

    Names are those that a user writes who stands in the current folder.
    """
    folder, name = os.path.split(full)
    while not observations.has_name(folder):
        folder, name = os.path.split(folder)
    siblings = NameIndex(_list_names(folder))
    file = quote(os.path.relpath(full))
    place = "the project" if folder == str(root) else quote(os.path.relpath(folder))
    missing = f"{file} does not exist" if os.path.dirname(full) == folder else f"{file}: {place} has no {quote(name)}"
    return f"{missing}{hint(name, siblings)}"


def _list_names(folder: str) -> list[str]:
    try:
        return [entry.name for entry in observations.list_folder(folder)]
    except OSError:
        return []


@value
class FileWish:
    """The files that a front end looks for, by their paths in the project.

    It wants what it `claims`; of what nobody claims it `considers` some, each of which a glance can tell to be its own.
    An `anchor` tells where the path of a folder says something of the files in it. With `each_path`, every path of a
    file is wanted whose folder has another anchor; else only the first path of each file.
    """

    claims: Callable[[str], bool]
    considers: Callable[[str], bool] | None = None
    anchor: Anchor | None = None
    each_path: bool = False


@value
class Discovery:
    """The files found: by path relative to the root, with `/`, sorted.

    `claimed` has one tuple per front end. `named` are the files that a user named, `unclaimed` those of them that no
    front end claims by name, and `others` the files that nobody named or claims and some front end considers. `trees`
    carry what is wrong with folders and links; they stand for no readable file.
    """

    claimed: tuple[tuple[str, ...], ...]
    named: frozenset[str]
    unclaimed: tuple[str, ...]
    trees: tuple[Tree, ...]
    others: tuple[str, ...] = ()


def discover(
    root: Path, paths: tuple[Path, ...], scope: SearchScope, wishes: tuple[FileWish, ...], overlay: Collection[str] = ()
) -> Discovery:
    """Look for the files that someone claims under the paths a user named, or else under the roots of the scope.

    A file named by hand is always taken; `overlay` names files that are there although the disk does not have them.
    Nothing is opened but folders and `.gitignore` files inside the root. A path that does not exist or lies outside
    the root raises `Failure`.
    """
    claims = tuple(wish.claims for wish in wishes)
    considers = tuple(wish.considers for wish in wishes if wish.considers is not None)
    anchors = tuple(wish.anchor for wish in wishes if wish.anchor is not None)
    walk = Walk(Path(observations.resolve(root)), scope, partial(_any, claims), partial(_any, considers), anchors)
    by_path = tuple(wish for wish in wishes if wish.each_path)
    by_hand: set[str] = set()
    folders: set[str] = set()
    for path in paths or tuple(walk.root / folder for folder in scope.roots):
        file, named = resolve(walk.root, path, overlay)
        spelt = _spell(walk.root, path) if named is not PathKind.TEXT else None
        if named is PathKind.FOLDER:
            folders |= {file} if spelt is None else {file, spelt}
        elif named is PathKind.TEXT or walk.file(file):
            means_more = spelt is not None and any(_means_more(wish, spelt, file) for wish in by_path)
            by_hand.add(spelt if spelt is not None and means_more else file)
    walk.folders(sorted(folders, reverse=True))
    found = (*sorted(by_hand), *walk.files)
    every = ((wish, dict.fromkeys(filter(wish.claims, found))) for wish in wishes)
    claimed = tuple(tuple(sorted(own if wish.each_path else _leave_out_aliases(walk, own))) for wish, own in every)
    unclaimed = tuple(sorted(by_hand.difference(*claimed)))
    known = {walk.find_place(file) for file in found}
    others = (file for file in _leave_out_aliases(walk, walk.others) if walk.find_place(file) not in known)
    return Discovery(claimed, frozenset(by_hand), unclaimed, walk.trees, tuple(sorted(others)))


def _means_more(wish: FileWish, spelt: str, file: str) -> bool:
    """Tell whether a path says of a file what its own path does not say."""
    if not wish.claims(file) or wish.anchor is None:
        return wish.claims(spelt) and not wish.claims(file)
    said, own = (wish.anchor(os.path.dirname(each)) for each in (spelt, file))
    return wish.claims(spelt) and said is not None and (own is None or said[1] != own[1])


def _leave_out_aliases(walk: Walk, files: Iterable[str]) -> Iterator[str]:
    """Yield the first path of each file: one that leads to it through a folder that has been there is left out."""
    seen: set[str] = set()
    for file in files:
        place = walk.find_place(file)
        if place not in seen:
            seen.add(place)
            yield file


def _any(claims: tuple[Callable[[str], bool], ...], file: str) -> bool:
    return any(claim(file) for claim in claims)
