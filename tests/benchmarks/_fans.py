"""Plans whose stages run beside each other, and models that take their time."""

from __future__ import annotations

import time
from pathlib import Path

from stagec.core.json import Json
from stagec.core.value import replace, value
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Converse, Text
from stagec.ir.plan.document import Contents, Limits, Names
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import VerdictGate
from stagec.ir.plan.node import Edge, Fork, Go, Node, Outcome, Stop
from stagec.runtime.drivers.local import create, drive
from stagec.runtime.machine import Effect, Started, load

_FAIL = Edge("fail", Stop(Outcome.FAILED))


@value
class Slow:
    """A model that takes its time, and hands in an empty result."""

    seconds: float

    def answer(self, _effect: Effect) -> Json:
        """Return a turn."""
        time.sleep(self.seconds)
        return {"calls": [{"id": "1", "tool": "submit", "arguments": {}}]}


def fan(siblings: int, parallel: int) -> bytes:
    """Return a plan: a stage, its siblings, and a stage that joins them."""
    contents = Contents()
    act = Converse((Text(contents.add("Work.")),), (), "submit", contents.add("true"), 1)
    names = tuple(f"s{number}" for number in range(siblings))
    edges = {
        "begin": Edge("ok", Fork(names, "end")),
        **dict.fromkeys(names, Edge("ok", Go("end"))),
        "end": Edge("ok", Stop(Outcome.DONE)),
    }
    nodes = {name: Node(act, VerdictGate(), (edge, _FAIL)) for name, edge in edges.items()}
    limits = Limits(2 * len(nodes), parallel=parallel)
    made = Plan("fan", Names("stage", "verdict"), {"": "begin"}, nodes, contents.texts, limits, "")
    return dump(replace(made, facts=facts(made)))


@value
class Effort:
    """What a run took: seconds of the clock, and of the processor for each answer."""

    seconds: float
    processor: float


def run_fan(folder: Path, data: bytes, model: Slow) -> Effort:
    """Run a plan with a journal; the model needs no processor."""
    program = load(data)
    journal = create(folder / f"{time.monotonic_ns()}.journal", data, program.digest)
    begin, used = time.perf_counter(), time.process_time()
    ended = drive(program, journal, model, Started("one")).ended
    effort = Effort(time.perf_counter() - begin, (time.process_time() - used) / len(program.plan.nodes))
    if ended is not Outcome.DONE:
        raise RuntimeError(ended)
    return effort
