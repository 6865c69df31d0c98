"""Large flows, and what it costs to ask an implementation about them, the flow itself not counted."""

from __future__ import annotations

import sys
from pathlib import Path

from stagec_dev.cost import MeasuredProgram

QUESTIONS = "startable stuck traps components shortest_run"
"""All questions."""
COMPACT, NETWORKX = "stagec.ir.graph.graph Graph", "graph.oracle NetworkxGraph"

_PROGRAM = """
import gc, sys
sys.path.append(sys.argv.pop())
from importlib import import_module
from stagec.core.place import Place
from stagec.ir.flow import Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.plan.node import Edge, Go, Outcome, Stop
gc.disable()
count, shape, module, name, questions = int(sys.argv[1]), *sys.argv[2:]

def near(at):
    return at + 1, at * 7919 % (at + 30), *((at // 2,) if at % 2 else ())

def closure(at):
    return at + 1, count - 1

place, last = Place("flow.json"), count - 1
nodes = {}
for at in range(count):
    led = (near, closure)[shape == "closure"](at) if at < last else ()
    targets = [Go(str(min(each, last))) for each in led] or [Stop(Outcome.DONE)]
    edges = tuple([WrittenEdge(str(at), Edge("", target), place) for target in targets])
    nodes[str(at)] = FlowNode(str(at), place, edges=edges)
flow = Flow("flow", place, {"0": Entry("0", place)}, nodes)
if questions:
    graph = getattr(import_module(module), name)(flow)
    for question in questions.split():
        getattr(graph, question)(*(("0",) if question.endswith("_run") else ()))
"""


def seconds(folder: Path, count: int, shape: str, implementation: str, questions: str = QUESTIONS) -> float:
    """Return the processor time of the answers; `shape` is `near` (2.5 edges a node) or `closure` (all lead to one)."""
    given = (str(count), shape, *implementation.split())
    tests = str(Path(__file__).parents[1])
    asked, silent = (
        MeasuredProgram((sys.executable, "-c", _PROGRAM, *given, each, tests), folder, runs=3).seconds()
        for each in (questions, "")
    )
    return asked - silent
