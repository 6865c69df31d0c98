"""Run a test in memory, and record what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import NOTHING, replace, value
from stagec.drivers.local.play import play
from stagec.flow_tests.contracts import Broken, find_broken
from stagec.flow_tests.document import FlowTest
from stagec.flow_tests.edges import EdgeWatch, Taken
from stagec.flow_tests.tool_use import ToolUse, UseWatch
from stagec.plan.loader import load
from stagec.runtime import Answered, Effect, Event, Move, Program, Started, StepResult
from stagec.runtime.advance import find_trouble
from stagec.runtime.agent_runs import read_agent_run, run_of
from stagec.runtime.exchange import Ask, Call, Execute, Turn, Wait, read_key
from stagec.runtime.program import program_of
from stagec.world.agents_world import script_world
from stagec.world.local_world import ClosedWorld
from stagec.world.scenario import find_mistakes

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
        """Take note of what a step asks for, of what it judges, and of what has ended."""
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
        """Return what was observed of a run that has ended so, or has no end."""
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
        node, facts = str(event.facts.get("stageId")), event.facts
        if event.name == "StageAssertOutcome" and "verdict" in facts:
            yield node, str(facts["verdict"]), str(facts["reason"])
        elif event.name == "ValidationFailed":
            yield node, "refused", str(facts["pattern"])


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
