"""Run a test in memory, and record what came of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from stagec.change.flow_tests.document import FlowTest
from stagec.change.flow_tests.scenario_writing import ToolUse, UseWatch
from stagec.change.flow_tests.watched_steps import Judged, Taken, WatchedStep, WatchedSteps
from stagec.core.canonical import compact
from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.loader import load
from stagec.ir.plan.node import Node
from stagec.runtime.drivers.local.drive import play_steps
from stagec.runtime.machine import Answered, Effect, Event, Move, Program, Started
from stagec.runtime.machine.advance import find_trouble
from stagec.runtime.machine.answer_schemas import PreparedSchema, prepare
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Execute,
    Turn,
    Wait,
    is_deadline,
    read_agent_run,
    read_key,
    run_of,
)
from stagec.runtime.machine.gate import write_intent
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.composed import script_world
from stagec.runtime.world.local_world import ClosedWorld
from stagec.runtime.world.scenario import find_mistakes

Broken = Mapping[Any, tuple[int, ...]]
"""The expectations that do not hold, by where they stand: the numbers of the changes that are judged otherwise."""


def find_broken(program: Program, expected: Object, started: Started, results: Mapping[str, Json]) -> Broken:
    """Return the changes of the last answers of nodes, and of the inputs of a run, with an unexpected judgement.

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


@value
class LastRequest:
    """The last request to a model, or for a process, that a node has made.

    `prompt` is the whole prompt of a model; `tools` are those that it may call, None where the runner chooses. `inputs`
    are the names of what a process is given.
    """

    prompt: str = ""
    tools: tuple[str, ...] | None = None
    inputs: tuple[str, ...] = ()


@value
class Observation:
    """The record of a run: its end, its moves, the count of each request, and the results of nodes.

    `trouble` is why it has no end: it cannot begin as the scenario says, or the scenario has no answer to a request. By
    node, `judged` are the judgements and refusals with their reasons, and `attempts` counts the attempts of its last
    execution. `waits` are milliseconds, `touched` the nodes that the run reached, `broken` the judgements of schemas
    that were not expected, `used` the tools that nodes called, and `taken` the edges of the run.
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

    def __init__(self) -> None:
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

    def observe(self, event: Event, step: WatchedStep) -> None:
        """Record the requests of a step, its judgements, and the executions that have ended."""
        if isinstance(event, Answered):
            self.uses.answer(event.key, event.answer)
        for each in step.effects:
            self._note(each)
        self.judged.update(step.judged)
        self.moves += [move for move, _ in step.moves]
        self.taken += [edge for _, edge in step.moves if edge is not None]
        self.touched.update(move.node for move, _ in step.moves)
        if step.moves and step.last is not None:
            self.results[self.moves[-1].node] = step.last
            self.last = step.last

    def _note(self, effect: Effect) -> None:
        if is_deadline(effect.key):
            return
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


def run_test(program: Program, test: FlowTest, steps: WatchedSteps | None = None) -> Observation:
    """Run the plan with the scenario of a test; `steps` has those of runs of the program that may begin alike."""
    started = Started(_RUN, test.scenario.entry, test.scenario.inputs)
    trouble = find_trouble(program, started)
    if trouble is not None:
        return Observation(None, "", trouble=f"the run cannot begin: {trouble}")
    recorder = _Recorder()
    world = script_world(test.scenario, program.agents, ClosedWorld())
    try:
        made = WatchedSteps(program) if steps is None else steps
        state = play_steps(made.advance, world, started, recorder.observe)
    except Failure as failure:  # the scenario has no answer
        return recorder.report(None, "", trouble=str(failure))
    found = recorder.report(str(state.ended), state.reason, state.executions)
    return replace(found, broken=find_broken(program, test.expected, started, found.results))


def make_runner(plans: Mapping[str, bytes]) -> Callable[[tuple[str, FlowTest]], Observation]:
    """Return a function that runs a test of a plan; `plans` are the files of plans, verified before, by their names."""
    programs: dict[str, Program] = {}

    def run(given: tuple[str, FlowTest]) -> Observation:
        name, test = given
        if name not in programs:
            programs[name] = program_of(load(plans[name]).plan)
        # what the plan does not have is a slip of the pen, and a test that passes in spite of it proves less
        wrong = next(find_mistakes(test.scenario, programs[name].plan), None)
        return run_test(programs[name], test) if wrong is None else Observation(None, "", trouble=wrong.told)

    return run
