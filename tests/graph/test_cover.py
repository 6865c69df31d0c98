from __future__ import annotations

import sys
from types import FrameType

from stagec.ir.graph.cover import Leg, WayCover


def _count_calls(count: int) -> float:
    """Return how many functions run for each leg of the ways through a chain with ways back and to an end."""
    last = count + 1
    legs = [Leg(0, 2), *(Leg(at, at + 1) for at in range(2, last)), *(Leg(at + 1, at) for at in range(2, last))]
    legs += [Leg(at, 1) for at in range(2, last + 1)]
    calls = 0

    def note(frame: FrameType, event: str, _given: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_globals is own

    own = WayCover.find.__globals__
    sys.setprofile(note)
    try:
        ways = WayCover(legs, (0,), (1,), None).find()
    finally:
        sys.setprofile(None)
    assert {at for way in ways for at in way} == {*range(len(legs))}
    return calls / sum(map(len, ways))


def test_cycles_are_joined_in_calls_that_grow_with_the_length_of_all_ways() -> None:
    assert _count_calls(80) < 1.5 * _count_calls(40)
