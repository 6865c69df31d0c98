"""Find a shortest completed run for each entry of a program, or the reason why no run completes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import accumulate, count
from typing import Generic, TypeVar

from stagec.change.flow_tests.paths.choices import AgentEnding, AnswerChoice, Chooser, list_verdicts
from stagec.change.flow_tests.paths.positions import (
    Positions,
    RunPosition,
    list_context_terms,
    list_open_inputs,
    list_starts,
)
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.memo import LazySequence
from stagec.core.value import NOTHING, replace, value
from stagec.ir.flow import JUDGE, UNFIT, Flow, LostEntry, SearchedFlow
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import (
    Chain,
    Edge,
    ForEach,
    Fork,
    Go,
    Named,
    Node,
    Outcome,
    Pick,
    Schedule,
    Stop,
    Target,
    list_begun,
)
from stagec.runtime.machine import Answered, Effect, Program, Started, StepResult, advance
from stagec.runtime.machine.exchange import Ask, Event, Hook, Shell, Turn, choose_next, read_key
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.program import program_of
from stagec.runtime.machine.state import PendingNode, Scope, State
from stagec.runtime.world.samples import make_output

FAR = 10**6
"""The distance of a node from which nothing leads to completion."""
_Name = str | tuple[str]
"""A node, or what an answer chooses from by the name that the plan gives it."""
_Needs = tuple[_Name, ...]


class Distances:
    """The least number of executions from each node of a plan to the end of its branch."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._least = _measure(plan)
        self._waiting = _Rests(self._of_waiting)
        self._chained = _Rests(self.of_node)

    def of_entry(self, entry: str) -> int:
        """Return the least number of executions of a completed run from an entry."""
        begun = self._plan.entries[entry]
        return self.of_node(begun) if isinstance(begun, str) else sum(map(self.of_node, begun.needs))

    def of_edge(self, edge: Edge) -> int:
        """Return the least number of executions after an edge until its branch ends."""
        ways = (least + sum(map(self._of_hub, needs)) for least, needs in _list_needs(edge.target))
        return min(ways, default=FAR)

    def of_state(self, state: State) -> int:
        """Return how many executions have yet to begin at least until a run is completed."""
        left = sum(self.of_node(each.node) - 1 for each in state.active.values() if not each.begins_branch)
        shared, first, latest = state.waiting.parts
        left += self._waiting.find(shared, first) + sum(map(self._of_waiting, latest))
        return left + sum(self._of_scope(each) for each in state.scopes.values())

    def of_node(self, node: str) -> int:
        """Return the least number of executions from a node to the end of its branch."""
        return self._least.get(node, FAR)

    def _of_waiting(self, waiting: PendingNode) -> int:
        return 1 if waiting.begins_branch else self.of_node(waiting.node)

    def _of_hub(self, name: _Name) -> int:
        nodes = [name] if isinstance(name, str) else self._plan.choices[name[0]].values()
        return min(map(self.of_node, nodes), default=FAR)

    def _of_scope(self, scope: Scope) -> int:
        if scope.agenda is not None:
            return 0  # its nodes are counted when they begin
        after = 0 if scope.join is None else self.of_node(scope.join)
        return after + (self._chained.find(scope.nodes, len(scope.results) + 1) if scope.is_chain else 0)


V = TypeVar("V")


class _Rests(Generic[V]):
    """The sums of what is left of a tuple: the states of a run share their tuples, and each has come further."""

    def __init__(self, weigh: Callable[[V], int]) -> None:
        self._weigh = weigh
        self._given: tuple[V, ...] = ()
        self._sums = [0]

    def find(self, given: tuple[V, ...], first: int) -> int:
        """Return the sum of a tuple's elements from one of them on, 0 behind the last one."""
        if given is not self._given:
            sums = [*accumulate(map(self._weigh, reversed(given)), initial=0)]
            self._given, self._sums = given, sums[::-1]
        return self._sums[min(first, len(given))]


