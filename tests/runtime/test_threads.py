"""Runs that begin at once in several threads of a new process come to the ends to which they come one after the other.

Much is prepared when it is first needed: classes, schemas, patterns. A worker has one thread for each run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from campaigns import choose

TESTS = Path(__file__).resolve().parents[1]
VECTORS = TESTS / "plan_vectors"
THREADS = choose(4, whole=8)
PROGRAM = f"""
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from stagec.core.secrets import Redactor
from stagec.runtime.drivers.history import dump_event, load_event
from stagec.runtime.drivers.redaction import redact_event
from stagec.runtime.drivers.replay import digest_step
from stagec.runtime.machine import Started, State, advance, load
from stagec.runtime.machine.exchange import Answered

programs = {{each.parent: load(each.read_bytes()) for each in Path({str(VECTORS)!r}).glob("*/plan.json")}}
traces = [(folder, json.loads(each.read_text())) for folder in programs for each in sorted(folder.glob("*.trace.json"))]
start = Barrier({THREADS})
sys.setswitchinterval(1e-6)


def read(event):
    if event["is"] == "answer":
        return Answered(event["to"], event["answer"])
    return Started(event["run"], event.get("entry"), event.get("inputs", {{}}))


def follow(program, trace):
    state, redactor = State(), Redactor({{}})
    for number, event in enumerate(each["event"] for each in trace if each["event"]["is"] in ("start", "answer")):
        step = advance(program, state, load_event(dump_event(redact_event(redactor, read(event)))))
        state = step.state
        yield digest_step(number, step)


def run(_):
    start.wait()
    return [digest for folder, trace in traces for digest in follow(programs[folder], trace)]


with ThreadPoolExecutor({THREADS}) as threads:
    found = list(threads.map(run, range({THREADS})))
assert all(each == found[0] for each in found)
assert len(found[0]) > 500, len(found[0])
"""


def test_runs_may_begin_at_once_in_several_threads() -> None:
    paths = os.pathsep.join(map(str, (TESTS, TESTS.parent / "compiler")))
    environment = {**os.environ, "PYTHONPATH": paths}
    ended = subprocess.run(
        (sys.executable, "-c", PROGRAM), env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
