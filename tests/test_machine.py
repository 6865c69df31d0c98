"""`stagec.machine` names everything that a driver needs."""

from __future__ import annotations

from typing import get_args

from stagec import machine


def test_every_event_and_every_request_is_public() -> None:
    classes = {each.__name__ for each in (*get_args(machine.Event), *get_args(machine.Effect))}
    assert classes <= {*machine.__all__}
    assert all(hasattr(machine, name) for name in machine.__all__)