def _measure(plan: Plan) -> Mapping[str, int]:
    """Settle the nodes from the nearest to the farthest; a way counts when all that it needs is settled."""
    ways: list[tuple[_Name, int, _Needs]] = [
        ((name,), 0, (node,)) for name, nodes in plan.choices.items() for node in dict.fromkeys(nodes.values())
    ]
    ways += (
        (name, 1 + least, needs)
        for name, node in plan.nodes.items()
        for edge in _list_taken(node)
        for least, needs in _list_needs(edge.target)
    )
    missing = [len(needs) for *_, needs in ways]
    weights = [weight for _, weight, _ in ways]
    waiting: dict[_Name, list[int]] = {}
    queue: list[tuple[int, int]] = []
    for at, (*_, needs) in enumerate(ways):
        for each in needs:
            waiting.setdefault(each, []).append(at)
        if not needs:
            queue.append((weights[at], at))
    heapify(queue)
    found: dict[_Name, int] = {}
    while queue:
        distance, way = heappop(queue)
        name = ways[way][0]
        if name in found:
            continue
        found[name] = distance
        for at in waiting.get(name, ()):
            missing[at] -= 1
            weights[at] += distance
            if not missing[at] and ways[at][0] not in found:
                heappush(queue, (weights[at], at))
    return {name: each for name, each in found.items() if isinstance(name, str)}


def _list_taken(node: Node) -> Iterator[Edge]:
    """Yield the edges of a node that come before one of the same outcome without conditions, and that one."""
    decided = set[str]()
    for edge in node.edges:
        if edge.on not in decided:
            yield edge
        if not edge.when and not isinstance(edge.target, Named | Pick):
            decided.add(edge.on)


def _list_needs(target: Target) -> Iterator[tuple[int, _Needs]]:
    """Yield the needs of a target until it is completed: the number of executions, and the nodes with their successors.

    Once for each alternative. Nothing has to follow the nodes that begin the branches of a fork.
    """
    match target:
        case Go():
            yield 0, (target.node,)
            if target.otherwise is not None:
                yield 0, (target.otherwise,)
        case Fork() | ForEach():  # a list may be empty
            least = len(target.nodes) if isinstance(target, Fork) else 0
            yield least, () if target.join is None else (target.join,)
        case Chain():
            yield 0, target.nodes
        case Named():
            yield from ((0, (node,)) for node in dict.fromkeys(target.nodes.values()))
        case Pick():
            yield 0, ((target.choices,),)
        case Schedule():
            yield 0, tuple(target.needs)
        case Stop(outcome=Outcome.DONE):
            yield 0, ()
        case Stop():
            pass


Exchange = tuple[Effect, Json]
"""A request and the answer to it."""


class WorkUsedUpError(Exception):
    """A search has made as many steps of the machine as it may make."""


class Work:
    """How many steps of the machine a search may still make: the same search always makes the same steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def advance(self, program: Program, state: State, event: Event) -> StepResult:
        """Make one step, or raise `WorkUsedUpError`."""
        if self.left <= 0:
            raise WorkUsedUpError
        self.left -= 1
        return advance(program, state, event)


@value
class Reached:
    """A position of a run: its state and last result, the run before, the answers since, and their cost.

    `odd` counts the answers that nobody expects.
    """

    started: Started
    state: State
    last: Json = None
    before: Reached | None = None
    asked: tuple[Exchange, ...] = ()
    cost: int = 0
    odd: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the run is completed."""
        return self.state.ended is Outcome.DONE

    def list_answered(self) -> tuple[Exchange, ...]:
        """Return all requests of the run with their answers."""
        parts: list[tuple[Exchange, ...]] = []
        reached: Reached | None = self
        while reached is not None:
            parts.append(reached.asked)
            reached = reached.before
        return tuple(exchange for part in reversed(parts) for exchange in part)


