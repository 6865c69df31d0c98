"""Where names stand in the files of a project: where each is defined, and where it is mentioned."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.place import Place
from stagec.core.value import value


class NameKind(StrEnum):
    """What a name is the name of."""

    STEP = "step"
    STAGE = "stage"
    ENVELOPE = "envelope"
    PHASE = "phase"
    AGENT = "agent"
    VALIDATOR = "validator"
    PATTERN = "failure pattern"
    TOOL = "tool"
    COMPLETION_TOOL = "completion tool"
    VARIABLE = "variable"
    FILE = "file"


NODES = frozenset({NameKind.STEP, NameKind.STAGE, NameKind.ENVELOPE, NameKind.PHASE})
"""What runs go through."""


@value
class Occurrence:
    """A place at which a name stands.

    `owner` is the file in which no two things of the kind have the same name. A definition has everything that is
    written about the thing in `whole`. A file is defined by being there: its name is its path in the project.
    """

    kind: NameKind
    name: str
    owner: str
    at: Place
    whole: Place | None = None

    @property
    def subject(self) -> tuple[str, str, str]:
        """What the name stands for: equal for all places at which the same thing is meant."""
        return self.kind, self.owner, self.name
