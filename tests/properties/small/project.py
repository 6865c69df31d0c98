"""What a maker of small projects returns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stagec.core.value import value

Json = Any


@value
class SmallProject:
    """The files of a project, the answers that satisfy the schema of each node, and values for each input."""

    files: Mapping[str, str]
    answers: Mapping[str, list[Json]]
    given: Mapping[str, list[Json]]

    def write(self, folder: Path) -> None:
        """Write the files to a folder."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