class Explorer:
    """Plays the runs of one program, within some work."""

    def __init__(self, program: Program, chooser: Chooser, work: Work, distances: Distances) -> None:
        self._program, self._chooser, self._work, self._distances = program, chooser, work, distances
        self._positions = Positions(program)
        self.asked: dict[tuple[str, str], Effect] = {}
        """One request of each kind of every node, by the node and the kind."""

    def begin(self, started: Started) -> Reached:
        """Return a run that has begun."""
        step = self._work.advance(self._program, State(), started)
        return Reached(started, step.state, step.last)

    def dive(self, begun: Reached, most: int) -> Reached | None:
        """Return a completed run of at most so many executions, if the first answer that may lead there always does."""
        reached = begun
        while reached.state.ended is None:
            following = None
            for choice in self._chooser.find_choices(self._find_next(reached)):
                after = self._play(reached, choice)
                if after is not None and self._measure(after) <= most:
                    following = after
                    break
            if following is None:
                return None
            reached = following
        return reached if reached.is_done else None

    def explore(self, begun: Iterable[Reached]) -> Iterator[Reached]:
        """Yield the runs that have ended, completed ones with fewer executions first; of alike runs the shortest."""
        order = count()
        queue: list[tuple[int, int, int, Reached, int]] = []
        least: dict[tuple[int, RunPosition], int] = {}
        for start, each in enumerate(begun):
            heappush(queue, (self._measure(each), each.cost, -next(order), each, start))
        while queue:
            *_, reached, start = heappop(queue)
            if reached.state.ended is not None:
                yield reached
                continue
            position = start, self._positions.find(reached.state)
            executions = reached.state.executions
            if least.get(position, executions + 1) <= executions:
                continue
            least[position] = executions
            for choice in self._chooser.find_choices(self._find_next(reached)):
                after = self._play(reached, choice)
                if after is not None:
                    heappush(queue, (self._measure(after), after.cost, -next(order), after, start))

    def spread(self, begun: Iterable[Reached]) -> Iterator[Reached]:
        """Yield the positions that runs reach: at each the first choices first, unexpected answers last.

        A position is left for others after each choice, because one choice may take a long search.
        """
        order = count()
        queue: list[tuple[int, int, int, int, Reached, int, Iterator[AnswerChoice] | None]] = []
        least: dict[tuple[int, RunPosition], int] = {}
        for start, each in enumerate(each for each in begun if each.state.ended is None):
            heappush(queue, (0, 0, each.state.executions, next(order), each, start, None))
        while queue:
            odd, tried, executions, _, reached, start, choices = heappop(queue)
            if choices is None:
                position = start, self._positions.find(reached.state)
                if least.get(position, executions + 1) <= executions:
                    continue
                least[position] = executions
                choices = iter(self._chooser.find_choices(self._find_next(reached)))
            choice = next(choices, None)
            if choice is None:
                continue
            heappush(queue, (odd, tried + 1, executions, next(order), reached, start, choices))
            after = self._play(reached, choice)
            if after is not None:
                yield after
                if after.state.ended is None:
                    heappush(queue, (after.odd, 0, after.state.executions, next(order), after, start, None))

    def _measure(self, reached: Reached) -> int:
        """Return how many executions a run has at least when it is completed."""
        state = reached.state
        return state.executions + (0 if state.ended is not None else self._distances.of_state(state))

    def _find_next(self, reached: Reached) -> Effect:
        effect = choose_next(reached.state.pending.values())
        self.asked.setdefault((read_key(effect.key).node, type(effect).__name__), effect)
        return effect

    def _play(self, before: Reached, choice: AnswerChoice) -> Reached | None:
        """Return a run after a choice, and what follows from it; None if that is not known."""
        effect, answer = choice.find_request(before.state.pending), choice.answer
        asked: list[Exchange] = []
        state, last, odd = before.state, before.last, before.odd + choice.is_odd
        while True:
            step = self._work.advance(self._program, state, Answered(effect.key, answer))
            asked.append((effect, answer))
            state, last = step.state, step.last if step.moves else last
            after = Reached(before.started, state, last, before, tuple(asked), before.cost + choice.cost, odd)
            if state.ended is not None or choice.follow is None:
                return after
            effect = choose_next(state.pending.values())
            try:
                answer = choice.follow(effect)
            except LookupError as error:
                return after if error.args == (effect.key,) else None


