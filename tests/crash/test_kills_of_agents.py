"""A run with a model and an MCP server that is killed at any moment asks nothing again and leaves nothing behind."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from campaigns import choose
from crash.agents import STAGES, TOKENS, TURNS, Agents, Kill, answer, killed
from world.models.wire import serve

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
KILLS = choose(3, whole=6)


def test_what_is_killed_is_asked_called_and_paid_for_once(tmp_path: Path) -> None:
    with serve(answer=answer) as wire:
        agents, runs = Agents(tmp_path, wire), list[list[Kill]]()
        assert len(wire.asked) == len(STAGES) * TURNS
        while sum(len(each) - 1 for each in runs) < KILLS:
            name = f"killed-{len(runs)}"
            runs.append([*killed(agents, name, random.Random(name))])  # noqa: S311
    kills = [kill for each in runs for kill in each]
    inside = sum(each.inside for each in kills)
    print(f"\n{len(kills) - len(runs)} kills of {len(runs)} runs, {inside} inside")  # noqa: T201
    assert [fault for kill in kills for fault in kill.faults] == []
    used = agents.usage()
    assert len(used) == len(runs) + 1
    assert all(each == used["whole"] for each in used.values())
    assert used["whole"]["input"] + used["whole"]["output"] == len(STAGES) * TURNS * TOKENS
    assert used["whole"]["cost"] is not None
    assert inside >= 0.5 * (len(kills) - len(runs))
