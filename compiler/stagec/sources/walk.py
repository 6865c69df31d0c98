"""Walk the folders of a project, each once for each meaning of its path, past what its patterns leave out."""

from __future__ import annotations

import os
import posixpath
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from stagec.core import observations
from stagec.core.place import Place
from stagec.core.scope import SearchScope
from stagec.core.value import value
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

    Links to folders are followed after everything that can be reached without them, so that what lies in the project
    is called by its own name first. A folder is visited again by another path where an `anchor` says that the path
    gives its files another meaning: once for each folder that the path counts from, which may be reached by many paths
    itself, and each part that counts. So many links cannot make more visits than folders times meanings.
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
        if not (_missing(path) and observations.is_link(path) and self._inside(observations.resolve(path))):
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
        """Return what two paths of one file have in common if they lead to it through different folders."""
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
        """Return what is equal for all paths of a folder; one that cannot be identified is itself."""
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


def _missing(path: str) -> bool:
    try:
        observations.find_type(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False
