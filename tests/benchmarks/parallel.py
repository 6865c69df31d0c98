"""Four stages whose model takes a moment, two of them parallel, against the same stages one after the other."""

from __future__ import annotations

import time
from pathlib import Path

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.drivers.local import run
from stagec.plan import Plan, dump
from stagec.plan.act import Converse
from stagec.plan.document import Contents, Limits, Names
from stagec.plan.facts import facts
from stagec.plan.gate import VerdictGate
from stagec.plan.node import Edge, Fork, Go, Node, Outcome, Stop
from stagec.plan.template import Text
from stagec.runtime import Effect, Started
from stagec_dev.cost import Benchmark

SECONDS = 1.0
FAIL = Edge("fail", Stop(Outcome.FAILED))


class Slow:
    """A model that takes its time, and hands in an empty result."""

    def answer(self, effect: Effect) -> Json:
        """Return a turn."""
        time.sleep(SECONDS)
        return {"calls": [{"id": "1", "tool": "submit", "arguments": {}}]} if effect.key else {}


def _plan(parallel: int) -> bytes:
    """Return a plan of four stages, of which the second and the third are siblings."""
    contents = Contents()
    act = Converse((Text(contents.add("Work.")),), (), "submit", contents.add("true"), 1)
    edges = {
        "a": Edge("ok", Fork(("b", "c"), "d")),
        "b": Edge("ok", Go("d")),
        "c": Edge("ok", Go("d")),
        "d": Edge("ok", Stop(Outcome.DONE)),
    }
    nodes = {name: Node(act, VerdictGate(), (edge, FAIL)) for name, edge in edges.items()}
    made = Plan("four", Names("stage", "verdict"), {"": "a"}, nodes, contents.texts, Limits(9, parallel=parallel), "")
    return dump(replace(made, facts=facts(made)))


def _seconds(parallel: int) -> float:
    data, begin = _plan(parallel), time.perf_counter()
    ended = run(data, Slow(), Started("one")).ended
    if ended is not Outcome.DONE:
        raise RuntimeError(ended)
    return time.perf_counter() - begin


def _measure(_folder: Path) -> tuple[float, float]:
    return _seconds(2), _seconds(1)


PARALLEL_BENCHMARK = Benchmark(
    "run four stages of one second, two of them parallel", "the same one after the other", _measure, wish=0.8
)
