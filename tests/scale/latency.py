"""How soon a request follows when a person has answered a question, and nothing executes the run meanwhile.

PYTHONPATH=tests:compiler python -m scale.latency 50
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import postgres
from conformance.ports.dbos import DbosDriver
from conformance.samples import SAMPLES
from conformance.trial import on_trial

from stagec.runtime.drivers.dbos import RunPhase

ASKING = SAMPLES["scopes-let-in"]


def measure(count: int) -> Sequence[float]:
    """Answer one run after the other; return the seconds after each answer until the next request is made."""
    found = []
    with postgres.open_own({"fsync": "on"}) as server, tempfile.TemporaryDirectory() as folder:
        driver = DbosDriver(Path(folder), server.create_database())
        with on_trial(driver, Path(folder), pace=0) as trial:
            trial.start_worker()
            runs = [trial.submit(ASKING, number) for number in range(count)]
            trial.wait(lambda: len(driver.store.list_records([RunPhase.WAITING])) == count, "all runs wait", 300)
            for run in runs:
                known, state = trial.log.count, trial.follow(run)
                begun = time.monotonic()
                trial.answer_questions(run, state)
                while trial.log.count == known:
                    time.sleep(0.002)
                found.append(time.monotonic() - begun)
                trial.finish(run)
        driver.close()
    return found


def main(words: Sequence[str]) -> None:
    """Print the median and the longest time."""
    found = sorted(measure(int(words[0])))
    told = {"answers": len(found), "median": round(median(found), 3), "longest": round(found[-1], 3)}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