_SOFT = frozenset(
    {
        FailureKind.UNFIT_START,
        FailureKind.UNSTARTABLE,
        FailureKind.INIT,
        FailureKind.AGENT_UNFIT,
        FailureKind.HOOK,
        FailureKind.ISSUE,
        FailureKind.REFUSED,
    }
)
"""Failures that other values may avoid than those that were made up."""
_DIVES = 4
"""Beginnings from which a run is tried that never turns back."""


@value
class Witness:
    """A shortest completed run from an entry: how it begins, and all requests with their answers."""

    entry: str
    started: Started
    answered: tuple[Exchange, ...]
    executions: int

    def write_scenario(self, plan: Plan) -> Object:
        """Return the scenario in which the world answers so again."""
        return _write_scenario(plan, self.started, self.answered)


def _write_scenario(plan: Plan, started: Started, answered: tuple[Exchange, ...]) -> Object:
    from stagec.change.flow_tests.scenario_writing import write_scenario  # `validate` writes none

    return write_scenario(plan, started, answered)


def find_witnesses(program: Program, steps: int) -> Iterator[Witness | LostEntry]:
    """Yield the result for each entry of a program, with so many steps of the machine together."""
    work = Work(steps)
    search = Search(program, work)
    for name in program.plan.entries:
        if not search.is_meant_to_stop(name):
            yield search.find(name)


class _AgentRuns:
    """Possible ends of runs of an agent, each with its scenario: the next one is searched on demand."""

    def __init__(self, program: Program, verdicts: tuple[str, ...], work: Work) -> None:
        self._verdicts = verdicts
        self._runs = ExploredRuns(program, work, verdicts=verdicts)
        self.endings = LazySequence(self._find(program))

    def _find(self, program: Program) -> Iterator[AgentEnding]:
        """Yield the endings, those of completed runs with few executions first."""
        left = {(outcome, each) for outcome in ("done", "failed") for each in (None, *self._verdicts)}
        for ended in self._runs.explore(program.plan.entry):
            said = text_in(object_of(object_of(ended.last).get("answer")), "verdict")
            verdict = said if said in self._verdicts else None
            outcome = str(ended.state.ended)
            if (outcome, verdict) in left:
                left.remove((outcome, verdict))
                scenario = _write_scenario(program.plan, ended.started, ended.list_answered())
                yield AgentEnding(outcome if verdict is None else f"{outcome} {verdict}", scenario)
            if not left:
                return

    def list_open(self) -> Iterator[str]:
        """Yield why runs of the agent may end in other ways than those that were found."""
        if len(self.endings.known) < 2 * (1 + len(self._verdicts)):
            yield from (why for _, why in self._runs.list_open())


