"""Ids of stages and pipelines, made of names."""

from __future__ import annotations

import re
from pathlib import Path

_KINDS = (".agent", ".prompt", ".chatmode", ".instructions")
_LONGEST = 80
"""Characters of an id; it also names a file."""


def make_id(name: str) -> str:
    """Return the id of a stage for a name: words in lower case, joined by hyphens; nothing if it has none."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[^a-z0-9]+", "-", apart.lower()).strip("-")[:_LONGEST].strip("-")


def name_file(file: str) -> str:
    """Return what a file is called: a skill like its folder, others without the endings of their kind."""
    path = Path(file)
    if path.stem == "SKILL":
        return path.parent.name or path.stem
    return next((path.stem.removesuffix(kind) for kind in _KINDS if path.stem.endswith(kind)), path.stem)
