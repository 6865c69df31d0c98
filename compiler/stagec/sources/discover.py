"""Which files a command looks at: those that a user names, and those that front ends claim."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from enum import Enum
from functools import partial
from pathlib import Path

from stagec.core import observations
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.scope import SearchScope
from stagec.core.value import value
from stagec.core.words import quote
from stagec.sources.tree import Tree
from stagec.sources.walk import Walk

_LONGEST = 4_000
"""Characters of a path; resolving a longer one costs the square of its length, and no system knows it."""


class PathKind(Enum):
    """What a path turned out to be."""

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
        raise Failure(_missing(root, full))
    if not observations.is_folder(full):
        return file, PathKind.FILE
    if not _inside(root, observations.resolve(full)):
        raise Failure(f"{quote(os.path.relpath(full))} is a link that leads out of the project {quote(root)}")
    return "" if file == "." else file, PathKind.FOLDER


def _inside(root: Path, full: str) -> bool:
    return full == str(root) or full.startswith(str(root).rstrip(os.sep) + os.sep)


def _missing(root: Path, full: str) -> str:
    """Say which part of a path is the first that is not there, and what it may have been meant to be.

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
    """What a front end looks for, by the path of a file in the project.

    It wants what it `claims`; of what nobody claims it `considers` some, each of which a glance can tell to be its own.
    """

    claims: Callable[[str], bool]
    considers: Callable[[str], bool] | None = None


@value
class Discovery:
    """What was found: files by path relative to the root, with `/`, sorted.

    `claimed` has one tuple per front end. `named` are the files that a user named by hand, `unclaimed` those of them
    that nobody claims by name, `others` the files that nobody named or claims and somebody considers. `trees` carry
    what is wrong with folders and links; they stand for no readable file.
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
    walk = Walk(Path(observations.resolve(root)), scope, partial(_any, claims), partial(_any, considers))
    by_hand: set[str] = set()
    for path in paths or tuple(walk.root / folder for folder in scope.roots):
        file, named = resolve(walk.root, path, overlay)
        if named is PathKind.FOLDER:
            walk.folder(file)
        elif named is PathKind.TEXT or walk.file(file):
            by_hand.add(file)
    found = sorted(by_hand.union(walk.files))
    others = tuple(sorted(set(walk.others) - by_hand))
    claimed = tuple(tuple(filter(claim, found)) for claim in claims)
    unclaimed = tuple(sorted(by_hand.difference(*claimed)))
    return Discovery(claimed, frozenset(by_hand), unclaimed, walk.trees, others)


def _any(claims: tuple[Callable[[str], bool], ...], file: str) -> bool:
    return any(claim(file) for claim in claims)
