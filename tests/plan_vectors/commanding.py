"""Nodes that run a program."""

from __future__ import annotations

from typing import Any

from plan_vectors.execution import Execution
from plan_vectors.knowledge import Knowledge
from plan_vectors.tasks import Steps
from plan_vectors.texts import NOTHING, HoleError, follow, render


def command(knows: Knowledge, execution: Execution) -> Steps:
    """Run the program and return the answer; nothing when its command line cannot be made."""
    act = execution.node["act"]
    scope = {"input": knows.inputs}
    holes = [piece for word in act["words"] for piece in word if piece["is"] == "hole"]
    if any(follow(scope, hole["path"]) in (NOTHING, None) for hole in holes):
        return None
    try:
        words = [render(word, scope, knows.contents) for word in act["words"]]
    except HoleError:
        return None
    ended: dict[str, Any] = yield execution.ask("run", words=words, milliseconds=act["milliseconds"])
    return {name: ended[name] for name in ("exit", "stdout")}
