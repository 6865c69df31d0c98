"""Whether two plans name the same sources from different roots."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os.path import relpath
from pathlib import Path, PurePosixPath

from stagec.core.value import NOTHING, value
from stagec.core.visible import visible
from stagec.core.words import quote


@value
class Move:
    """What the sources of one plan are called in another, by the names they have now; `root` is the other's root.

    Without names the roots are the same, as far as can be told. `root` is None where no folder can be it.
    """

    names: Mapping[str, str] = NOTHING
    root: Path | None = None

    @property
    def told(self) -> str:
        """What somebody can do about it."""
        if self.root is None:
            return "its sources are named from another root: --root names it"
        return f"its sources are named from another root: try --root {quote(visible(relpath(self.root)))}"


def move(held: Collection[str], made: Collection[str], root: Path) -> Move:
    """Return how sources that are named from `root` are called in a plan that was made from another root."""
    above = _folders(held, made)
    if above:
        higher = root.parents[above.count("/")] if root.parts[1:] and _ends(root, above) else None
        return Move({name: f"{above}/{name}" for name in made}, higher)
    below = _folders(made, held)
    if below:
        inside = f"{below}/"
        return Move({name: name.removeprefix(inside) for name in made if name.startswith(inside)}, root / below)
    return Move()


def _ends(root: Path, folders: str) -> bool:
    parts = PurePosixPath(folders).parts
    return root.parts[-len(parts) :] == parts


def _folders(longer: Collection[str], shorter: Collection[str]) -> str | None:
    """Return the folders with which most of some names become names among others, when most are none of them yet."""
    known = set(longer)
    tried = {name[: -len(other) - 1] for name in known for other in shorter if name.endswith(f"/{other}")}
    common = len(known.intersection(shorter))
    counts = {each: sum(f"{each}/{name}" in known for name in shorter) for each in sorted(tried)}
    best = max(counts, key=lambda each: counts[each], default=None)
    return best if best is not None and counts[best] > max(common, len(shorter) // 2) else None
