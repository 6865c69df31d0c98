"""Answers of the world to a request, one for each way that a run can take."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain, islice, product
from math import prod

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, follow, list_of, object_of
from stagec.core.memo import LazySequence
from stagec.core.place import Key
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.agents import SUCCESS, TRANSFORMER
from stagec.ir.plan.document import JudgeDefinition, Plan
from stagec.ir.plan.gate import AgentGate, Among, Exists, Gate, IntentGate, JudgeGate, Reads, Term, VerdictGate
from stagec.ir.plan.node import Edge, Named, Node
from stagec.runtime.machine import Effect, Program
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Confirm,
    Dispatch,
    Execute,
    Grant,
    Hook,
    Preserve,
    Run,
    Shell,
    StageRequest,
    Turn,
    Wait,
    choose_next,
    deadline_key,
    execution_of,
    read_key,
    run_of,
)
from stagec.runtime.machine.exchange import Judge as JudgeRequest
from stagec.runtime.machine.gate import ALIASES, judge_result, read_handoff, read_intent, read_target
from stagec.runtime.machine.json_values import all_hold, holds
from stagec.runtime.world.samples import (
    PlainDemands,
    RequiredValue,
    collect_required_values,
    find_in_answer,
    list_values,
    make_output,
    make_samples,
    read_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stagec.runtime.world.composed import ScriptedAgent


_MOST = 200
"""Combinations up to which each is tried."""
_EFFORT = 100_000
"""Members and values that are made for more combinations than that, together."""
_CHEAP = 8
"""Edges that are compared with a result in the time in which one of its members is made."""
_OTHERS: tuple[Json, ...] = (True, False, 0, 1, "text", "other", None, {}, [])
"""Values of which few conditions hold."""

Required = tuple[RequiredValue, ...]
_Case = Collection[Term]
_Path = tuple[Key, ...]


def combine(
    gate: Gate, demands: PlainDemands, cases: Iterable[_Case], order: Iterable[_Case] | None = None
) -> Iterator[Required]:
    """Yield combinations of values that the conditions of cases tell apart, the one without any requirement first.

    Values that the schema never allows are left out. Where there are too many combinations, there are first those that
    each case needs, in an order of the cases, and then as many others as can be tried.
    """
    cases = [*cases]
    paths: dict[_Path, _Looked] = {}
    for term in (each for case in cases for each in case):
        path = find_in_answer(gate, term)
        if path:
            paths.setdefault(path, _Looked(path, demands)).add(term)
    values = [some for looked in paths.values() if (some := looked.list_allowed())]
    yield ()
    if prod(map(len, values[:_MOST])) <= _MOST >= len(values):
        yield from product(*values)
        return
    left = _EFFORT
    needed = _list_needed(gate, cases if order is None else order, paths)
    for required in chain(needed, islice(product(*values), _MOST)):
        yield required
        left -= demands.size + len(required) + len(cases) // _CHEAP
        if left < 0:
            return


class _Looked:
    """The values at one path that are looked at, because of the conditions about it."""

    def __init__(self, path: _Path, demands: PlainDemands) -> None:
        self._path, self._demands = path, demands
        self._terms: list[Term] = []
        self._told: dict[str, RequiredValue] = {}

    def add(self, term: Term) -> None:
        """Take note of a condition."""
        self._terms.append(term)
        for each in self._list_told(term):
            self._told.setdefault(repr(each), each)
        if len(self._terms) == 1:
            self._told |= {repr(each): each for each in self._list_others()}

    def list_allowed(self) -> list[RequiredValue]:
        """Return values for which conditions hold, and some for which they do not."""
        return [each for each in self._told.values() if self._demands.allow(each)]

    def find_for(self, terms: Collection[Term]) -> RequiredValue | None:
        """Return a value for which some conditions hold."""
        told = (each for term in terms for each in self._list_told(term))
        found = (each for each in (*told, *self._list_others()) if all(_holds(term, each) for term in terms))
        return next(filter(self._demands.allow, found), None)

    def find_other(self) -> RequiredValue | None:
        """Return a value for which no condition holds."""
        allowed = filter(self._demands.allow, self._list_others())
        return next((each for each in allowed if not any(_holds(term, each) for term in self._terms)), None)

    def _list_told(self, term: Term) -> Iterator[RequiredValue]:
        match term:
            case Among(values=values):
                found: Iterable[Json] = values
            case Reads(texts=texts):
                found = (*map(read_text, texts), *texts)
            case Exists():
                found = ("text",)
        yield from (RequiredValue(self._path, each) for each in found)

    def _list_others(self) -> Iterator[RequiredValue]:
        yield from (RequiredValue(self._path, each) for each in _OTHERS)
        yield RequiredValue(self._path, absent=True)


def _holds(term: Term, each: RequiredValue) -> bool:
    """Tell whether a condition holds for a value at its path."""
    return holds(replace(term, path=("it",)), {} if each.absent else {"it": each.value})


def _list_needed(gate: Gate, cases: Iterable[_Case], paths: Mapping[_Path, _Looked]) -> Iterator[Required]:
    """Yield the values that each case needs: alone, and together with values for which no other case holds."""
    others = {path: each for path, looked in paths.items() if (each := looked.find_other()) is not None}
    for case in cases:
        terms: dict[_Path, list[Term]] = {}
        for term in case:
            path = find_in_answer(gate, term)
            if path:
                terms.setdefault(path, []).append(term)
        own = {path: each for path, some in terms.items() if (each := paths[path].find_for(some)) is not None}
        if len(own) == len(terms):
            yield (*own.values(),)
            yield (*{**others, **own}.values(),)


_VARIANTS = 2
"""Results that are kept for one way: later nodes may need what schemas do not demand."""


@value
class WayResult:
    """A result, and in a word which way it takes, for whoever sees it among others."""

    name: str
    result: Object


class WayFinder:
    """Makes up results for the nodes of a program; each result may have one of `extra` besides."""

    def __init__(
        self, program: Program, extra: Iterable[RequiredValue] = (), rank: Callable[[Edge], int] | None = None
    ) -> None:
        self._program, self._rank = program, rank
        self._extra = (None, *extra)
        self._known: dict[str, LazySequence[WayResult]] = {}
        # nodes have schemas in common
        self._samples: dict[tuple[str | None, str], LazySequence[Object]] = {}
        self._demands: dict[str | None, PlainDemands] = {}

    def find(self, name: str) -> LazySequence[WayResult]:
        """Return results of a node, those for edges in front that come first, or whose rank is lower."""
        if name not in self._known:
            self._known[name] = LazySequence(self._list_ways(name))
        return self._known[name]

    def _list_ways(self, name: str) -> Iterator[WayResult]:
        """Yield few results for each way, and no result twice."""
        kept: dict[str, list[Object]] = {}
        for way in self._try(name, self._program.plan.nodes[name]):
            found = kept.setdefault(way.name, [])
            if len(found) < _VARIANTS and way.result not in found:
                yield WayResult(f"{way.name}{' again' * len(found)}", way.result)
                found.append(way.result)

    def _try(self, name: str, node: Node) -> Iterator[WayResult]:
        schema = node.act.schema if isinstance(node.act, Prompt | Converse) else None
        for extra, (outcome, required) in product(self._extra, [*self._list_required(name, node)]):
            wanted = required if extra is None else (*required, extra)
            for sample in self._make_samples(schema, wanted):
                taken = self._describe(name, node.gate, sample)
                if taken is not None and outcome in {None, taken.partition(" ")[0]}:
                    yield WayResult(taken if extra is None else f"{taken} with {extra.value}", sample)

    def _make_samples(self, schema: str | None, wanted: tuple[RequiredValue, ...]) -> LazySequence[Object]:
        key = (schema, repr(wanted))
        if key not in self._samples:
            self._samples[key] = LazySequence(islice(make_samples(self._program, schema, wanted), _VARIANTS))
        return self._samples[key]

    def _list_required(self, name: str, node: Node) -> Iterator[tuple[str | None, tuple[RequiredValue, ...]]]:
        """Yield the values that results may need, with the intended outcome, if any."""
        if isinstance(node.gate, JudgeGate):
            judge = self._program.plan.judge
            yield from ((None, required) for required in ((), *(() if judge is None else _list_signals(judge))))
            return
        schema = node.act.schema if isinstance(node.act, Prompt | Converse) else None
        if schema not in self._demands:
            self._demands[schema] = PlainDemands(self._program, schema)
        demands = self._demands[schema]
        if not isinstance(node.gate, IntentGate):
            checks = [each.when for each in node.gate.checks] if isinstance(node.gate, VerdictGate) else []
            cases = [*(each.when for each in node.edges), *checks]
            order = [*(each.when for each in self._sort(node.edges)), *checks]
            yield from ((None, required) for required in combine(node.gate, demands, cases, order))
            return
        routes = self._program.routes[name].items()
        listed = list_values(self._program, schema, node.gate.field)
        for outcome, edges in routes if self._rank is None else sorted(routes, key=self._rank_way):
            words = [outcome, *(word for word, meant in ALIASES.items() if meant == outcome)]
            words = words if listed is None else [each for each in words if each in listed]
            targets = [edge.target for edge in edges]
            named = [node for each in targets if isinstance(each, Named) for node in each.nodes]
            free = () if all(isinstance(each, Named) for each in targets) else (None,)
            for word, chosen in product(words, (*named, *free)):
                said = tuple(collect_required_values(node.gate, word, chosen, ()))
                cases = [edge.when for edge in edges]
                yield from ((outcome, (*said, *required)) for required in combine(node.gate, demands, cases))

    def _sort(self, edges: Iterable[Edge]) -> Iterable[Edge]:
        return edges if self._rank is None else sorted(edges, key=self._rank)

    def _rank_way(self, way: tuple[str, tuple[Edge, ...]]) -> int:
        return 0 if self._rank is None else min(map(self._rank, way[1]))

    def _describe(self, name: str, gate: Gate, sample: Object) -> str | None:
        """Return the way of a result: its outcome, the number of its edge, and the node that it names."""
        routes = self._program.routes[name]
        if isinstance(gate, IntentGate):
            outcome, named = read_intent(gate, sample), read_target(gate, sample)
            if outcome is None:
                return None
            result: Json = {"answer": sample, "handoff": read_handoff(gate, sample)}
            place = _find_edge(routes.get(outcome, ()), result, named)
            return f"{outcome} {place}{'' if named is None else f' {named}'}"
        if isinstance(gate, VerdictGate):
            given: Object = {"verdict": "ok", "reason": "", "attemptCount": 1, "parsed": sample, "capHit": False}
            verdict = judge_result(gate, given).verdict
            return f"{verdict} {_find_edge(routes.get('ok', ()), {**given, 'verdict': verdict})}"
        judge = self._program.plan.judge
        signals = () if judge is None else _list_signals(judge)
        return f"answer {[all(follow(sample, each.path) == each.value for each in some) for some in signals]}"


def _list_signals(judge: JudgeDefinition) -> Iterator[tuple[RequiredValue, ...]]:
    """Yield the members of an answer that a judge accepts as completed work."""
    conditions = [object_of(each) for each in list_of(judge.settings.get("conditions"))]
    kinds = [(judge.kind, judge.settings), *((each.get("type"), object_of(each.get("config"))) for each in conditions)]
    for kind, settings in kinds:
        if kind == "detect:keyword":
            yield from ((RequiredValue((name,), settings.get("verdictKeyword")),) for name in _TEXTS)
        elif kind == "detect:structured":
            needed = settings.get("requiredFields")
            fields = [str(each) for each in (needed if isinstance(needed, list) else object_of(needed))]
            yield (
                RequiredValue(("type",), settings.get("signalType")),
                *(RequiredValue((each,), "text") for each in fields),
            )
        elif kind == "detect:graph":
            yield (RequiredValue(("status",), "completed"),)
            yield (RequiredValue(("complete",), value=True),)


_TEXTS = ("text", "summary", "message", "reason", "result", "status", "stepId")
"""Members in which answers commonly have a text."""


def _find_edge(edges: Iterable[Edge], result: Json, named: str | None = None) -> int | None:
    """Return the number of the first edge that counts for a result."""
    for at, edge in enumerate(edges):
        if all_hold(edge.when, result) and not (isinstance(edge.target, Named) and named not in edge.target.nodes):
            return at
    return None


Follow = Callable[[Effect], Json]
_ODD = 20
"""The cost of an unexpected answer, in requests; an execution costs more."""


@value
class AnswerChoice:
    """An answer, its cost, and the fixed answers to the requests that follow it.

    `follow` returns an answer, or raises `LookupError` with the key of a request that is a choice of its own. With
    `repeats`, it gives the same answer to every further turn of the model.
    """

    name: str
    answer: Json
    cost: int = 1
    follow: Follow | None = None
    repeats: bool = False
    to: str | None = None
    """The key of the request that is answered, if it is not the next one."""

    def find_request(self, pending: Mapping[str, Effect]) -> Effect:
        """Return the request of a state that is answered."""
        return choose_next(pending.values()) if self.to is None else pending[self.to]

    @property
    def is_odd(self) -> bool:
        """Whether nobody expects the answer."""
        return self.cost >= _ODD


@value
class AgentEnding:
    """A possible end of a run of an agent: its word, and the scenario of a run with this end."""

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
        """Yield the possible answers to a request; the expensive ones are searched on demand."""
        node = self._program.plan.nodes.get(read_key(effect.key).node)
        match effect:
            case Ask():
                yield from self._list_answers(effect)
            case Turn():
                yield from self._list_turns(effect)
            case Confirm() | JudgeRequest() | Grant():
                name = {Confirm: "yes", JudgeRequest: "done", Grant: "granted"}[type(effect)]
                yield AnswerChoice("yes", {name: True})
                yield AnswerChoice("no", {name: False})
            case Run() | Shell() if node is not None:
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
        """Yield results that are handed in, and that all turns pass; that alone once a turn has passed.

        The turns of one attempt pass alone where the number of the attempt decides what follows.
        """
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

        def idle_once(asked: Effect) -> Json:
            if read_key(asked.key).attempt != read_key(effect.key).attempt:
                raise LookupError(asked.key)
            return idle(asked)

        yield AnswerChoice("cap", {"text": ""}, _ODD, idle, repeats=True)
        if self._has_deadline(_node_of(effect)):
            yield AnswerChoice("deadline", {}, _ODD, to=deadline_key(execution))
        if self._counts_attempts(_node_of(effect)):
            yield AnswerChoice("cap once", {"text": ""}, _ODD, idle_once)

    def _has_deadline(self, name: str) -> bool:
        act = self._program.plan.nodes[name].act
        return isinstance(act, Converse) and act.deadline > 0

    def _counts_attempts(self, name: str) -> bool:
        """Tell whether the number of the last attempt decides what follows a node."""
        edges = self._program.plan.nodes[name].edges
        return any(term.path == _ATTEMPTS for edge in edges for term in edge.when)

    def _list_endings(self, effect: Dispatch) -> Iterator[AnswerChoice]:
        """Yield how the agent can end, each ending in a run of its own plan."""
        from stagec.runtime.world.composed import ScriptedAgent  # most flows run no agents
        from stagec.runtime.world.local_world import ClosedWorld
        from stagec.runtime.world.scenario import parse_scenario

        for each in self._endings.get(effect.agent, ()):
            scenario = parse_scenario({"agents": {effect.agent: each.scenario}}, "")
            world = ScriptedAgent(scenario, effect.agent, ClosedWorld())
            yield AnswerChoice(each.name, {}, 1, _follow_agent(effect.run, world))

    def _list_others(self, effect: Effect) -> Iterator[AnswerChoice]:
        """Yield the possible answers to a request to neither model nor person."""
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
    """Yield the possible answers about the process of a stage."""
    from stagec.runtime.world.scripted_world import simulate_stage  # most flows have no processes

    if isinstance(effect, Execute):
        yield AnswerChoice("success", simulate_stage(effect, {}))
        yield AnswerChoice("failure", simulate_stage(effect, {"exit": 1}), _ODD)
        yield AnswerChoice("interrupted", simulate_stage(effect, {"interrupted": "timeout"}), _ODD)
    elif isinstance(effect, Preserve):
        yield AnswerChoice("lost", simulate_stage(effect, {"valid": False}))
    else:
        yield AnswerChoice("done", simulate_stage(effect, {}))


_ATTEMPTS = ("attemptCount",)
_UNANSWERED = "the model gives no answer"


_REMINDER = "Call "
"""The beginning of the message after a turn in which a model has done nothing."""


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
"""Possible return values of callables, by the phase of a stage in which they are called."""


_ABOUT = frozenset({"stage", "when", "kind", "execution", "call", "tool", "source", "calls"})
"""The facts that a callable of the message loop gets besides its subject."""


def list_verdicts(plan: Plan, agent: str) -> tuple[str, ...]:
    """Return the verdicts of an agent that phases of a plan tell apart: of a transformer `success` is none."""
    gates = [
        node.gate
        for node in plan.nodes.values()
        if isinstance(node.gate, AgentGate) and getattr(node.act, "agent", None) == agent
    ]
    said = (
        each
        for gate in gates
        for each in gate.outcomes
        if gate.role != TRANSFORMER or (gate.verdicts and each != SUCCESS)
    )
    return tuple(dict.fromkeys(said))
