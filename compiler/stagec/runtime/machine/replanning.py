"""Continue a run with another plan: its state as one of that plan, or why there is none (§ 3.19 of the format)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from stagec.core.json import Json, object_of
from stagec.core.json_reader import UnreadableError
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.ir.plan.act import Delegate, Process
from stagec.ir.plan.document import Plan, Tool
from stagec.ir.plan.loader import PlanError
from stagec.ir.plan.node import Schedule
from stagec.runtime.machine.exchange import (
    MACHINE,
    WITH_OBEYED_ANSWERS,
    Effect,
    Grant,
    Replanned,
    execution_of,
    request_key,
)
from stagec.runtime.machine.execution import AgentRun, Execution
from stagec.runtime.machine.json_values import normalise
from stagec.runtime.machine.program import Program, find_schedule, join_programs, load
from stagec.runtime.machine.scheduler import move
from stagec.runtime.machine.state import NodeHistory, PendingNode, Queue, Scope, State, StepResult, Table
from stagec.runtime.machine.step_builder import Machine, StepBuilder


@value
class Obstacle:
    """Why a state has no meaning under another plan; `node` is the node that prevents it, if it is one."""

    why: str
    node: str | None = None


class ObstacleError(Exception):
    """A state that has no meaning under another plan."""

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle.why)
        self.obstacle = obstacle


def change_plan(machine: Machine, program: Program, state: State, event: Replanned) -> StepResult:
    """Return the step after a run continues with the plan of an event; only the old state if that forbids it.

    Requests without an answer keep their keys and their members, except questions about tools that the new plan
    defines otherwise: these are asked again, under new keys. Executions that begin `again` make new requests. A run of
    processes must be resumed after this, because its schedule opens again then.
    """
    aside = set_aside(machine, program, state, event.again)
    try:
        wanted = load(event.plan.encode())
        taken = transfer(program, wanted, give_inputs(wanted, aside.state, event.inputs), event.machine)
    except (PlanError, ObstacleError):
        return StepResult(state)
    if wanted.digest != event.digest:
        return StepResult(state)
    builder = StepBuilder(join_programs(program, wanted), taken, machine)
    given: dict[str, Json] = {"inputs": sorted(event.inputs)} if event.inputs else {}
    asked_again = tuple(each for key, each in taken.pending.items() if key not in aside.state.pending)
    gone = tuple(key for key in aside.state.pending if key not in taken.pending)
    given |= {"asked": [each.key for each in asked_again]} if asked_again else {}
    builder.emit("PlanChanged", before=program.digest, after=wanted.digest, again=list(event.again), **given)
    if not state.statuses:
        move(builder, ())
    step = builder.step()
    return replace(
        step,
        effects=(*asked_again, *step.effects),
        void=(*aside.void, *gone, *step.void),
        trace=(*aside.trace, *step.trace),
        moves=(*aside.moves, *step.moves),
        program=builder.program,
    )


def set_aside(machine: Machine, program: Program, state: State, nodes: Collection[str]) -> StepResult:
    """Cancel the executions of some nodes, so that these nodes wait to begin again; their requests are void."""
    builder = StepBuilder(program, state, machine)
    over = [each for each in state.active.values() if each.node in nodes and not is_process(program, each.node)]
    if over:
        again = (PendingNode(each.node, each.branch, each.upstream) for each in over)
        both = zip(over, again, strict=True)
        ready = [replace(one, begins_branch=each.begins_branch, joins=each.joins) for each, one in both]
        builder.cancel(over, "PlanChanged")
        builder.change(waiting=Queue((*ready, *builder.now.waiting)))
    return builder.step()


def is_process(program: Program, node: str) -> bool:
    """Tell whether a node runs a process, which continues only from what it has published."""
    return isinstance(program.plan.nodes[node].act, Process)


def give_inputs(program: Program, state: State, given: Mapping[str, Json]) -> State:
    """Return a state with inputs of a plan that it lacks, or raise `ObstacleError`; what a run has stays what it is."""
    if not given:
        return state
    try:
        inputs = object_of(normalise(dict(given)))
    except UnreadableError:
        raise ObstacleError(Obstacle("the inputs cannot be read")) from None
    for name, each in inputs.items():
        wanted = program.plan.inputs.get(name)
        if wanted is None:
            raise ObstacleError(Obstacle(f"there is no input {quote(name)}"))
        if name in state.inputs:
            raise ObstacleError(Obstacle(f"the run has the input {quote(name)}, and keeps it as it is"))
        why = program.answer_schemas.complaint(wanted.schema, each, state.machine)
        if why is not None:
            raise ObstacleError(Obstacle(f"the input {quote(name)} cannot be used: {why}"))
    return replace(state, inputs={**state.inputs, **inputs})


def transfer(old: Program, new: Program, state: State, machine: int = MACHINE) -> State:
    """Return a state of a run of one program as a state of another one, or raise `ObstacleError`.

    `machine` is the version of the machine with which the run continues, if it began with an older one.
    """
    return _Transfer(old, new, machine).take_over(state)


class _Transfer:
    """Takes states of runs of an old program over to a new one."""

    def __init__(self, old: Program, new: Program, machine: int) -> None:
        self.old, self.new, self.machine = old, new, machine
        self.nodes = new.plan.nodes

    def take_over(self, state: State) -> State:
        obstacle = next(self._find_obstacles(state), None)
        if obstacle is not None:
            raise ObstacleError(obstacle)
        machine = max(state.machine, self.machine)
        asking = self._ask_again(state) if machine >= WITH_OBEYED_ANSWERS else state
        given = self.new.plan.inputs
        defaults = {name: each.default for name, each in given.items() if each.default is not None}
        active = {key: self._take_execution(each) for key, each in asking.active.items()}
        return replace(
            state,
            inputs={**defaults, **state.inputs},
            scopes={name: self._take_scope(name, each, state) for name, each in state.scopes.items()},
            active=active,
            pending=_renew(asking.pending, state.active, active),
            past=self._take_past(state.past),
            machine=machine,
        )

    def _ask_again(self, state: State) -> State:
        """Return a state in which questions about tools that are others now have new keys: no old answer fits them."""
        pending, active = dict(state.pending), dict(state.active)
        for key, effect in state.pending.items():
            execution = active.get(execution_of(key))
            if isinstance(effect, Grant) and execution is not None and self._is_other(effect.tool):
                new = request_key(execution.key, execution.attempt, execution.asked)
                pending = {new if each == key else each: other for each, other in pending.items()}
                pending[new] = replace(effect, key=new)
                active[execution.key] = replace(execution, asked=execution.asked + 1)
        return replace(state, pending=pending, active=active)

    def _is_other(self, name: str) -> bool:
        """Tell whether a call of a tool means something else in the new plan than whoever was asked could know."""
        before, after = self.old.plan.tools.get(name), self.new.plan.tools.get(name)
        if before is None or after is None:  # a plan names the tools that its nodes may use, and calls of others, too
            return after is not None and bool(after.command or after.server)
        return _define(self.old.plan, before) != _define(self.new.plan, after)

    def _find_obstacles(self, state: State) -> Iterator[Obstacle]:
        plan = self.new.plan
        if not state.run or (state.ended is not None and not state.statuses):
            yield Obstacle(f"the run has ended as {state.ended}" if state.run else "the run has not begun")
        if plan.id != self.old.plan.id:
            yield Obstacle(f"it is a plan of {quote(plan.id)}, and the run is one of {quote(self.old.plan.id)}")
        if state.entry not in plan.entries:
            yield Obstacle(f"there is no entry {quote(state.entry)}")
        for name, wanted in plan.inputs.items():
            if wanted.required and wanted.default is None and name not in state.inputs:
                yield Obstacle(f"the input {quote(name)} is missing")
        gone = [name for name in list_standing(state) if name not in self.nodes]
        yield from (Obstacle(f"node {quote(name)} is gone, and the run is at it", name) for name in gone)
        for each in state.active.values() if not gone else ():
            yield from self._find_obstacles_of(each)

    def _find_obstacles_of(self, execution: Execution) -> Iterator[Obstacle]:
        name = execution.node
        old, new = self.old.plan.nodes[name], self.nodes[name]
        if type(old.act) is not type(new.act) or type(old.gate) is not type(new.gate):
            yield Obstacle(f"node {quote(name)} does something else, and is under way", name)
        elif isinstance(old.act, Delegate) and isinstance(new.act, Delegate) and old.act.agent != new.act.agent:
            yield Obstacle(f"another agent works in {quote(name)}, and is under way", name)

    def _take_execution(self, execution: Execution) -> Execution:
        """Return an execution; the run of an agent in it is transferred too."""
        act, progress = self.nodes[execution.node].act, execution.progress
        if not isinstance(progress, AgentRun) or not isinstance(act, Delegate):
            return execution
        old, new = self.old.agents[act.agent], self.new.agents[act.agent]
        return replace(execution, progress=replace(progress, state=transfer(old, new, progress.state, self.machine)))

    def _take_past(self, past: Table[str, NodeHistory]) -> Table[str, NodeHistory]:
        """Return the history of nodes, without predecessors that are gone."""
        gone = {name: each for name, each in past.items() if each.origin is not None and each.origin not in self.nodes}
        return past.having_all({name: replace(each, origin=None) for name, each in gone.items()}) if gone else past

    def _take_scope(self, name: str, scope: Scope, state: State) -> Scope:
        """Return a scope; that of a schedule gets the number of the schedule in the new program."""
        if scope.agenda is None:
            return scope
        before, owner = self.old.schedules[scope.agenda].schedule, owner_of(name)
        offered = [edge.target for edge in self.nodes[owner].edges] if owner else [self.new.plan.entries[state.entry]]
        found = [each for each in offered if isinstance(each, Schedule)]
        if any(is_process(self.old, each) for each in scope.nodes):
            found = [each for each in found[:1] if {*scope.nodes} <= {*each.needs}]
        else:
            found = [each for each in found if [*each.needs.items()] == [*before.needs.items()]]
        if not found:
            why = f"the schedule of {quote(owner or state.entry)} is another one, and the run is in the middle of it"
            raise ObstacleError(Obstacle(why, owner or None))
        return replace(scope, agenda=find_schedule(self.new, found[0]))


def _renew(
    pending: Mapping[str, Effect], before: Mapping[str, Execution], after: Mapping[str, Execution]
) -> Mapping[str, Effect]:
    """Return the requests of a run when those in the runs of its agents are others than before."""
    for key, execution in before.items():
        old, new = execution.progress, after[key].progress
        if isinstance(old, AgentRun) and isinstance(new, AgentRun) and {*old.state.pending} != {*new.state.pending}:
            others = {name: each for name, each in pending.items() if name not in old.state.pending}
            pending = {**others, **new.state.pending}
    return pending


def _define(plan: Plan, tool: Tool) -> object:
    """Return everything that a plan says of a tool."""
    schema = None if tool.schema is None else plan.contents.get(tool.schema)
    return replace(tool, schema=schema), plan.servers.get(tool.server or "")


def owner_of(scope: str) -> str:
    """Return the node whose execution opened a scope; an empty text if an entry opened it."""
    return scope.rpartition("#")[0].partition("/")[2]


def list_standing(state: State) -> tuple[str, ...]:
    """Return the nodes in a state: those that act, wait or follow in a scope, and those that opened one."""
    found = [each.node for each in (*state.active.values(), *state.waiting)]
    found += [each.otherwise for each in state.waiting if each.otherwise is not None]
    for name, scope in state.scopes.items():
        found += [*scope.nodes, *([scope.join] if scope.join is not None else []), owner_of(name)]
    return tuple(each for each in dict.fromkeys((*found, *state.statuses)) if each)
