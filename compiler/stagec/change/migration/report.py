"""What a migration found: edits that have one meaning, and what only a person can decide."""

from __future__ import annotations

from stagec.core.diagnostic import Edit
from stagec.core.place import Place
from stagec.core.value import value


@value
class Rewrite:
    """One certain change: where, and in words."""

    at: Place
    what: str


@value
class PendingDecision:
    """Something that has no single meaning: where, what is open, and what could be written there."""

    at: Place
    what: str
    proposal: str


class Findings:
    """Collects what a migration finds in the files of a project."""

    def __init__(self) -> None:
        self.edits: dict[str, list[Edit]] = {}
        self.created: dict[str, tuple[bytes, str]] = {}
        """New files, each with the file that its content comes from."""
        self.rewrites: list[Rewrite] = []
        self.decisions: list[PendingDecision] = []

    def rewrite(self, at: Place, what: str, *edits: Edit) -> None:
        """Note a certain change and its edits; what several documents share is changed once."""
        fresh = [edit for edit in edits if edit not in self.edits.get(edit.at.file, ())]
        for edit in fresh:
            self.edits.setdefault(edit.at.file, []).append(edit)
        if fresh:
            self.rewrites.append(Rewrite(at, what))

    def create(self, file: str, data: bytes, at: Place) -> None:
        """Note a new file, and the place that its content comes from."""
        self.created[file] = data, at.file

    def ask(self, at: Place, what: str, proposal: str) -> None:
        """Note what only a person can decide."""
        self.decisions.append(PendingDecision(at, what, proposal))
