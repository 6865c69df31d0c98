"""Run a test in memory, and record what came of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from stagec.change.flow_tests.document import FlowTest
from stagec.change.flow_tests.scenario_writing import ToolUse, UseWatch
from stagec.core.canonical import compact
from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan.act import Converse, Delegate, Prompt
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.loader import load
from stagec.ir.plan.node import Edge, ForEach, Fork, Go, Named, Node, Pick, Stop
from stagec.runtime.drivers.local.drive import play
from stagec.runtime.machine import Answered, Effect, Event, Move, Program, Started, StepResult
from stagec.runtime.machine.advance import find_trouble
from stagec.runtime.machine.answer_schemas import PreparedSchema, prepare
from stagec.runtime.machine.exchange import Ask, Call, Execute, Turn, Wait, read_agent_run, read_key, run_of
from stagec.runtime.machine.gate import write_intent
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.composed import script_world
from stagec.runtime.world.local_world import ClosedWorld
from stagec.runtime.world.scenario import find_mistakes

Taken = tuple[str, int, str]
"""An edge: its node, its number there, and the node that was chosen, empty where there is nothing to choose."""


_Log = list[tuple[str, int | None]]


class _WatchedEdges:
    """The edges of one node and one outcome with their numbers; they record how many of them were read."""

    def __init__(self, name: str, edges: Mapping[int, Edge], log: _Log) -> None:
        self._name, self._edges, self._log = name, edges, log

    def __iter__(self) -> Iterator[Edge]:
        self._log.append((self._name, None))
        for number, edge in self._edges.items():
            self._log[-1] = (self._name, number)
            yield edge
        self._log[-1] = (self._name, None)  # none of them was chosen


class _WatchedRoutes(dict[str, Mapping[str, Any]]):
    """The watched edges of nodes by outcome, made when a run comes to a node: most runs come to few."""

    def __init__(self, program: Program, log: _Log) -> None:
        super().__init__()
        self._program, self._log = program, log

    def __missing__(self, name: str) -> Mapping[str, Any]:
        self[name] = {outcome: self._watch(name, outcome) for outcome in self._program.routes[name]}
        return self[name]

    def _watch(self, name: str, outcome: str) -> _WatchedEdges:
        numbers = (at for at, edge in enumerate(self._program.plan.nodes[name].edges) if edge.on == outcome)
        edges = self._program.routes[name][outcome]
        return _WatchedEdges(name, dict(zip(numbers, edges, strict=True)), self._log)


class EdgeWatch:
    """A program of one run, and which edges are taken in it; `program` is the one to run."""

    def __init__(self, program: Program) -> None:
        self._plan = program.plan
        self._log: _Log = []
        self.program = replace(program, routes=_WatchedRoutes(program, self._log))

    @cached_property
    def _beginning(self) -> frozenset[str]:
        """The nodes with which branches of forks begin."""
        targets = (edge.target for node in self._plan.nodes.values() for edge in node.edges)
        return frozenset(name for target in targets if isinstance(target, Fork | ForEach) for name in target.nodes)

    def take(self, moves: Iterable[Move]) -> list[tuple[Move, Taken | None]]:
        """Return the moves of a step with the edge that each has taken; those in the runs of agents are left out."""
        found = list[tuple[Move, Taken | None]]()
        log = self._log.copy() if self._log else []
        self._log.clear()
        for move in moves:
            if move.run:
                continue
            number = log.pop(0)[1] if log and log[0][0] == move.node else self._find_end(move)
            if isinstance(self._plan.nodes[move.node].act, Delegate):  # which looks where its outcome leads before
                number = log.pop(0)[1] if log and log[0][0] == move.node else number
            found.append((move, None if number is None else (move.node, number, self._find_chosen(move, number))))
        return found

    def _find_chosen(self, move: Move, number: int) -> str:
        led = move.to[0] if move.to else ""
        return led if led in list_chosen(self._plan, self._plan.nodes[move.node].edges[number]) else ""

    def _find_end(self, move: Move) -> int | None:
        """Return the edge by which a branch of a fork has ended; a branch ends after its first node."""
        if move.node not in self._beginning:
            return None
        edges = enumerate(self._plan.nodes[move.node].edges)
        return next((at for at, edge in edges if edge.on == move.outcome and isinstance(edge.target, Stop)), None)


def list_chosen(plan: Plan, edge: Edge) -> tuple[str, ...]:
    """Return the nodes of a target that run only if an answer, or a failed start of another node, says so."""
    match edge.target:
        case Pick():
            return tuple(plan.choices[edge.target.choices].values())
        case Named():
            return tuple(edge.target.nodes.values())
        case Go():
            return () if edge.target.otherwise is None else (edge.target.otherwise,)
        case _:
            return ()


Broken = Mapping[Any, tuple[int, ...]]
"""The expectations that do not hold, by where they stand: the numbers of the changes that are judged otherwise."""


def find_broken(program: Program, expected: Object, started: Started, results: Mapping[str, Json]) -> Broken:
    """Return which changes of the last answers of nodes, and of the inputs of a run, are not judged as expected.

    A change is a JSON merge patch: a member that is null is taken away. No numbers stand for a node without an answer
    that could be changed.
    """
    found: dict[tuple[str, ...], tuple[int, ...]] = {}

    def judge(at: tuple[str, ...], changes: Json, base: Json, is_accepted: Callable[[Json], bool]) -> None:
        wanted = at[0] in {"accepts", "fit"}
        every = enumerate(list_of(changes))
        wrong = tuple(index for index, each in every if is_accepted(merge_patch(base, each)) is not wanted)
        if wrong:
            found[at] = wrong

    for member in ("accepts", "refuses"):
        for node, changes in object_of(expected.get(member)).items():
            known, result = program.plan.nodes.get(node), object_of(results.get(node))
            answer = result.get("parsed", result.get("answer"))
            if known is not None and isinstance(known.act, Converse | Prompt) and isinstance(answer, dict):
                judge((member, node), changes, answer, _Answers(program, known, known.act.schema).accepts)
            else:
                found[member, node] = ()
    for member in ("fit", "unfit"):
        if member in expected:
            judge((member,), expected[member], {**started.inputs}, _Start(program, started).is_fit)
    return found


class _Answers:
    def __init__(self, program: Program, node: Node, schema: str | None) -> None:
        self._gate, self._text = node.gate, None if schema is None else program.plan.contents[schema]

    def accepts(self, answer: Json) -> bool:
        """Tell whether a node accepts an answer, as runs do: an object, in which a word may stand for an intent."""
        if not isinstance(answer, dict):
            return False
        if self._text is None:
            return True
        read = write_intent(self._gate, answer) if isinstance(self._gate, IntentGate) else answer
        return any(_fits(self._text, compact(each)) for each in ((answer,) if read is answer else (read, answer)))


@lru_cache(maxsize=20_000)
def _fits(schema: str, answer: str) -> bool:
    """Tell whether a schema accepts an answer, both as texts: plans that differ elsewhere ask the same again."""
    return _prepare(schema).complaint(json.loads(answer)) is None


@lru_cache(maxsize=500)
def _prepare(schema: str) -> PreparedSchema:
    return prepare(schema)


class _Start:
    def __init__(self, program: Program, started: Started) -> None:
        self._program, self._started = program, started

    def is_fit(self, inputs: Json) -> bool:
        """Tell whether a run can begin with some inputs."""
        started = Started(self._started.run, self._started.entry, object_of(inputs))
        return find_trouble(self._program, started) is None


def merge_patch(base: Json, change: Json) -> Json:
    """Return a value changed as RFC 7396 says."""
    if not isinstance(change, dict):
        return change
    merged = dict(object_of(base))
    for name, each in change.items():
        if each is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), each)
    return merged


_RUN = "test"
Judged = tuple[str, str, str]
"""A judgement or a refusal: the node, the verdict or `refused`, and the reason."""


@value
class LastRequest:
    """The last request to a model, or for a process, that a node has made.

    `prompt` is all that a model is told, `tools` those that it may call, None where the runner chooses. `inputs` are
    the names of what a process is given.
    """

    prompt: str = ""
    tools: tuple[str, ...] | None = None
    inputs: tuple[str, ...] = ()


@value
class Observation:
    """What came of a run: how it ended, its moves, how often what was asked, and the results of nodes.

    `trouble` is why it has no end: it cannot begin as the scenario says, or the scenario has no answer to a request.
    `judged` are the judgements and refusals by node, with their reasons, `waits` milliseconds, `touched` the nodes that
    the run came to, `attempts` how often each acted in its last execution, `broken` what schemas judge otherwise than
    expected, `used` the tools that nodes called, `taken` the edges that the run took.
    """

    outcome: str | None
    reason: str
    moves: tuple[Move, ...] = ()
    calls: Mapping[str, int] = NOTHING
    turns: int = 0
    executions: int = 0
    results: Mapping[str, Json] = NOTHING
    last: Json = None
    trouble: str | None = None
    requests: Mapping[str, LastRequest] = NOTHING
    judged: frozenset[Judged] = frozenset()
    waits: int = 0
    touched: frozenset[str] = frozenset()
    attempts: Mapping[str, int] = NOTHING
    broken: Broken = NOTHING
    used: ToolUse = ToolUse()
    taken: tuple[Taken, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes in the order in which their executions ended."""
        return tuple(each.node for each in self.moves)


