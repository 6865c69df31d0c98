"""What a run in flight would go on with under another plan, and where it cannot: the yardstick of `stagec breaking`.

A state has no meaning under a plan that lacks a name the state stands on, that cannot take a request as it was asked, or
under which no run can be in such a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import networkx as nx
from properties.soundness.answers import answers
from properties.soundness.worlds import ANYTHING, Known, World, given

from stagec.change.comparison.compare import compare_plans
from stagec.change.comparison.kind import Grade, PlanPair, compare_texts
from stagec.change.comparison.situation import RunCompatibility, judge_changes
from stagec.core.value import replace, value
from stagec.ir.plan.act import Carried, Converse, Process, Prompt
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Outcome, list_begun, list_targets
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.machine import Answered, Program, Started, State, advance
from stagec.runtime.machine.acts.hooks import KINDS, slot_of
from stagec.runtime.machine.exchange import Ask, Call, Effect, Event, Hook, Resumed, Turn, execution_of
from stagec.runtime.machine.execution import Conversation, Execution, PendingJudgement, PendingValidation
from stagec.runtime.machine.program import join_programs, program_of
from stagec.runtime.machine.replanning import ObstacleError, transfer
from stagec.runtime.machine.state import NodeHistory

STEPS = 60
"""Events for which a run goes on under the new plan."""


class Crossing:
    """Two plans: what the product says of states of the old one, and what this yardstick does."""

    def __init__(self, old: Plan, new: Plan) -> None:
        self.old, self.new = program_of(old), program_of(new)
        self.onward = join_programs(self.old, self.new)
        self.product = RunCompatibility(self.old, self.new)
        changes = judge_changes(PlanPair(old, new), compare_plans(old, new))
        self.breaks = any(each.kind.grade is Grade.BREAKING for each in changes)

    def has_other_limits(self, node: str) -> bool:
        """Tell whether the plans limit a node in different ways; if not, an edge decides how its failure ends."""
        return len({repr(_list_limits(each.plan, node)) for each in (self.old, self.new)}) > 1

    def find_refusal(self, state: State) -> str | None:
        """Return why the product lets no run go on from a state, nothing where it does."""
        found = self.product.find_hindrances(state)
        return "; ".join(f"{each.sentence}, {each.here}" for each in found) or None

    def find_obstacle(self, state: State) -> str | None:
        """Return why a state has no meaning, by this yardstick."""
        return next(self._obstacles(state), None)

    def _obstacles(self, state: State) -> Iterator[str]:
        plan = self.new.plan
        if state.entry not in plan.entries:
            yield f"entry {state.entry} is gone"
            return
        limit = plan.limits.executions
        if limit is not None and state.executions > limit:
            yield f"{state.executions} executions are more than {limit}"
        yield from self._input_obstacles(state)
        for name in self._standing(state):
            if name not in plan.nodes:
                yield f"node {name} is gone"
        for name, status in state.statuses.items():
            if name not in plan.nodes:
                yield f"stage {name} is gone"
            elif status is StageStatus.COMPLETED:
                yield from self._output_obstacles(name)
        for execution in state.active.values():
            if execution.node in plan.nodes:
                yield from self._execution_obstacles(execution, state)

    def _input_obstacles(self, state: State) -> Iterator[str]:
        for name, wanted in self.new.plan.inputs.items():
            if name not in state.inputs:
                if wanted.required and wanted.default is None:
                    yield f"input {name} is missing"
            elif (why := self.new.answer_schemas.complaint(wanted.schema, state.inputs[name])) is not None:
                yield f"input {name}: {why}"

    def _standing(self, state: State) -> set[str]:
        found = {each.node for each in (*state.active.values(), *state.waiting)}
        found |= {each.otherwise for each in state.waiting if each.otherwise is not None}
        for scope in state.scopes.values():
            found |= {*scope.nodes} | ({scope.join} if scope.join is not None else set())
        return found

    def _output_obstacles(self, name: str) -> Iterator[str]:
        old: Any = self.old.plan.nodes[name].act
        for user, node in self.new.plan.nodes.items():
            for each in node.act.inputs.values() if isinstance(node.act, Process) else ():
                if each.node == name and each.path not in old.outputs.values():
                    yield f"{user} reads {each.path}, which {name} has not left"

    def _execution_obstacles(self, execution: Execution, state: State) -> Iterator[str]:
        old, new = self.old.plan.nodes[execution.node], self.new.plan.nodes[execution.node]
        if type(old.act) is not type(new.act) or type(old.gate) is not type(new.gate):
            yield f"{execution.node} is of another kind"
            return
        attempts = 1 if new.retry is None else new.retry.attempts
        if execution.attempt > attempts and not isinstance(new.act, Prompt):
            yield f"attempt {execution.attempt} is more than {attempts}"
        yield from self._progress_obstacles(execution, old, new)
        for effect in state.pending.values():
            if execution_of(effect.key) == execution.key:
                yield from self._request_obstacles(effect, old.act, new.act)

    def _progress_obstacles(self, execution: Execution, old: Any, new: Any) -> Iterator[str]:
        progress = execution.progress
        if isinstance(progress, Conversation):
            if isinstance(new.act, Converse) and progress.turns > new.act.turns:
                yield f"{progress.turns} turns are more than {new.act.turns}"
            if progress.hooks is not None and not _begins(
                *(_hooks(each, progress.hooks.slot) for each in (self.old.plan, self.new.plan))
            ):
                yield f"the callables at {progress.hooks.slot} are other ones"
        if isinstance(progress, PendingValidation):
            conditions = () if new.validation is None else new.validation.conditions
            if not _begins(old.validation.conditions, conditions):
                yield "the validators are other ones"
        if isinstance(progress, PendingJudgement):
            judge = self.new.plan.judge
            kinds = [kind for kind, _ in progress.questions]
            if judge is not None and kinds and kinds != _questions(judge.kind, judge.settings):
                yield "the judge asks other questions"

    def _request_obstacles(self, effect: Effect, old: Any, new: Any) -> Iterator[str]:
        if isinstance(effect, Turn) and effect.completion != new.completion:
            yield f"the result is taken by {new.completion}"
        if isinstance(effect, Turn | Ask) and effect.tools is not None and new.tools is not None:
            gone = {*effect.tools} & {*(old.tools or ())} - {*new.tools}
            if gone:
                yield f"{sorted(gone)} were offered"
        if isinstance(effect, Call):
            if effect.tool in old.tools and effect.tool not in new.tools:
                yield f"{effect.tool} is being called"
            before, after = (each.plan.tools.get(effect.tool) for each in (self.old, self.new))
            if before is not None and after is not None:
                judges = (self.old.answer_schemas, self.new.answer_schemas)
                fits = judges[0].complaint(before.schema, effect.arguments) is None
                if fits and judges[1].complaint(after.schema, effect.arguments) is not None:
                    yield f"{effect.tool} refuses a call that waits"


def _list_limits(plan: Plan, name: str) -> tuple[Any, ...]:
    node = plan.nodes.get(name)
    return (plan.limits, None if node is None else (getattr(node.act, "turns", None), node.retry))


def _begins(first: tuple[Any, ...], whole: tuple[Any, ...]) -> bool:
    return whole[: len(first)] == first


def _hooks(plan: Plan, slot: str) -> tuple[Any, ...]:
    hooks = () if plan.session is None else plan.session.hooks
    return tuple(hook for kind in KINDS for hook in hooks if slot_of(hook) == slot and hook.kind == kind)


def _questions(kind: str, settings: Any) -> list[str]:
    worldly = {"poll:state", "meta:custom"}
    parts = [str(each.get("type")) for each in settings.get("conditions", [])] if kind == "meta:composite" else [kind]
    return [each for each in parts if each in worldly]


def walk(crossing: Crossing, random: Random, known: Known) -> Iterator[State]:
    """Yield the states of a run of the old plan, as answers that fit lead on."""
    plan = crossing.old.plan
    world = World(random, plan, known, rude=False)
    entry = random.choice([*plan.entries])
    state = advance(crossing.old, State(), Started("run", entry, given(random, plan))).state
    for _ in range(STEPS):
        if state.ended is not None:
            return
        yield state
        key = random.choice([*state.pending])
        said = {} if random.random() < MUTE else answer(world, state.pending[key], random)
        state = advance(crossing.old, state, Answered(key, said)).state


MUTE = 0.1
"""How often the world says nothing of use: then it is asked again."""


def answer(world: World, effect: Any, random: Random) -> Any:
    """Return what the world says; processes end well, or not."""
    kind = type(effect).__name__
    if kind == "Execute":
        told = {name: {"path": path, "sha256": "a" * 64, "sizeBytes": 1} for name, path in effect.outputs.items()}
        return {"exit": random.choice((0, 0, 0, 1)), "missing": [], "changed": [], "outputs": told}
    if kind == "Publish":
        return {"checkpoint": None}
    if kind == "Preserve":
        return {"checkpoint": None, "valid": True}
    if kind == "Interrupt":
        return {}
    return world.answer(effect)


def find_trouble(
    crossing: Crossing,
    state: State,
    random: Random,
    known: tuple[Known, Known],
    excused: tuple[Failures, set[str]],
    *,
    is_within: bool = False,
) -> str | None:
    """Return why a run cannot go on from a state under the new plan, nothing when it goes on.

    `excused` are failures, as kind and node, that runs have from their beginning, and the kinds that count later on.
    `is_within` says that the state is within the limits of the new plan: reaching these is no fault then.
    """
    fresh, counted = excused
    passing = LIMITS | {"validation-failed"} if is_within else set[str]()
    try:
        moved = transfer(crossing.old, crossing.new, state)
    except ObstacleError as error:
        return str(error)
    if (why := crossing.find_obstacle(state)) is not None:
        return why
    old_world = World(random, replace(crossing.old.plan), known[0], rude=False)
    for event in _events(crossing, state, old_world, random):
        before = advance(crossing.old, state, event).state
        try:
            after = advance(crossing.onward, moved, event).state
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        before = _leave_hooks(crossing.old, before, old_world, random)
        if before.ended is not Outcome.FAILED and _is_unfit(state, before, after, fresh):
            failure = after.failure
            is_edge = (
                failure is not None
                and failure.kind.value in LIMITS
                and not crossing.has_other_limits(str(failure.node))
            )
            if (counted is UNFIT or not is_edge) and (failure is None or failure.kind.value not in passing):
                return after.reason
        why = _go_on(crossing, after, random, known, (fresh, counted))
        if why is not None:
            return why
    return None


def find_deviation(crossing: Crossing, seed: int) -> str | None:
    """Return where a run goes another way under the new plan than under the old one; nothing when it never does.

    What ends under the old plan as failed, or at a limit, may go on.
    """
    random, known = Random(seed), Known({None: [*ANYTHING]})
    for state in walk(crossing, random, known):
        world = World(random, crossing.old.plan, known, rude=False)
        before, after = state, transfer(crossing.old, crossing.new, state)
        for _ in range(STEPS):
            if before.ended is not None:
                break
            if {*before.pending} != {*after.pending}:
                return f"it asks for {sorted(after.pending)}, and for {sorted(before.pending)} under the old plan"
            key = random.choice([*before.pending])
            said = Answered(key, answer(world, before.pending[key], random))
            before, after = advance(crossing.old, before, said).state, advance(crossing.onward, after, said).state
        if before.ended is Outcome.DONE and after.ended is not before.ended:
            return f"it has not ended as done: {after.reason}"
    return None


def _events(crossing: Crossing, state: State, world: World, random: Random) -> Iterator[Event]:
    if state.statuses:
        done = tuple(name for name, status in state.statuses.items() if status is StageStatus.COMPLETED)
        yield Resumed(done)
        return
    for _ in range(3):
        key = random.choice([*state.pending])
        yield Answered(key, answer(world, state.pending[key], random))


def _go_on(
    crossing: Crossing, state: State, random: Random, known: tuple[Known, Known], excused: tuple[Failures, set[str]]
) -> str | None:
    """Walk on under the new plan; what was asked before the change is answered as it was asked."""
    worlds = [
        World(random, crossing.old.plan, known[0], rude=False),
        World(random, crossing.onward.plan, known[1], rude=False),
    ]
    old_schemas = crossing.old.plan.contents
    fresh, counted = excused
    for _ in range(STEPS):
        if state.ended is not None:
            break
        if not state.pending:
            return "it waits for nothing"
        key = random.choice([*state.pending])
        effect = state.pending[key]
        world = worlds[0] if getattr(effect, "schema", None) in old_schemas else worlds[1]
        try:
            state = advance(crossing.onward, state, Answered(key, answer(world, effect, random))).state
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    if (
        state.ended is Outcome.FAILED
        and state.failure is not None
        and state.failure.kind.value in counted
        and _failure(state) not in fresh
    ):
        return state.reason
    return None


def _leave_hooks(old: Program, state: State, world: World, random: Random) -> State:
    """Let a run under the old plan come out of its hooks: one that has failed already may call some before it ends."""
    while state.pending and all(isinstance(each, Hook) for each in state.pending.values()):
        key, effect = next(iter(state.pending.items()))
        state = advance(old, state, Answered(key, answer(world, effect, random))).state
    return state


def _is_unfit(state: State, before: State, after: State, fresh: Failures) -> bool:
    """Tell whether an event that a run gets over under the old plan ends it under the new one, for no good reason."""
    if after.ended is not Outcome.FAILED or after.failure is None:
        return False
    kind, node = after.failure.kind.value, str(after.failure.node)
    if kind == "validation-failed":  # a validator that refuses what the old one let pass is a validator of the new plan
        none = NodeHistory()
        return before.past.get(node, none).failures > state.past.get(node, none).failures
    if kind in STARTS and _failure(after) in fresh:  # runs that begin under the new plan cannot start it either
        return False
    return kind in UNFIT | LIMITS


STARTS = {"cannot-start", "init-failed"}
LIMITS = {"bound-reached", "turn-cap", "retry-exhausted"}
UNFIT = {"unfit-start", "cannot-start", "invalid-answer", "no-intent", "no-edge", "init-failed"}
"""Failures that say that a plan and a state do not fit."""
REMEMBERED = {"unfit-start", "cannot-start"}
"""Those of them that depend on what a run remembers; the others depend on a node of the new plan and on an answer to it."""


def _failure(state: State) -> Any:
    return None if state.failure is None else (state.failure.kind.value, state.failure.node)


def list_unsupplied(plan: Plan) -> Iterator[str]:
    """Yield the nodes to which ways lead from the beginning that leave out what keeps a value they need.

    No plan that compiles has any; those of random changes may, and runs come there seldom.
    """
    graph = nx.DiGraph(
        (name, each) for name, node in plan.nodes.items() for edge in node.edges for each in list_targets(edge.target)
    )
    graph.add_nodes_from(plan.nodes)
    begun = {each for entry in plan.entries.values() for each in list_begun(entry)}
    for name, node in plan.nodes.items():
        for supply in getattr(node.act, "variables", {}).values():
            if isinstance(supply, Carried) and supply.required and supply.default is None:
                left = nx.restricted_view(graph, [], [*graph.out_edges(supply.node)])
                if any(name == each or nx.has_path(left, each, name) for each in begun):
                    yield name


class Failures:
    """The failures of runs that begin under plans: so many of each are tried, and only while nobody has seen the one asked for."""

    def __init__(self, plans: tuple[Plan, ...], seed: int, runs: int, known: tuple[Known, Known]) -> None:
        self._untried = self._list_ends(plans, Random(seed), runs, known[::-1])
        self._seen = set[Any](
            (kind, node) for node in list_unsupplied(plans[0]) for kind in ("cannot-start", "unfit-start")
        )

    def __contains__(self, failure: object) -> bool:
        while failure not in self._seen:
            following = next(self._untried, None)
            if following is None:
                return False
            self._seen.add(following)
        return True

    @staticmethod
    def _list_ends(plans: tuple[Plan, ...], random: Random, runs: int, known: tuple[Known, Known]) -> Iterator[Any]:
        """Yield the failure of each run, with nothing for one that ends well.

        Every second run is given answers that others were given; what these end with may depend on a rare one.
        """
        for plan, common in zip(plans, known, strict=False):
            program, own = program_of(plan), Known({None: [*ANYTHING]})
            for number in range(runs):
                own = Known({None: [*ANYTHING]}) if number % 50 == 0 else own
                world = World(random, plan, common if number % 2 else own, rude=False)
                begun = Started("run", random.choice([*plan.entries]), given(random, plan))
                state = advance(program, State(), begun).state
                for _ in range(STEPS):
                    if state.ended is not None or not state.pending:
                        break
                    key = random.choice([*state.pending])
                    state = advance(program, state, Answered(key, answer(world, state.pending[key], random))).state
                yield _failure(state) or ()


@value
class Verdict:
    """What became of the states of some runs of an old plan.

    `wrong` are those that the product takes and that do not go on, `refused` those that it refuses, with why; `stuck`
    are those among them that indeed do not go on.
    """

    states: int
    taken: int
    wrong: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()


SOME = 4
"""Of the states that are taken although a change is breaking, one in so many is followed where one table is looked at."""


def find_stuck(
    old: Plan, new: Plan, seed: int, runs: int, fresh_runs: int = 30, counted: set[str] | None = None
) -> Verdict:
    """Return what the product makes of the states of some runs of the old plan, and what becomes of these."""
    random, plans = Random(seed), (new,) if counted is None else (new, old)
    crossing, known = Crossing(old, new), (Known({None: [*ANYTHING]}), Known({None: [*ANYTHING]}))
    # what runs fail with from their beginning is no fault of the change
    fresh = Failures(plans, seed, fresh_runs, known)
    usual = fresh if fresh_runs else Failures((new,), seed, 30, known)
    _add_witnesses(old, new, known[0], random)
    wrong, refused, stuck, states = list[str](), list[str](), list[str](), 0
    for state in (each for _ in range(runs) for each in walk(crossing, random, known[0])):
        states += 1
        refusal = crossing.find_refusal(state)
        if refusal is not None:
            refused.append(refusal)
            why = find_trouble(crossing, state, random, known, (fresh, counted or UNFIT)) if not stuck else None
            stuck += [] if why is None else [f"{refusal}: {why}"]
        elif counted is not None or not crossing.breaks or states % SOME == 0:
            is_within, excused = crossing.breaks, (usual, REMEMBERED) if crossing.breaks else (fresh, counted or UNFIT)
            why = find_trouble(crossing, state, random, known, excused, is_within=is_within)
            wrong += [] if why is None else [why]
        if wrong or (stuck and counted is None):
            break
    return Verdict(states, states - len(refused), tuple(wrong), tuple(refused), tuple(stuck))


def _add_witnesses(old: Plan, new: Plan, known: Known, random: Random) -> None:
    """Let answers be given, too, that a schema accepted and does not accept any more."""
    for name in old.nodes.keys() & new.nodes.keys():
        schemas = [getattr(plan.nodes[name].act, "schema", None) for plan in (old, new)]
        if schemas[0] is not None and schemas[0] != schemas[1]:
            texts = [
                None if each is None else plan.contents[each] for plan, each in zip((old, new), schemas, strict=True)
            ]
            found = compare_texts(*texts)
            if found.holds is False:
                known.setdefault(schemas[0], answers(str(texts[0]), random)).append(found.witness)
