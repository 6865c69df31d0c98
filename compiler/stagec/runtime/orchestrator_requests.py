"""The requests of an orchestrator: run an agent, and change the labels, comments and state of an issue."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, value


@value
class Dispatch:
    """Begin the run of an agent: `{}` lets the machine run its plan, under the id `run`.

    Who has run the agent elsewhere says what came of it: its closing answer, `{"answer": …}`; or why it has failed,
    `{"failed": …}`, a text or true, and then `answer` is the last one of all.
    """

    key: str
    agent: str
    run: str
    inputs: Mapping[str, Json] = NOTHING


@value
class Relabel:
    """Write the phase of an issue down as labels: `{}`, or `{"error": …}`. What is removed need not be there."""

    key: str
    phase: str
    add: tuple[str, ...]
    remove: tuple[str, ...]


@value
class Comment:
    """Write a comment about an issue: `{}`, or `{"error": …}`."""

    key: str
    text: str


@value
class Close:
    """Close an issue: `{}`, or `{"error": …}`."""

    key: str


OrchestratorRequest = Dispatch | Relabel | Comment | Close
"""What is asked for by phases themselves, and not by the runs of their agents."""
