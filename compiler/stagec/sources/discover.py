"""Which files of a project each front end should look at."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from stagec.core.scope import Scope
from stagec.core.value import value
from stagec.sources.named import Named, resolve
from stagec.sources.tree import Tree
from stagec.sources.walk import Walk

Claims = tuple[Callable[[str], bool], ...]
"""For each front end: whether it wants a file, by its path in the project."""


@value
class Discovery:
    """What was found: files by path relative to the root, with `/`, sorted.

    `claimed` has one tuple per claim. `named` are the files that a user named by hand, `unclaimed` those of them that
    nobody claims by name.
    `trees` carry what is wrong with folders and links; they stand for no readable file.
    """

    claimed: tuple[tuple[str, ...], ...]
    named: frozenset[str]
    unclaimed: tuple[str, ...]
    trees: tuple[Tree, ...]


def discover(
    root: Path, paths: tuple[Path, ...], scope: Scope, claims: Claims, overlay: Collection[str] = ()
) -> Discovery:
    """Look for the files that someone claims under the paths a user named, or else under the roots of the scope.

    A file named by hand is always taken; `overlay` names files that are there although the disk does not have them.
    Nothing is opened but folders and `.gitignore` files inside the root. A path that does not exist or lies outside
    the root raises `Failure`.
    """
    walk = Walk(root.resolve(), scope, lambda file: any(claim(file) for claim in claims))
    by_hand: set[str] = set()
    for path in paths or tuple(walk.root / folder for folder in scope.roots):
        file, named = resolve(walk.root, path, overlay)
        if named is Named.FOLDER:
            walk.folder(file)
        elif named is Named.TEXT or walk.file(file):
            by_hand.add(file)
    found = sorted(by_hand.union(walk.files))
    claimed = tuple(tuple(filter(claim, found)) for claim in claims)
    return Discovery(claimed, frozenset(by_hand), tuple(sorted(by_hand.difference(*claimed))), walk.trees)
