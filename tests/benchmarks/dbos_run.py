"""Runs of the examples by a worker on PostgreSQL against bare workflows of DBOS with as many steps."""

from __future__ import annotations

from pathlib import Path

import postgres
from scale.throughput import measure_bare, measure_stagec

from stagec_dev.cost import Benchmark, NoBaselineError

_RUNS = 200


def _measure(_folder: Path) -> tuple[float, float]:
    obstacle = postgres.find_obstacle()
    if obstacle is not None:
        raise NoBaselineError(obstacle)
    with postgres.open_own({"fsync": "on"}) as server:
        ours, theirs = (measure(server, 1, _RUNS) for measure in (measure_stagec, measure_bare))
    return ours.seconds / ours.events, theirs.seconds / theirs.events


RUNS_ON_POSTGRES = Benchmark(
    "dbos: an event of a worker on PostgreSQL", "a step of a bare workflow", _measure, wish=1.25
)