class ExploredRuns:
    """The runs of one program, and what was seen in them."""

    def __init__(
        self,
        program: Program,
        work: Work,
        endings: Mapping[str, Iterable[AgentEnding]] = NOTHING,
        verdicts: tuple[str, ...] | None = None,
    ) -> None:
        distances = Distances(program.plan)
        chooser = Chooser(program, endings, verdicts, distances.of_edge)
        self._program, self.ways = program, chooser.ways
        self.distances = distances
        self.explorer = Explorer(program, chooser, work, distances)
        self.failed: Reached | None = None
        """The run that has failed with the most executions after answers that everybody expects."""
        self._soft: dict[str, str] = {}
        self._starts: dict[str | None, tuple[Started, ...]] = {}

    def explore(self, entry: str | None) -> Iterator[Reached]:
        """Yield the ends of runs from an entry, completed ones with few executions first."""
        self.failed, self._soft = None, {}
        begun = self.begin(entry)
        for ended in self.explorer.explore(begun):
            self._note(ended)
            yield ended

    def spread(self, entry: str | None) -> Iterator[Reached]:
        """Yield the positions that runs from an entry reach."""
        for reached in self.explorer.spread(self.begin(entry)):
            self._note(reached)
            yield reached

    def begin(self, entry: str | None) -> list[Reached]:
        """Return the beginnings of runs from an entry."""
        return [self.explorer.begin(each) for each in self.list_starts(entry)]

    def list_starts(self, entry: str | None) -> tuple[Started, ...]:
        """Return how runs from an entry can begin."""
        if entry not in self._starts:
            first, others = list_starts(self._program, entry)
            self._starts[entry] = (*first, *others)
        return self._starts[entry]

    def _note(self, ended: Reached) -> None:
        failure = ended.state.failure
        if ended.is_done or failure is None:
            return
        if failure.kind in _SOFT:
            self._soft.setdefault(failure.node or "", failure.detail or failure.kind)
        if self.failed is None or _rank(ended) < _rank(self.failed):
            self.failed = ended

    def list_open(self) -> Iterator[tuple[str, str]]:
        """Yield why other runs may end otherwise than those that were explored, each with the node where they part.

        The node is empty where runs part before they begin.
        """
        from stagec.change.flow_tests.witness.refutation import ElementRefuter, Refuter, list_open  # rarely needed

        refuter = Refuter(self._program)
        elements = ElementRefuter(self._program, refuter, list_context_terms(self._program))
        yield from ((node, f"with other values this may not happen: {why}") for node, why in self._soft.items())
        for each in list_open_inputs(self._program):
            if not refuter.has_no_other(each.schema, each.tried) and not elements.are_alike(each.name):
                yield "", f"other values of {each.name!r}"
        for (node, _), effect in self.explorer.asked.items():
            if isinstance(effect, Hook) and not self._is_decided(node, effect):
                yield node, f"what {effect.phase!r} hooks return is not known"
            elif isinstance(effect, Ask | Turn):
                yield from ((node, f"{node}: {each}") for each in list_open(self._program, refuter, self.ways, node))
            elif isinstance(effect, Shell) and not self._can_pass(node, effect):
                yield node, f"{node}: an output with which {effect.command!r} succeeds"

    def _is_decided(self, node: str, hook: Hook) -> bool:
        """Tell whether what a callable returns leads nowhere else than what was tried."""
        admission = self._program.plan.nodes[node].admission
        has_terms = admission is not None and bool(admission.defer or admission.block)
        return hook.phase in _DECIDED or (hook.phase == "setup" and not has_terms)

    def _can_pass(self, node: str, effect: Shell) -> bool:
        """Tell whether the made-up output of a command satisfies each validator that runs it."""
        validation = self._program.plan.nodes[node].validation
        known = [
            self._program.plan.validators[each.validator] for each in ([] if validation is None else validation.checked)
        ]
        output = text_in(
            object_of(make_output(self._program, self._program.plan.nodes[node], effect, succeeds=True)), "stdout"
        )
        patterns = (each.success.argument for each in known if each.success.kind not in _SIMPLE)
        return all(self._program.answer_schemas.matches(each, output or "") for each in patterns)


_SIMPLE = frozenset({"exit", "empty", "contains"})
"""Conditions of validators that a made-up output satisfies for sure."""
_DECIDED = frozenset({"gate", "assert", "exit"})
"""The phases of a stage whose callables can return nothing but what is tried.

What a `setup` callable returns decides about the gate of its own stage only; a stage that cannot begin fails anyway.
"""


_LIMITS = frozenset({FailureKind.BOUND, FailureKind.CYCLES, FailureKind.REPETITION})
"""Failures that end runs which would go on."""


