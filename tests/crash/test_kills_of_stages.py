"""A run of stages whose runner is killed again and again ends as one that nobody disturbs, and no stage runs twice."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from campaigns import choose
from crash.stages import Killed, Winery, killed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
KILLS = choose(5, whole=16)


def test_what_is_killed_and_resumed_is_what_nobody_disturbed(tmp_path: Path) -> None:
    winery, found = Winery(tmp_path), list[Killed]()
    while sum(len(each.kills) for each in found) < KILLS:
        name = f"killed-{len(found)}"
        found.append(killed(winery, name, random.Random(name)))  # noqa: S311
    kills = [kill for each in found for kill in each.kills]
    inside = [kill for kill in kills if kill.inside]
    running = Counter(stage for kill in inside for stage in kill.running)
    print(f"\n{len(kills)} kills of {len(found)} runs, {len(inside)} inside, {dict(sorted(running.items()))}")  # noqa: T201
    assert [fault for each in found for fault in each.faults] == []
    assert [fault for kill in kills for fault in kill.faults] == []
    assert len(inside) >= 0.8 * len(kills)