class _Recorder:
    """Receives the steps of a run."""

    def __init__(self, watch: EdgeWatch) -> None:
        self._watch = watch
        self.moves: list[Move] = []
        self.taken: list[Taken] = []
        self.calls: Counter[str] = Counter()
        self.turns = 0
        self.waits = 0
        self.results: dict[str, Json] = {}
        self.last: Json = None
        self.requests: dict[str, LastRequest] = {}
        self.judged: set[Judged] = set()
        self.touched: set[str] = set()
        self.attempts: dict[str, int] = {}
        self.uses = UseWatch()

    def observe(self, event: Event, step: StepResult) -> None:
        """Record the requests of a step, its judgements, and the executions that have ended."""
        if isinstance(event, Answered):
            self.uses.answer(event.key, event.answer)
        for each in step.effects:
            self._note(each)
        self.judged.update(list_judged(step))
        own = self._watch.take(step.moves)
        self.moves += [move for move, _ in own]
        self.taken += [edge for _, edge in own if edge is not None]
        self.touched.update(move.node for move, _ in own)
        if own and step.last is not None:
            self.results[self.moves[-1].node] = step.last
            self.last = step.last

    def _note(self, effect: Effect) -> None:
        self.uses.ask(effect)
        self.turns += isinstance(effect, Ask | Turn)
        if isinstance(effect, Call):
            self.calls[effect.tool] += 1
        elif isinstance(effect, Wait):
            self.waits += effect.milliseconds
        if read_agent_run(run_of(effect.key)) is None:
            key, request = read_key(effect.key), _read_request(effect)
            self.touched.add(key.node)
            self.attempts[key.node] = key.attempt
            self.requests |= {} if request is None else {key.node: request}

    def report(self, outcome: str | None, reason: str, executions: int = 0, trouble: str | None = None) -> Observation:
        """Return the observations of a run that has ended like this, or has no end."""
        return Observation(
            outcome,
            reason,
            tuple(self.moves),
            self.calls,
            self.turns,
            executions,
            self.results,
            self.last,
            trouble,
            self.requests,
            frozenset(self.judged),
            self.waits,
            frozenset(self.touched),
            self.attempts,
            used=self.uses.report(),
            taken=tuple(self.taken),
        )


