"""Plans that were changed by chance: stagec and a reader written from the page alone refuse the same ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from campaigns import choose
from plan_vectors.files import RefusedError, read

from stagec.core.canonical import canonical
from stagec.ir.plan import PlanError, load
from stagec.ir.plan.loader import write_frame

FILES = sorted((Path(__file__).parents[1] / "plan_vectors").glob("*/plan.json"))
PLANS = [json.loads(path.read_bytes())["plan"] for path in FILES]
ODD = (
    0,
    1,
    -1,
    True,
    False,
    None,
    "",
    "a",
    "done",
    "prompt",
    1.5,
    2**53,
    [],
    {},
    ["a"],
    {"is": "stop", "outcome": "done"},
)
MEMBERS = (
    "target",
    "fallback",
    "more",
    "is",
    "when",
    "retry",
    "schema",
    "server",
    "url",
    "failFast",
    "prompt",
    "needed",
)
CHUNKS, CHUNK = choose(2, whole=5), 60


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a value: what it is in, and under which name or index."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield value, key
        yield from places(each)


def change(plan: Any, random: Random) -> None:
    """Change something in a plan: take it away, or put something else or something of another plan there."""
    around, key = random.choice([place for place in places(plan) if place[0] is not plan["contents"]])
    other, place = random.choice([*places(random.choice(PLANS))])
    chance = random.random()
    if chance < 0.3:
        del around[key]
    elif chance < 0.5:
        around[key] = deepcopy(random.choice(ODD))
    elif chance < 0.8 or not isinstance(around[key], dict):
        around[key] = deepcopy(other[place])
    else:
        around[key][random.choice(MEMBERS)] = deepcopy(random.choice(ODD))


def refused_by_the_page(data: bytes) -> str | None:
    try:
        read(data)
    except RefusedError as why:
        return str(why)
    return None


def refused_by_stagec(data: bytes) -> str | None:
    try:
        load(data)
    except PlanError as why:
        return str(why)
    return None


@pytest.mark.parametrize("random", list(map(Random, range(CHUNKS))), ids=range(CHUNKS))
def test_both_readers_refuse_the_same_plans(random: Random) -> None:
    for _ in range(CHUNK):
        plan = deepcopy(random.choice(PLANS))
        for _ in range(random.choice((1, 1, 1, 2))):
            change(plan, random)
            if not isinstance(plan.get("contents"), dict):
                break
        data = write_frame(canonical(plan))
        page, ours = refused_by_the_page(data), refused_by_stagec(data)
        assert (page is None) == (ours is None), (page, ours)
