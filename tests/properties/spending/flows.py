"""Random flows of every kind that runs can be prolonged in: retries, repeats, validations, joins, chains, agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from phased import Worker, make_phases

from stagec.core.canonical import digest
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Command, Converse, Process, ProcessLimits, Prompt, Repeat
from stagec.ir.plan.document import Limits, Names, Phases, Success, Tool, Validator
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import (
    Among,
    Backoff,
    Check,
    Condition,
    ExitGate,
    IntentGate,
    Retry,
    StageGate,
    Validation,
    VerdictGate,
)
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Named, Node, Outcome, Schedule, Stop, Target

ANY = "{}"
SCHEMA = digest(ANY.encode())
DONE, FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
_VALIDATORS = {"clean": Validator("true", Success("exit", "0"), "unclean")}
_TOOLS = {"t": Tool("unknown", "read")}
_VERDICTS = ("fail", "retry")


class Maker:
    """Makes one flow; with `onward` every edge leads to a later node, so nothing repeats by an edge."""

    def __init__(self, seed: int, *, onward: bool) -> None:
        self.chance = Random(f"spending {seed} {onward}")  # noqa: S311
        self.onward = onward
        self.names = [f"n{index}" for index in range(self.chance.randint(1, 6))]

    def make(self) -> Plan:
        kind = self.chance.choice(("steps", "stages", "stages", "mixed"))
        nodes = {name: self._node(index, kind) for index, name in enumerate(self.names)}
        limit = self.chance.choice((None, None, 4, 7, 11) if self.onward else (3, 5, 8))
        reached = self.chance.choice((Outcome.DONE, Outcome.FAILED, Outcome.FAILED))
        limits = Limits(limit, reached, self.chance.randint(1, 3))
        names, texts = Names("step", "intent"), {SCHEMA: ANY}
        plan = Plan("flow", names, {"": "n0"}, nodes, texts, limits, "", validators=_VALIDATORS, tools=_TOOLS)
        return replace(plan, facts=facts(plan))

    def _node(self, index: int, kind: str) -> Node:
        if kind == "mixed":
            kind = self.chance.choice(("steps", "stages", "commands"))
        ahead = self.names[index + 1 :] if self.onward else self.names
        return {"steps": self._step, "stages": self._stage, "commands": self._command}[kind](self.names[index], ahead)

    def _step(self, name: str, ahead: Sequence[str]) -> Node:
        intents = [*("next", "closing", "handoff")[: self.chance.randint(1, 3)]]
        edges = [Edge(each, self._target(ahead, named=True)) for each in intents]
        repeats = None
        if self.chance.random() < 0.3:
            repeats = tuple(Repeat(()) for _ in range(self.chance.randint(0, 2)))
            edges.append(Edge("repeat", Go(name)))
            intents.append("repeat")
        validation = None
        if not self.onward and self.chance.random() < 0.3:
            action = self.chance.choice(("retry", "retry", "skip", "abort"))
            validation = Validation((Condition("clean"),), action, self.chance.randint(1, 3))
        gate = IntentGate(("do",), tuple(intents), target=("to",))
        return Node(Prompt((), repeats=repeats, tools=("t",)), gate, tuple(edges), validation=validation)

    def _stage(self, _name: str, ahead: Sequence[str]) -> Node:
        checks = tuple(Check(each, (Among(("parsed", "v"), (each,)),)) for each in _VERDICTS)
        edges = []
        for outcome in ("ok", "fail"):
            ways = [(Among(("parsed", "way"), (way,)),) for way in range(self.chance.randint(0, 2))]
            edges += [Edge(outcome, self._target(ahead), when) for when in (*ways, ())]
        retry = Retry(self.chance.randint(1, 3), Backoff("fixed", 10)) if self.chance.random() < 0.5 else None
        act = Converse((), ("t",), "submit", SCHEMA, self.chance.randint(1, 3))
        return Node(act, VerdictGate(checks), tuple(edges), retry=retry)

    def _command(self, _name: str, ahead: Sequence[str]) -> Node:
        ways = tuple(Edge(each, self._target(ahead)) for each in ("closing", "repeat"))
        return Node(Command(((),), 50), ExitGate(), ways)

    def _target(self, ahead: Sequence[str], *, named: bool = False) -> Target:
        kinds: list[Callable[[], Target]] = [lambda: DONE, lambda: FAILED]
        if ahead:
            kinds += [lambda: Go(self.chance.choice(ahead))] * 3 + [lambda: Chain(tuple(self._some(ahead, 1)))]
            if named:
                kinds += [lambda: Named({each: each for each in self._some(ahead, 1)})]
        if len(ahead) > 1:
            kinds += [lambda: self._fork(ahead)] * 3
        return self.chance.choice(kinds)()

    def _some(self, ahead: Sequence[str], least: int) -> list[str]:
        return self.chance.sample(ahead, self.chance.randint(least, min(3, len(ahead))))

    def _fork(self, ahead: Sequence[str]) -> Fork:
        nodes = self._some(ahead, 2)
        others = [each for each in ahead if each not in nodes]
        return Fork(tuple(nodes), self.chance.choice([None, *others, *others]))


def make_flow(seed: int, *, onward: bool) -> Plan:
    """Make a flow of steps, stages and programs."""
    return Maker(seed, onward=onward).make()


def make_schedule(seed: int) -> Plan:
    """Make a stage plan of processes."""
    chance = Random(f"schedule {seed}")  # noqa: S311
    names = [f"s{index}" for index in range(chance.randint(1, 5))]
    needs: dict[str, tuple[str, ...]] = {}
    for at, name in enumerate(names):
        needs[name] = tuple(chance.sample(names[:at], chance.randint(0, min(2, at))))
    nodes = {}
    for name in names:
        retry = Retry(chance.randint(1, 3), Backoff("fixed", 5))
        act = Process(name, ProcessLimits(50, 80, 90, 100), outputs={})
        edges = (Edge("success", DONE), Edge("failure", FAILED), Edge("interrupted", Stop(Outcome.INTERRUPTED)))
        nodes[name] = Node(act, StageGate(), edges, retry=retry)
    entries: Mapping[str, Any] = {"": Schedule(needs)}
    plan = Plan("stages", Names("stage", "outcome"), entries, nodes, {}, Limits(None, parallel=chance.randint(1, 3)))
    plan = replace(plan, entry="")
    return replace(plan, facts=facts(plan))


def make_orchestrator(seed: int) -> Plan:
    """Make a run of phases whose agents are small flows of steps."""
    chance = Random(f"phases {seed}")  # noqa: S311
    agents = [replace(_make_agent(chance.randrange(10**6)), id=name) for name in ("fixer", "critic")]
    names = [f"p{index}" for index in range(chance.randint(1, 3))]
    workers = {}
    for name in names:
        agent = chance.choice(("fixer", "critic"))
        ways = {"success": chance.choice([*names, "done", "done"])}
        workers[name] = Worker(agent, "transformer", ways, chance.choice([*names, "done", "stuck"]))
    ends = {"done": Outcome.DONE, "stuck": Outcome.BLOCKED}
    labels = {name: (name,) for name in names}
    phases = Phases(chance.randint(1, 4), chance.choice((0, 0, 2)), chance.choice((0, 10)), labels=labels)
    plan = make_phases(workers, ends, phases, agents)
    plan = replace(plan, entries={"": names[0]}, entry="", inputs={})
    return replace(plan, facts=facts(plan))


def _make_agent(seed: int) -> Plan:
    """Make a flow of steps that needs no join, which is what agents are."""
    maker = Maker(seed, onward=seed % 2 == 0)
    maker.names = maker.names[:3]
    last = len(maker.names) - 1
    nodes = {}
    for index, name in enumerate(maker.names):
        ahead = maker.names[index + 1 :] if maker.onward else maker.names
        intents = ("next", "closing")
        targets = (DONE if index == last or not ahead else Go(maker.chance.choice(ahead)), DONE)
        edges = tuple(Edge(each, target) for each, target in zip(intents, targets, strict=True))
        nodes[name] = Node(Prompt((), tools=("t",)), IntentGate(("do",), intents), edges)
    plan = Plan(
        "agent", Names("step", "intent"), {"": "n0"}, nodes, {}, Limits(maker.chance.randint(1, 5)), "", tools=_TOOLS
    )
    return replace(plan, facts=facts(plan))