def list_judged(step: StepResult) -> Iterator[Judged]:
    """Yield the judgements and refusals in a step, the latter with the pattern of their failure as the reason."""
    for event in step.trace:
        name, facts = event.name, event.facts
        if name == "StageAssertOutcome" and "verdict" in facts:
            yield str(facts.get("stageId")), str(facts["verdict"]), str(facts["reason"])
        elif name == "ValidationFailed":
            yield str(facts.get("stageId")), "refused", str(facts["pattern"])


def _read_request(effect: Effect) -> LastRequest | None:
    match effect:
        case Ask():
            texts = (effect.system, effect.prompt, effect.complaint)
            return LastRequest("\n".join(each for each in texts if each), effect.tools)
        case Turn():
            told = (each.text for each in effect.transcript if each.role != "assistant")
            return LastRequest("\n".join(told), effect.tools)
        case Execute():
            return LastRequest(inputs=tuple(effect.inputs))
        case _:
            return None


def run_test(program: Program, test: FlowTest) -> Observation:
    """Run the plan with the scenario of a test."""
    started = Started(_RUN, test.scenario.entry, test.scenario.inputs)
    trouble = find_trouble(program, started)
    if trouble is not None:
        return Observation(None, "", trouble=f"the run cannot begin: {trouble}")
    watch = EdgeWatch(program)
    recorder = _Recorder(watch)
    world = script_world(test.scenario, program.agents, ClosedWorld())
    try:
        state = play(watch.program, world, started, recorder.observe)
    except Failure as failure:  # the scenario has no answer
        return recorder.report(None, "", trouble=str(failure))
    found = recorder.report(str(state.ended), state.reason, state.executions)
    return replace(found, broken=find_broken(program, test.expected, started, found.results))


def make_runner(plans: Mapping[str, bytes]) -> Callable[[tuple[str, FlowTest]], Observation]:
    """Return what runs a test of a plan; `plans` are the files of plans, verified before, by what names them."""
    programs: dict[str, Program] = {}

    def run(given: tuple[str, FlowTest]) -> Observation:
        name, test = given
        if name not in programs:
            programs[name] = program_of(load(plans[name]).plan)
        # what the plan does not have is a slip of the pen, and a test that passes in spite of it proves less
        wrong = next(find_mistakes(test.scenario, programs[name].plan), None)
        return run_test(programs[name], test) if wrong is None else Observation(None, "", trouble=wrong.told)

    return run