def _rank(ended: Reached) -> tuple[int, bool, int, int]:
    failure = ended.state.failure
    return ended.odd, failure is None or failure.kind not in _LIMITS, ended.cost, -ended.state.executions


class Search:
    """Searches the runs of one program for completed ones."""

    def __init__(self, program: Program, work: Work) -> None:
        self._program, self._work = program, work
        plan = self.plan = program.plan
        agents = program.agents.items()
        self._agents = {name: _AgentRuns(each, list_verdicts(plan, name), work) for name, each in agents}
        self.runs = ExploredRuns(program, work, {name: each.endings for name, each in self._agents.items()})

    def is_meant_to_stop(self, entry: str) -> bool:
        """Tell whether all phases after an entry lead to phases in which a person goes on."""
        return self._program.plan.phases is not None and self.runs.distances.of_entry(entry) >= FAR

    def find(self, entry: str) -> Witness | LostEntry:
        """Return a shortest completed run from an entry, or why none was found."""
        lost = LostEntry(entry, next(iter(list_begun(self._program.plan.entries[entry])), entry))
        made = self._work.left
        if not any(self.runs.list_starts(entry)):
            return self._explain_inputs(lost)
        try:
            found = self._dive(entry) or next((each for each in self.runs.explore(entry) if each.is_done), None)
        except WorkUsedUpError:
            return replace(lost, open=f"no completed run was found in {made:,} steps of the machine", is_given_up=True)
        if found is not None:
            return Witness(entry, found.started, found.list_answered(), found.state.executions)
        return self._explain(lost)

    def _dive(self, entry: str) -> Reached | None:
        """Return a run with as few executions as any can have, where no answer has to be taken back."""
        explorer = self.runs.explorer
        least = self.runs.distances.of_entry(entry)
        dives = (explorer.dive(each, least) for each in self.runs.begin(entry)[:_DIVES])
        return next((each for each in dives if each is not None), None)

    def _explain_inputs(self, lost: LostEntry) -> LostEntry:
        """Say why no inputs were found with which a run begins."""
        from stagec.change.flow_tests.witness.refutation import Refuter  # most flows have inputs that fit

        refuter = Refuter(self._program)
        inputs = self._program.plan.inputs
        needed = {name: each.schema for name, each in inputs.items() if each.required and each.default is None}
        empty = (name for name, each in needed.items() if each is not None and refuter.is_empty(each))
        name = next(empty, None)
        why = "no inputs were found that satisfy their schemas" if name is None else ""
        return replace(lost, kind=UNFIT, detail=name or "", open=why)

    def _explain(self, lost: LostEntry) -> LostEntry:
        failed = self.runs.failed
        least, most = self.runs.distances.of_entry(lost.entry), self._program.plan.limits.executions
        if FAR > least > (least if most is None else most):
            return replace(lost, kind=str(FailureKind.BOUND), detail=f"the shortest of them has {least} executions")
        why = "" if least >= FAR else next((why for _, why in self.list_open()), "")
        if failed is None or failed.odd or failed.state.failure is None:
            judge = self._program.plan.judge
            return replace(
                lost, kind="" if judge is None else JUDGE, detail="" if judge is None else judge.kind, open=why
            )
        failure = failed.state.failure
        return replace(lost, node=failure.node or lost.node, kind=str(failure.kind), detail=failure.detail, open=why)

    def list_open(self) -> Iterator[tuple[str, str]]:
        """Yield why other runs may end otherwise than those that were explored, as `ExploredRuns` does."""
        yield from self.runs.list_open()
        for name, each in self._agents.items():
            yield from (("", f"{name}: {why}") for why in each.list_open())


def search_flow(flow: Flow, plan: Plan, steps: int) -> SearchedFlow:
    """Return the entries of a flow from which no completed run of its plan was found in so many steps."""
    found = find_witnesses(program_of(plan), steps)
    return SearchedFlow(flow, tuple(each for each in found if isinstance(each, LostEntry)))
