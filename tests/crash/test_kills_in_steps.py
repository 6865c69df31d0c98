"""A process is killed in a step that asks a model again and again: nothing that was answered is asked again."""

from __future__ import annotations

import signal
from pathlib import Path

from crash.tool_loops import ROUNDS, Folder, Kill
from world.models.wire import serve


def find_faults(kills: list[Kill], path: Path) -> list[str]:
    """Kill a run at some requests and calls, and compare it with a run that nobody disturbs."""
    with serve() as wire:
        folder = Folder(path, wire)
        assert folder.proceed("whole") == 0, (path / "said").read_text()
        for each in kills:
            folder.aim(each)
            assert folder.proceed("killed") == -signal.SIGKILL
        assert folder.proceed("killed") == 0, (path / "said").read_text()
        return [*folder.find_faults(kills)]


def test_only_what_was_under_way_is_repeated(tmp_path: Path) -> None:
    kills = [Kill(is_call=False, number=1), Kill(is_call=True, number=2), Kill(is_call=False, number=ROUNDS)]
    assert find_faults(kills, tmp_path) == []


def test_a_run_that_is_killed_at_each_request_and_in_each_call_repeats_each_once(tmp_path: Path) -> None:
    kills = [Kill(is_call=is_call, number=number) for number in range(ROUNDS) for is_call in (False, True)]
    assert find_faults(kills, tmp_path) == []
