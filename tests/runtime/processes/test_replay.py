"""A run of processes is replayed equal from its events as a journal holds them, also one that was resumed."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from campaigns import choose
from properties.random_stages import make_stages
from properties.soundness.stage_runs import StageRun

from stagec.ir.plan import dump
from stagec.runtime.drivers.history import History, dump_event, load_event
from stagec.runtime.drivers.replay import advance_through, digest_step, replay_twice
from stagec.runtime.machine import Event, State, load


class Recorded(StageRun):
    """A run that keeps its events and the digests of its steps, which follow from what a journal gives back."""

    def __init__(self, data: bytes, random: Random) -> None:
        super().__init__(load(data), random, Counter(), rude=False)
        self.events: list[Event] = []

    def _tell(self, event: Event) -> None:
        self.events.append(load_event(dump_event(event)))
        super()._tell(self.events[-1])


@pytest.mark.parametrize("seed", range(choose(20, whole=100)))
def test_a_run_of_processes_is_replayed_equal(seed: int) -> None:
    data = dump(make_stages(Random(seed)))  # noqa: S311
    run = Recorded(data, Random(seed))  # noqa: S311
    run.play()
    program, again = load(data), load(data)
    digests = []
    for number, (_, step) in enumerate(advance_through(program, run.events)):
        digests.append(digest_step(number, step))
    found = replay_twice(program, again, History(data, program.digest, tuple(run.events), tuple(digests)))
    assert isinstance(found, State)
    assert found == run.state
