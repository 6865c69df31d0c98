"""Which files a command looks at: those that a user names, and those that front ends claim."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
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
from stagec.sources.walk import Anchor, Walk

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
    An `anchor` tells where the path of a folder says something of the files in it. With `each_path`, every path of a
    file is wanted whose folder has another anchor; else only the first path of each file.
    """

    claims: Callable[[str], bool]
    considers: Callable[[str], bool] | None = None
    anchor: Anchor | None = None
    each_path: bool = False


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
