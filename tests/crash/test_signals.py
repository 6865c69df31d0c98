"""Requests to end at random moments of every command: each ends, in order, and leaves nothing half-written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from crash.signals import COMMANDS, Ending, asked_to_end, left_behind

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the signals of POSIX")


def test_every_command_that_is_asked_to_end_ends_in_order(tmp_path: Path) -> None:
    endings = list(asked_to_end(tmp_path, len(COMMANDS)))
    assert [(each.command, each.signals, *each.faults) for each in endings if any(each.faults)] == []
    assert left_behind(tmp_path) == []


def test_what_is_wrong_with_an_ending_is_noticed() -> None:
    traceback = f'Traceback (most recent call last):\n  File "stagec{os.sep}cli{os.sep}app.py"'
    assert list(Ending("run", (), 0, 0, 4, "").faults) == ["status 4"]
    assert list(Ending("run", (), 0, 0, 0, traceback).faults) == [traceback]
    assert list(Ending("run", (), 0, 0, 130, "thread '<unnamed>' panicked").faults)[1:] == [
        "thread '<unnamed>' panicked"
    ]
    assert list(Ending("run", (), 0, 0, 0, "").faults) == []
