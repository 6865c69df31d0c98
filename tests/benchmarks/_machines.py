"""One graph of 1,000 nodes in a circle, run by stagec's machine, by LangGraph, and with a history of either on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stagec_dev.checkout import ROOT
from stagec_dev.cost import NoBaselineError

NODES = 1_000
_PLAN = """
import time
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.act import Prompt
from stagec.ir.plan.document import Contents, Limits, Names, Plan
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Stop
from stagec.ir.plan.act import Text
from stagec.runtime.machine import Answered, Started, State, advance, load

contents = Contents()
schema = contents.add('{"required": ["action"], "properties": {"action": {"enum": ["next", "closing"]}}}')
gate = IntentGate(("action",), ("next", "closing"))


def node(number):
    act = Prompt((Text(contents.add(f"Do number {number}.")),), schema=schema)
    edges = (Edge("next", Go(f"n{(number + 1) % NODES}")), Edge("closing", Stop(Outcome.DONE)))
    return Node(act, gate, edges, kind="work")


nodes = {f"n{number}": node(number) for number in range(NODES)}
plan = Plan("circle", Names("step", "intent"), {"": "n0"}, nodes, contents.texts, Limits(STEPS), entry="")
data = dump(replace(plan, facts=facts(plan)))
program = load(data)
answer = {"answer": {"action": "next"}}


def run():
    step = advance(program, State(), Started("run"))
    while step.state.ended is None:
        step = advance(program, step.state, Answered(next(iter(step.state.pending)), answer))


run()  # loads what is loaded late
"""
_MEMORY = f"""{_PLAN}
def timed():
    begun = time.perf_counter()
    run()
    return (time.perf_counter() - begun) / STEPS


print(min(timed() for _ in range(10)))
"""
_JOURNAL = f"""{_PLAN}
from pathlib import Path
from stagec.runtime.drivers.local import create, drive


class World:
    def answer(self, effect):
        return answer


journal = create(Path("run.journal"), data, program.digest)
begun = time.perf_counter()
drive(program, journal, World(), Started("run"))
print((time.perf_counter() - begun) / STEPS)
"""
_INTERRUPTED = f"""{_PLAN}
import json, os, sys
from pathlib import Path
from stagec.runtime.drivers.local import create, drive

os.fsync = os.fdatasync = lambda _: None  # nothing depends on this disk
left = iter(range(STEPS - 1))  # the beginning is an event as well


class World:
    def answer(self, effect):
        if next(left, None) is None:
            sys.exit(0)
        return answer


scenario = {{"answers": {{name: {{"action": "closing"}} for name in nodes}}}}
Path("scenario.json").write_text(json.dumps(scenario))
drive(program, create(Path(FILE), data, program.digest), World(), Started("run"))
"""
_BARE = """
import sqlite3, time

connection = sqlite3.connect("bare.sqlite", isolation_level=None)
for pragma in ("journal_mode = WAL", "synchronous = FULL", "locking_mode = EXCLUSIVE"):
    connection.execute(f"PRAGMA {pragma}")
connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, body TEXT NOT NULL)")
body = "x" * 120
begun = time.perf_counter()
for seq in range(STEPS):
    connection.execute("INSERT INTO events VALUES (?, ?, ?)", (seq, f"run/n{seq}#1/1.0", body))
print((time.perf_counter() - begun) / STEPS)
"""
_LANGGRAPH = """
import sqlite3, time
from typing import TypedDict
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    done: int


graph = StateGraph(State)
for number in range(NODES):
    graph.add_node(f"n{number}", lambda state: {"done": state["done"] + 1})
    following = f"n{(number + 1) % NODES}"
    route = lambda state, following=following: END if state["done"] >= STEPS else following
    graph.add_conditional_edges(f"n{number}", route, [following, END])
graph.add_edge(START, "n0")
saver = None
if SAVED:
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect("langgraph.sqlite", check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    saver = SqliteSaver(connection)
app = graph.compile(checkpointer=saver)
begun = time.perf_counter()
app.invoke({"done": 0}, {"recursion_limit": 10**9, "configurable": {"thread_id": "run"}})
print((time.perf_counter() - begun) / STEPS)
"""


def memory(folder: Path, steps: int) -> float:
    """Return the seconds of one transition of the machine, in memory, in the best of ten runs."""
    return _seconds(sys.executable, f"STEPS = {steps}\n{_MEMORY}", folder)


def journaled(folder: Path, steps: int) -> float:
    """Return the seconds of one transition with a journal."""
    return _seconds(sys.executable, f"STEPS = {steps}\n{_JOURNAL}", folder)


def interrupt(file: Path, events: int) -> None:
    """Make the journal of a run that was interrupted after some events; `scenario.json` beside it ends the run."""
    _run(sys.executable, f"STEPS, FILE = {events}, {file.name!r}\n{_INTERRUPTED}", file.parent)


def transitions(count: int) -> str:
    """Return the lines of a program that makes so many transitions in memory."""
    return f"NODES, STEPS = {NODES}, {count}\n{_PLAN}"


def bare(folder: Path, steps: int) -> float:
    """Return the seconds of one commit of a bare loop over the same library, as durable as the journal."""
    return _seconds(sys.executable, f"STEPS = {steps}\n{_BARE}", folder)


def langgraph(folder: Path, steps: int, *, saved: bool) -> float:
    """Return the seconds of one step of LangGraph, in memory or saved in SQLite as durably as the journal.

    `STAGEC_LANGGRAPH` names a Python that has `langgraph` and `langgraph-checkpoint-sqlite`, this one by default.
    """
    python = os.environ.get("STAGEC_LANGGRAPH", sys.executable)
    if subprocess.run([python, "-c", "import langgraph"], capture_output=True, check=False).returncode:
        raise NoBaselineError("LangGraph is not installed: STAGEC_LANGGRAPH names a Python that has it")
    return _seconds(python, f"STEPS, SAVED = {steps}, {saved}\n{_LANGGRAPH}", folder)


def _seconds(python: str, code: str, folder: Path) -> float:
    return float(_run(python, code, folder))


def _run(python: str, code: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    argv = [python, "-c", f"NODES = {NODES}\n{code}"]
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
