"""A new project before it is written, and the minimal projects that stagec ships."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from stagec.core.value import value
from stagec.core.version import find_packed
from stagec.core.words import visible

SYSTEMS = {
    "pipeline": "draft-and-review",
    "registry": "helper",
    "stages": "numbers",
}
"""The systems of which there is a minimal project, each with the id of its flow."""
SCENARIO = "scenario.yaml"


@value
class LeftOut:
    """A file that no stage was made of, and why."""

    file: str
    why: str


@value
class Loss:
    """A statement of an agent file that the new project cannot express: its place, its key and the reason."""

    file: str
    line: int
    key: str
    why: str


@value
class Hint:
    """One agent file seems to call the agent of another: the ids of their stages, where, and the words."""

    file: str
    line: int
    caller: str
    callee: str
    words: str

    @property
    def told(self) -> str:
        """The words with their place."""
        return tell_words(self.file, self.line, self.words)


def tell_words(file: str, line: int, words: str) -> str:
    """Return words of an agent file with their place, as a comment of one line."""
    return f"{visible(file)}:{line} " + '"' + visible(words).replace('"', "'") + '"'


@value
class Placement:
    """The place of an agent file in the project: the file of its stage, whether the pipeline lists that, and why."""

    file: str
    stage: str
    is_listed: bool
    why: str


@value
class NewProject:
    """The files of a project by path, the id of its flow, and what its author should know.

    `has_scenario` tells whether its scenario answers a whole run.
    """

    files: Mapping[str, bytes]
    flow: str
    notes: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    losses: tuple[Loss, ...] = ()
    hints: tuple[Hint, ...] = ()
    placements: tuple[Placement, ...] = ()
    has_scenario: bool = True


def read_starter(system: str) -> NewProject:
    """Return the minimal project of a system."""
    top = Path(find_packed("starters"), system)
    files = {path.relative_to(top).as_posix(): path.read_bytes() for path in _list_files(top)}
    return NewProject(files, SYSTEMS[system])


def _list_files(top: Path) -> list[Path]:
    folders = (folder for folder in os.walk(top) if not folder[0].endswith("__pycache__"))
    return sorted(Path(folder, name) for folder, _, names in folders for name in names)
