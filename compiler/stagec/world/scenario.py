"""What a scenario file says: the answers of a world that is written down beforehand."""

from __future__ import annotations

from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.value import NOTHING, value


@value
class Scenario:
    """The answers by node, tool, callable and command line, as the published schema of scenarios describes them.

    Wherever a list of answers may stand, it has one for each visit of a node, and the last one repeats. `source` is
    what people call the scenario; None is the scenario of a run that was given none.
    """

    source: str | None = None
    entry: str | None = None
    inputs: Object = NOTHING
    answers: Object = NOTHING
    conversations: Object = NOTHING
    tools: Object = NOTHING
    grants: Json = False
    judge: Json = None
    confirm: Json = None
    hooks: Object = NOTHING
    commands: Object = NOTHING
    skips_waits: bool = False
    pace: int = 0


def parse_scenario(given: Json, source: str) -> Scenario:
    """Return the scenario that a document means; whatever in it is not as its schema says counts as absent."""
    told = object_of(given)
    return Scenario(
        source,
        text_in(told, "entry"),
        object_of(told.get("inputs")),
        object_of(told.get("answers")),
        object_of(told.get("conversations")),
        object_of(told.get("tools")),
        told.get("grants", False),
        told.get("judge"),
        told.get("confirm"),
        object_of(told.get("hooks")),
        object_of(told.get("commands")),
        told.get("waits") == "skip",
        _milliseconds(told.get("pace")),
    )


def _milliseconds(given: Json) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else 0
