"""What the options of `stagec graph` mean: the format, the flows and the node."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stagec import emitters
from stagec.core.failure import Failure
from stagec.core.nearest import Names, hint
from stagec.core.shelf import member, members
from stagec.core.words import listing, quote
from stagec.emitters import Emitter, Picture, Role
from stagec.picture.reduce import focus

_DEFAULT = "mermaid"


def emitter_for(form: str | None, output: Path | None) -> Emitter:
    """Return the format that was asked for, or that the name of the file says."""
    if form is not None or output is None:
        return member(emitters, form or _DEFAULT, Emitter)
    known = {each.suffix: each for each in members(emitters, Emitter)}
    if output.suffix.lower() not in known:
        raise Failure(f"{quote(output.name)} does not say a format: --format does, or one of {listing(sorted(known))}")
    return known[output.suffix.lower()]


def focused(pictures: Iterable[Picture], node: str, depth: int) -> tuple[Picture, ...]:
    """Return what is near a node in every drawing that has it; raise `Failure` when none does."""
    known = tuple(pictures)
    found = [(picture, box.id) for picture in known for box in picture.boxes.values() if _is(box.name, box.role, node)]
    if not found:
        names = {box.name for picture in known for box in picture.boxes.values() if box.role in _NAMED}
        raise Failure(f"no node is called {quote(node)}{hint(node, Names(sorted(names)))}")
    return tuple(focus(picture, box, depth) for picture, box in found)


_NAMED = {Role.NODE, Role.MISSING}


def _is(name: str, role: Role, node: str) -> bool:
    return role in _NAMED and name == node
