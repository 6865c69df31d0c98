"""What the world may answer a request, so that a run takes one way or another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.value import NOTHING, value
from stagec.flow_tests.paths.ways import WayFinder
from stagec.plan.agents import SUCCESS, TRANSFORMER
from stagec.plan.document import Plan
from stagec.plan.gate import AgentGate
from stagec.plan.node import Edge
from stagec.runtime import Effect, Program
from stagec.runtime.agent_runs import run_of
from stagec.runtime.exchange import (
    Ask,
    Call,
    Confirm,
    Execute,
    Grant,
    Hook,
    Judge,
    Preserve,
    Run,
    Shell,
    StageRequest,
    Turn,
    Wait,
    execution_of,
    read_key,
)
from stagec.runtime.orchestrator_requests import Dispatch
from stagec.world.required_values import make_output
from stagec.world.samples import RequiredValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stagec.world.agents_world import ScriptedAgent

Follow = Callable[[Effect], Json]
_ODD = 20
"""What an answer costs that nobody expects, in requests; an execution costs more."""


@value
class AnswerChoice:
    """An answer, what it costs to give it, and what is answered to requests that follow as a matter of course.

    `follow` returns an answer, or raises `LookupError` with the key of a request that is a choice of its own.
    """

    name: str
    answer: Json
    cost: int = 1
    follow: Follow | None = None

    @property
    def is_odd(self) -> bool:
        """Whether nobody expects the answer."""
        return self.cost >= _ODD


@value
class AgentEnding:
    """How a run of an agent can end: in a word, and the scenario of a run that ends so."""

    name: str
    scenario: Object


class Chooser:
    """Lists what can be answered in runs of a program; `endings` are those of its agents.

    With `verdicts`, the program is that of an agent: its answers may have one of them, and a model may fail. `rank`
    orders the outcomes of a node by their edges.
    """

    def __init__(
        self,
        program: Program,
        endings: Mapping[str, Iterable[AgentEnding]] = NOTHING,
        verdicts: tuple[str, ...] | None = None,
        rank: Callable[[Edge], int] | None = None,
    ) -> None:
        self._program, self._endings = program, endings
        self._fails = verdicts is not None
        self.ways = WayFinder(program, (RequiredValue(("verdict",), each) for each in verdicts or ()), rank)

    def find_choices(self, effect: Effect) -> Iterator[AnswerChoice]:
        """Yield what can be answered to a request; what takes a search is searched when it is asked for."""
        node = self._program.plan.nodes[read_key(effect.key).node]
        match effect:
            case Ask():
                yield from self._list_answers(effect)
            case Turn():
                yield from self._list_turns(effect)
            case Confirm() | Judge() | Grant():
                name = {Confirm: "yes", Judge: "done", Grant: "granted"}[type(effect)]
                yield AnswerChoice("yes", {name: True})
                yield AnswerChoice("no", {name: False})
            case Run() | Shell():
                passed, failed = (make_output(self._program, node, effect, succeeds=each) for each in (True, False))
                yield AnswerChoice("pass", passed)
                yield AnswerChoice("fail", failed, _ODD)
            case Dispatch():
                yield from self._list_endings(effect)
            case _:
                yield from self._list_others(effect)

    def _list_answers(self, effect: Ask) -> Iterator[AnswerChoice]:
        for each in self.ways.find(_node_of(effect)):
            yield AnswerChoice(each.name, {"answer": each.result})
        if self._fails:
            yield AnswerChoice("failed", {"error": _UNANSWERED}, 10 * _ODD, self._fail)

    def _fail(self, asked: Effect) -> Json:
        if isinstance(asked, Ask):
            return {"error": _UNANSWERED}
        raise LookupError(asked.key)

    def _list_turns(self, effect: Turn) -> Iterator[AnswerChoice]:
        """Yield results that are handed in, and that all turns pass; that alone once a turn has passed."""
        last = effect.transcript[-1]
        if last.role != "user" or not last.text.startswith(_REMINDER):
            for way in self.ways.find(_node_of(effect)):
                call: Json = {"id": "complete", "tool": effect.completion, "arguments": way.result}
                yield AnswerChoice(way.name, {"calls": [call]})
        execution = execution_of(effect.key)

        def idle(asked: Effect) -> Json:
            if execution_of(asked.key) != execution or not isinstance(asked, Turn | Wait):
                raise LookupError(asked.key)
            return {} if isinstance(asked, Wait) else {"text": ""}

        yield AnswerChoice("cap", {"text": ""}, _ODD, idle)

    def _list_endings(self, effect: Dispatch) -> Iterator[AnswerChoice]:
        """Yield how the agent can end, each ending in a run of its own plan."""
        from stagec.world.agents_world import ScriptedAgent  # most flows run no agents
        from stagec.world.local_world import ClosedWorld
        from stagec.world.scenario import parse_scenario

        for each in self._endings.get(effect.agent, ()):
            scenario = parse_scenario({"agents": {effect.agent: each.scenario}}, "")
            world = ScriptedAgent(scenario, effect.agent, ClosedWorld())
            yield AnswerChoice(each.name, {}, 1, _follow_agent(effect.run, world))

    def _list_others(self, effect: Effect) -> Iterator[AnswerChoice]:
        """Yield what can be answered to a request that no model and no person answers."""
        if isinstance(effect, Hook):
            yield from self._list_returned(effect)
        elif isinstance(effect, StageRequest):
            yield from _list_stage_answers(effect)
        elif isinstance(effect, Call):
            yield AnswerChoice("called", {"value": ""})
        else:
            yield AnswerChoice("done", {})

    def _list_returned(self, effect: Hook) -> Iterator[AnswerChoice]:
        shown = [each for name, each in effect.given.items() if name not in _ABOUT]
        given = (True, "denied") if effect.given.get("kind") == "guard" else tuple(shown[-1:])
        for at, each in enumerate(_RETURNED.get(effect.phase, given)):
            yield AnswerChoice(f"returns {at}", {"value": each}, _ODD if at else 1)


def _list_stage_answers(effect: StageRequest) -> Iterator[AnswerChoice]:
    """Yield what can be answered about the process of a stage."""
    from stagec.world.simulated_stages import simulate_stage  # most flows have no processes

    if isinstance(effect, Execute):
        yield AnswerChoice("success", simulate_stage(effect, {}))
        yield AnswerChoice("failure", simulate_stage(effect, {"exit": 1}), _ODD)
        yield AnswerChoice("interrupted", simulate_stage(effect, {"interrupted": "timeout"}), _ODD)
    elif isinstance(effect, Preserve):
        yield AnswerChoice("lost", simulate_stage(effect, {"valid": False}))
    else:
        yield AnswerChoice("done", simulate_stage(effect, {}))


_UNANSWERED = "the model gives no answer"


_REMINDER = "Call "
"""How the message begins that follows a turn in which a model has done nothing."""


def _follow_agent(run: str, world: ScriptedAgent) -> Follow:
    def answer(asked: Effect) -> Json:
        if run_of(asked.key) != run:
            raise LookupError(asked.key)
        try:
            return world.answer(asked)
        except Failure as failure:
            raise LookupError(str(failure)) from failure

    return answer


def _node_of(effect: Effect) -> str:
    return read_key(effect.key).node


_RETURNED: Mapping[str, tuple[Json, ...]] = {
    "setup": ({},),
    "gate": ("proceed", "defer", "block"),
    "assert": ("ok", "retry", "fail"),
    "exit": (None,),
}
"""What callables may return, by the phase of a stage in which they are called."""


_ABOUT = frozenset({"stage", "when", "kind", "execution", "call", "tool", "source", "calls"})
"""What a callable of the message loop is told besides what it looks at."""


def list_verdicts(plan: Plan, agent: str) -> tuple[str, ...]:
    """Return the verdicts of an agent that phases of a plan tell apart."""
    gates = [
        node.gate
        for node in plan.nodes.values()
        if isinstance(node.gate, AgentGate) and getattr(node.act, "agent", None) == agent
    ]
    said = (each for gate in gates if gate.role != TRANSFORMER or gate.verdicts for each in gate.outcomes)
    return tuple(dict.fromkeys(each for each in said if each != SUCCESS))
