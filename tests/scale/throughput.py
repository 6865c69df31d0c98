"""How many runs end in a second, with so many workers, beside bare workflows of the engine with as many steps.

The local driver executes the same runs beside them, one after the other in one process, each with its journal.

    PYTHONPATH=tests:compiler python -m scale.throughput 1000 1 2 4

The runs are those of stagec's examples, which a world answers that takes no time: what is measured is what the engine,
the database and the machine take.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import postgres
from conformance.ports.dbos import DbosDriver
from conformance.ports.processes import Process
from conformance.samples import SAMPLES, Sample
from conformance.world import LOG, LoggedWorld
from postgres import Postgres

from scale.processes import CONCURRENCY, QUEUE, open_client
from stagec.runtime.drivers import dbos, local
from stagec.runtime.machine import Started, load

EXAMPLES = (
    "code-review-straight",
    "code-review-rework",
    "docs-repair-straight",
    "docs-repair-repaired",
    "issue-solver-straight",
    "project-lead-straight",
    "project-lead-rounds",
)
PATIENCE = 600.0
ENDED = "SELECT count(*) FROM stagec.runs WHERE ended_at IS NOT NULL"
ENDED_BARE = "SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS' AND queue_name = 'bare'"


class Throughput(NamedTuple):
    """What so many workers did: runs and events, and the seconds from the first look to the end of the last run."""

    workers: int
    runs: int
    events: int
    seconds: float

    @property
    def events_per_second(self) -> float:
        """Events that were acknowledged in a second."""
        return self.events / self.seconds


def list_samples() -> list[Sample]:
    """Return the examples in turn."""
    return [SAMPLES[name] for name in EXAMPLES]


def submit(driver: DbosDriver, count: int) -> int:
    """Submit so many runs of the examples, and return how many events they will have."""
    samples = list_samples()
    digests = {each.name: load(each.plan).digest for each in samples}
    chosen = [samples[number % len(samples)] for number in range(count)]

    def make(number: int) -> dbos.Submission:
        first = chosen[number].submission(number)
        return dbos.Submission(first.run, first.plan, digests[chosen[number].name], first.entry, first.inputs)

    assert all(driver.store.submit(map(make, range(count))))
    return sum(each.length for each in chosen)


def measure_stagec(server: Postgres, workers: int, count: int) -> Throughput:
    """Execute so many runs by so many workers."""
    with tempfile.TemporaryDirectory() as folder:
        driver = DbosDriver(Path(folder), server.create_database())
        name = driver.url.rpartition("/")[2]
        events = submit(driver, count)
        try:
            seconds = run_to_end(
                lambda: driver.start_worker({LOG: "/dev/null"}),
                workers,
                lambda: int(server.execute(ENDED, name)[0][0]),
                count,
            )
        finally:
            driver.close()
    return Throughput(workers, count, events, seconds)


def measure_bare(server: Postgres, workers: int, count: int) -> Throughput:
    """Execute bare workflows with as many steps as the runs of the examples have events."""
    samples = list_samples()
    steps = [samples[number % len(samples)].length for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        DbosDriver(Path(folder), url := server.create_database()).close()
        name = url.rpartition("/")[2]
        with open_client(url) as client:
            client.register_queue(QUEUE, worker_concurrency=CONCURRENCY, polling_interval_sec=0.1)
            for number, each in enumerate(steps):
                options = {
                    "workflow_name": "bare",
                    "queue_name": QUEUE,
                    "workflow_id": f"w{number}",
                    "app_version": "1",
                }
                client.enqueue(options, each)
        said = Path(folder) / "said"
        seconds = run_to_end(
            lambda: Process("scale.processes", (url,), {}, said),
            workers,
            lambda: int(server.execute(ENDED_BARE, name)[0][0]),
            count,
        )
    return Throughput(workers, count, sum(steps), seconds)


def measure_local(count: int) -> Throughput:
    """Execute so many runs by the local driver, in this process."""
    samples = list_samples()
    chosen = [samples[number % len(samples)] for number in range(count)]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number, each in enumerate(chosen):
            first, world = each.submission(number), LoggedWorld(Path(os.devnull), 0.0)
            path = Path(folder) / f"{first.run}.run"
            with closing(local.create(path, first.plan, each.program.digest)) as journal:
                local.drive(each.program, journal, world, Started(first.run, first.entry, first.inputs))
    return Throughput(1, count, sum(each.length for each in chosen), time.monotonic() - begun)


def run_to_end(start: Callable[[], Process], workers: int, count_ended: Callable[[], int], wanted: int) -> float:
    """Start workers, and return the seconds from the end of the first runs to that of the last, for all of them."""
    processes = [start() for _ in range(workers)]
    try:
        known, begun = _wait(count_ended, 1), time.monotonic()
        _wait(count_ended, wanted)
        return (time.monotonic() - begun) * wanted / max(1, wanted - known)
    finally:
        for each in processes:
            each.signal(signal.SIGTERM)
        for each in processes:
            try:
                each.wait(20)
            except TimeoutError:
                each.signal(signal.SIGKILL)


def _wait(count_ended: Callable[[], int], wanted: int) -> int:
    until = time.monotonic() + PATIENCE
    while (found := count_ended()) < wanted:
        if time.monotonic() > until:
            raise TimeoutError(f"{found} of {wanted} runs have ended")
        time.sleep(0.05)
    return found


def main(words: Sequence[str]) -> None:
    """Measure with the numbers of workers that are named, and print a line of JSON for each."""
    count, *numbers = map(int, words)
    _tell("local driver", measure_local(count))
    with postgres.open_own({"fsync": "on"}) as server:
        for workers in numbers:
            for name, measure in (("stagec", measure_stagec), ("bare", measure_bare)):
                _tell(name, measure(server, workers, count))


def _tell(name: str, found: Throughput) -> None:
    told = {"what": name, **found._asdict(), "events per second": round(found.events_per_second, 1)}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
