"""The effect of the changes between two plans: on runs in flight, and on one run in its state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache

from stagec.change.comparison import kinds
from stagec.change.comparison.change import Action, PlanChange
from stagec.change.comparison.compare import FlowChanges, compare_flows
from stagec.change.comparison.kind import ChangeKind, Grade, PlanPair
from stagec.core.json import Json
from stagec.core.shelf import members
from stagec.core.value import NOTHING, value
from stagec.core.words import format_count, quote
from stagec.ir.plan.act import Carried, Delegate, Given, Prompt
from stagec.ir.plan.document import Input, Plan
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Go, Pick, list_begun, list_targets
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.exchange import Ask, Call, Effect, Grant, Turn, execution_of
from stagec.runtime.machine.execution import (
    AgentRun,
    Conversation,
    Execution,
    PendingJudgement,
    PendingMove,
    PendingPreflight,
    PendingTransition,
    PendingValidation,
)
from stagec.runtime.machine.program import Program
from stagec.runtime.machine.replanning import ObstacleError, give_inputs, list_standing, owner_of, set_aside, transfer
from stagec.runtime.machine.state import IssueStatus, NodeHistory, Scope, State

Point = tuple[bool, str]
"""A node of the old plan, or of the new one."""


_HUB = "\0"
"""The first character of hubs: points between all nodes with the same choices and the nodes that these name."""


def find_missing(pair: PlanPair) -> Iterator[PlanChange]:
    """Yield the values that a node may miss in a run in flight, and cannot miss in a run of the new plan."""
    ways = {each: dict(_list_ways(plan)) for each, plan in ((False, pair.old), (True, pair.new))}
    for wanted in dict.fromkeys(_list_wanted(pair.new)):
        node, supply = wanted
        # where a run in flight can come without the value
        reached = _walk(ways, _begin(pair.old, is_new=False), _keepers(pair, supply))
        if (True, node) not in reached or _always_replaced(pair.new, node):
            continue
        alone: dict[bool, dict[str, tuple[str, ...]]] = {False: {}, True: ways[True]}
        fresh = _walk(alone, _begin(pair.new, is_new=True), {(True, supply.node)} & _keepers(pair, supply))
        if (True, node) not in fresh or not _keeps(pair.old, supply):
            yield PlanChange("carried-record", Action.CHANGED, node, f"{supply.key} of {supply.node}")


def can_miss(pair: PlanPair, supply: Carried, node: str, *, begun: set[str], ahead: set[str]) -> bool:
    """Tell whether a run that continues with the new plan can reach a node before a value is kept.

    `begun` are the nodes that act, and those to which it may go back; `ahead` those that are yet to begin.
    """
    ways, keepers = dict(_list_ways(pair.new)), {(True, supply.node)} if _keeps(pair.new, supply) else set()
    onward = {each for name in begun if (True, name) not in keepers for each in ways.get(name, ())}
    found = _walk({False: {}, True: ways}, [(True, each) for each in sorted({*onward, *ahead})], keepers)
    return (True, node) in found


def _list_wanted(plan: Plan) -> Iterator[tuple[str, Carried]]:
    for name, node in plan.nodes.items():
        supplies = node.act.variables.values() if isinstance(node.act, Prompt) else ()
        yield from (
            (name, each) for each in supplies if isinstance(each, Carried) and each.required and each.default is None
        )


def _begin(plan: Plan, *, is_new: bool) -> list[Point]:
    return [(is_new, name) for entry in plan.entries.values() for name in list_begun(entry)]


def _keepers(pair: PlanPair, supply: Carried) -> set[Point]:
    return {(is_new, supply.node) for is_new, plan in ((False, pair.old), (True, pair.new)) if _keeps(plan, supply)}


def _keeps(plan: Plan, supply: Carried) -> bool:
    """Tell whether a node of a plan keeps a value for others."""
    gate = plan.nodes[supply.node].gate if supply.node in plan.nodes else None
    return isinstance(gate, IntentGate) and any(str(path[-1]) == supply.key for path in gate.handoff if path)


def _walk(ways: dict[bool, dict[str, tuple[str, ...]]], begun: list[Point], without: set[Point]) -> set[Point]:
    """Return the nodes to which ways lead that leave some out; a run may change to the new plan at every node."""
    found, todo = set(begun), list(begun)
    for is_new, name in todo:  # grows while it is walked
        onward = [] if (is_new, name) in without else [(is_new, each) for each in ways[is_new].get(name, ())]
        # what is at the node when the plan changes still answers, and keeps what the new plan keeps
        onward += [(True, name)] if not is_new and name in ways[True] and not name.startswith(_HUB) else []
        fresh = [each for each in dict.fromkeys(onward) if each not in found]
        found.update(fresh)
        todo.extend(fresh)
    return found


def _list_ways(plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, node in plan.nodes.items():
        targets = [edge.target for edge in node.edges]
        named = [each for target in targets for each in list_targets(target)]
        named += [f"{_HUB}{target.choices}" for target in targets if isinstance(target, Pick)]
        yield name, tuple(dict.fromkeys(named))
    yield from ((f"{_HUB}{name}", tuple(nodes.values())) for name, nodes in plan.choices.items())


def _always_replaced(plan: Plan, node: str) -> bool:
    """Tell whether something else runs wherever a node cannot start."""
    if any(node in list_begun(entry) for entry in plan.entries.values()):
        return False
    targets = [edge.target for each in plan.nodes.values() for edge in each.edges if node in list_targets(edge.target)]
    jumps = any(node in each.values() for each in plan.choices.values())
    return not jumps and all(isinstance(each, Go) and each.otherwise not in {None, node} for each in targets)


_UNKNOWN = NodeHistory()


class Situation:
    """The state of a run of the old of two plans. Each question returns why a change concerns it, or nothing."""

    def __init__(self, old: Program, new: Program, state: State) -> None:
        self.pair = PlanPair(old.plan, new.plan)
        self.new, self.state = new, state

    def ask(self, code: str, change: PlanChange) -> str:
        """Return why a breaking change concerns the run; nothing where it does not.

        A change of which nothing else is known concerns whoever acts at its node, and every run if it has no node.
        """
        question = QUESTIONS.get(code)
        if question is not None:
            return question(self, change)
        return self.is_under_way(change) if change.node is not None else "it concerns every run"

    def _acting(self, node: str | None) -> list[Execution]:
        return [each for each in self.state.active.values() if each.node == node]

    def _list_asked(self, execution: Execution) -> list[Effect]:
        return [each for each in self.state.pending.values() if execution_of(each.key) == execution.key]

    def _history(self, node: str | None) -> NodeHistory:
        return self.state.past.get(str(node), _UNKNOWN)

    def is_under_way(self, change: PlanChange) -> str:
        """Say whether an execution of the node has begun and not ended."""
        return f"{quote(change.node)} is under way" if self._acting(change.node) else ""

    def has_entry(self, change: PlanChange) -> str:
        """Say whether the run has begun with the entry."""
        return "the run has begun with it" if change.name == self.state.entry else ""

    def stands_on(self, change: PlanChange) -> str:
        """Say whether the node is one that the state names."""
        return f"the run stands on {quote(change.node)}" if change.node in list_standing(self.state) else ""

    def is_in_schedule(self, change: PlanChange) -> str:
        """Say whether the node acts, or an execution of it has opened a scope that is not over."""
        opened = {owner_of(name) for name in self.state.scopes}
        return self.is_under_way(change) or (
            f"the run is in a scope of {quote(change.node)}" if change.node in opened else ""
        )

    def lacks_input(self, change: PlanChange) -> str:
        """Say whether the run has not been given the input."""
        return "the run has not been given it" if change.name not in self.state.inputs else ""

    def has_unfit_input(self, change: PlanChange) -> str:
        """Say whether the value that the run was given does not satisfy the new schema."""
        wanted = self.pair.new.inputs.get(change.name, Input())
        if change.name not in self.state.inputs:
            return ""
        why = self.new.answer_schemas.complaint(wanted.schema, self.state.inputs[change.name])
        return "" if why is None else f"of the run's input, {why}"

    def is_beyond_executions(self, change: PlanChange) -> str:
        """Say whether the run has had more executions than there may be."""
        return self._exceeds(self.state.executions, change.after, "execution")

    def is_at_limit(self, _change: PlanChange) -> str:
        """Say whether the run has used up the limit of executions, so that the next one ends it."""
        most = self.pair.new.limits.executions
        if most is None or self.state.executions < most:
            return ""
        return f"the run has had {format_count(self.state.executions, 'execution')}, and the next one fails"

    def is_beyond_turns(self, change: PlanChange) -> str:
        """Say whether a conversation of the node has had more turns than there may be."""
        said = (each.progress for each in self._acting(change.node))
        most = max((each.turns for each in said if isinstance(each, Conversation)), default=0)
        return self._exceeds(most, change.after, "turn")

    def is_beyond_attempts(self, change: PlanChange) -> str:
        """Say whether an execution of the node has had more attempts than there may be."""
        most = max((each.attempt for each in self._acting(change.node)), default=0)
        return self._exceeds(most, change.after, "attempt")

    def is_beyond_failures(self, change: PlanChange) -> str:
        """Say whether the validation of the node has failed as often as it may, or more often."""
        failures, most = self._history(change.node).failures, change.after
        told = f"the validation of {quote(change.node)} has failed {failures} times in a row"
        return told if failures and isinstance(most, int) and failures >= most else ""

    def is_beyond_repeats(self, change: PlanChange) -> str:
        """Say whether the node acts, or has been repeated more often than it may be now."""
        history, act = self._history(change.node), self.pair.new.nodes[str(change.node)].act
        bound = len(getattr(act, "repeats", None) or ())
        before = getattr(self.pair.old.nodes[str(change.node)].act, "repeats", None)
        done = history.repeats if before is not None else history.visits
        return self._exceeds(done, bound, "repeat") or self.is_under_way(change)

    def is_beyond_transitions(self, change: PlanChange) -> str:
        """Say whether the run of phases has made more transitions than there may be."""
        issue = self.state.issue or IssueStatus()
        return self._exceeds(
            issue.row if change.topic == "transitions-in-a-row" else issue.transitions, change.after, "transition"
        )

    def _exceeds(self, count: int, most: object, noun: str) -> str:
        return f"the run has had {format_count(count, noun)}" if isinstance(most, int) and count > most else ""

    def is_judged(self, _change: PlanChange) -> str:
        """Say whether the judge has been asked, and has not decided."""
        judged = any(isinstance(each.progress, PendingJudgement) for each in self.state.active.values())
        return "the judge has been asked" if judged else ""

    def calls_hooks(self, change: PlanChange) -> str:
        """Say whether callables of the slot are being called."""
        talks = (each.progress for each in self.state.active.values())
        slots = {each.hooks.slot for each in talks if isinstance(each, Conversation) and each.hooks is not None}
        return "they are being called" if change.name in slots else ""

    def validates(self, change: PlanChange) -> str:
        """Say whether a validator of the node has been asked, and has not answered."""
        waits = (each.progress for each in self._acting(change.node))
        found = any(isinstance(each, PendingValidation | PendingPreflight) for each in waits)
        return f"a validator of {quote(change.node)} is being asked" if found else ""

    def has_failed(self, change: PlanChange) -> str:
        """Say whether the node acts, or its validation has failed last."""
        failed = self._history(change.node).failures
        return self.is_under_way(change) or (f"the validation of {quote(change.node)} has failed" if failed else "")

    def offers_tool(self, change: PlanChange) -> str:
        """Say whether the tool was offered to a model that has not answered, or is being called."""
        nodes = None if change.node is None else {change.node}
        for execution in self.state.active.values():
            if (nodes is None or execution.node in nodes) and self._knows(execution, change.name):
                return f"a model of {quote(execution.node)} was offered it, or is calling it"
        return ""

    def _knows(self, execution: Execution, tool: str) -> bool:
        talk = execution.progress
        if isinstance(talk, Conversation) and any(each.tool == tool for each in talk.calls):
            return True
        return any(_names(each, tool) for each in self._list_asked(execution))

    def holds_result(self, change: PlanChange) -> str:
        """Say whether a result may be on its way to the node, or the node has one."""
        going = [each.progress for each in self.state.active.values()]
        on_the_way = any(isinstance(each, _HOLDS_RESULT) for each in going)
        scopes: list[Scope] = [each for each in self.state.scopes.values() if change.node in {*each.nodes, each.join}]
        if on_the_way or scopes or change.node in list_standing(self.state):
            return f"the run has results for {quote(change.node)}"
        return ""

    def may_miss(self, change: PlanChange) -> str:
        """Say whether the run may come to the node without a value that it needs and has not kept."""
        for name, act in ((each, self.pair.new.nodes[each].act) for each in (str(change.node),)):
            for each in getattr(act, "variables", {}).values():
                if isinstance(each, Carried) and change.name == f"{each.key} of {each.node}":
                    return self._misses(name, each)
        return ""

    def may_be_empty(self, change: PlanChange) -> str:
        """Say whether the variable has no value in this run, or one that is empty."""
        act = self.pair.new.nodes[str(change.node)].act
        supply = getattr(act, "variables", {}).get(change.name)
        if isinstance(supply, Given):
            return "the input is empty in this run" if _is_empty(self.state.inputs.get(supply.name)) else ""
        if isinstance(supply, Carried):
            return self._misses(str(change.node), supply)
        return "it may be empty in this run"

    def _misses(self, node: str, supply: Carried) -> str:
        if not _is_empty((self._history(supply.node).record or {}).get(supply.key)):
            return ""
        acting, ahead = [each.node for each in self.state.active.values()], set(list_standing(self.state))
        origins = {str(self._history(each).origin) for each in acting} & {*self.pair.new.nodes}
        if not can_miss(self.pair, supply, node, begun={*acting, *origins}, ahead=ahead - {*acting}):
            return ""
        return f"{quote(supply.node)} has not kept it, and the run may reach {quote(node)} without it"

    def has_begun_stage(self, change: PlanChange) -> str:
        """Say whether the stage has begun, and has not completed."""
        is_over = self.state.statuses.get(str(change.node)) is StageStatus.COMPLETED
        begun = self._history(change.node).visits and not is_over
        return f"{quote(change.node)} has begun" if begun else ""

    def has_run_stage(self, change: PlanChange) -> str:
        """Say whether the stage has begun, and may have left its outputs."""
        return f"{quote(change.node)} has run" if self._history(change.node).visits else ""

    def may_choose(self, change: PlanChange) -> str:
        """Say whether a node acts whose answer names what follows."""
        _, _, choices = change.name.rpartition(" of ")
        for each in self.state.active.values():
            targets = (edge.target for edge in self.pair.old.nodes[each.node].edges)
            if any(isinstance(target, Pick) and target.choices == choices for target in targets):
                return f"{quote(each.node)} is under way"
        return ""


_HOLDS_RESULT = (PendingValidation, PendingJudgement, PendingTransition, PendingMove)


def _is_empty(given: Json) -> bool:
    return given is None or given == ""


def _names(effect: Effect, tool: str) -> bool:
    if isinstance(effect, Call | Grant):
        return effect.tool == tool
    return isinstance(effect, Turn | Ask) and (effect.tools is None or tool in effect.tools)


Question = Callable[[Situation, PlanChange], str]
QUESTIONS: Mapping[str, Question] = {
    **dict.fromkeys(("CHG102", "CHG103", "CHG104", "CHG105"), Situation.has_entry),
    **dict.fromkeys(("CHG106", "CHG107"), Situation.lacks_input),
    **dict.fromkeys(("CHG108", "CHG109"), Situation.has_unfit_input),
    "CHG110": Situation.is_beyond_executions,
    "CHG111": Situation.is_at_limit,
    "CHG112": Situation.is_judged,
    "CHG113": Situation.calls_hooks,
    **dict.fromkeys(("CHG114", "CHG115", "CHG116", "CHG124"), Situation.offers_tool),
    "CHG117": Situation.stands_on,
    **dict.fromkeys(("CHG122", "CHG123"), Situation.holds_result),
    "CHG126": Situation.is_beyond_turns,
    "CHG127": Situation.is_beyond_attempts,
    "CHG132": Situation.is_in_schedule,
    "CHG136": Situation.may_be_empty,
    **dict.fromkeys(("CHG137", "CHG138"), Situation.validates),
    "CHG139": Situation.is_beyond_failures,
    "CHG140": Situation.has_failed,
    "CHG141": Situation.may_miss,
    "CHG142": Situation.has_begun_stage,
    "CHG143": Situation.has_run_stage,
    "CHG145": Situation.is_beyond_transitions,
    "CHG146": Situation.may_choose,
    "CHG147": Situation.is_beyond_repeats,
}
"""The question that decides for each kind of change; for the others, whether an execution of the node is under way."""


@value
class JudgedChange:
    """A change, its kind, and what it means in a sentence."""

    change: PlanChange
    kind: ChangeKind
    sentence: str


@value
class JudgedFlow:
    """The changes of a flow, the worst first."""

    flow: str
    changes: tuple[JudgedChange, ...]


@cache
def list_kinds() -> tuple[ChangeKind, ...]:
    """Return every kind of change, by code."""
    return tuple(sorted(members(kinds, ChangeKind), key=lambda each: each.code))


def judge_flow(flow: FlowChanges) -> JudgedFlow:
    """Return the effect of the changes of a flow on its runs in flight."""
    if flow.old is None or flow.new is None:  # the kinds of a whole flow look at no plan
        only = flow.old or flow.new
        return JudgedFlow(
            flow.flow, () if only is None else tuple(_judge(each, PlanPair(only, only)) for each in flow.changes)
        )
    return JudgedFlow(flow.flow, judge_changes(PlanPair(flow.old, flow.new), flow.changes))


def judge_changes(pair: PlanPair, changes: Iterable[PlanChange]) -> tuple[JudgedChange, ...]:
    """Return the effect of changes, by grade and code, with the effect of all of them together."""
    found = [_judge(each, pair) for each in (*changes, *find_missing(pair))]
    return tuple(sorted(found, key=lambda each: each.kind.code))


def _judge(change: PlanChange, pair: PlanPair) -> JudgedChange:
    for kind in list_kinds():
        if change.action in kind.topics.get(change.topic, ()):
            more = kind.judge(change, pair)
            if more is not False:
                return JudgedChange(change, kind, kind.describe(change, more if isinstance(more, str) else ""))
    raise AssertionError(f"no kind of change has {change}")


_REMEDY = "## What to do"
"""The heading on the page of a breaking kind with its remedy."""


@value
class Hindrance:
    """Why a run cannot continue with another plan.

    `kind` is the kind of the change, None where no known change has this effect. `flow` is the agent in whose run it
    is, empty for the run itself; `here` says why it concerns this run, `remedy` what can be done.
    """

    kind: ChangeKind | None
    sentence: str
    node: str | None = None
    flow: str = ""
    here: str = ""
    remedy: str = ""

    def describe(self) -> str:
        """Return it in lines: its code and sentence, why it concerns the run, and the remedy."""
        named = "" if self.kind is None else f"{self.kind.code}  {self.kind.name}  "
        inside = f"agent {quote(self.flow)}: " if self.flow else ""
        told = {"": f"{named}{inside}{self.sentence}", "  here: ": self.here, "  remedy: ": self.remedy}
        return "\n".join(f"{word}{each}" for word, each in told.items() if each)


class RunCompatibility:
    """Two programs, and what has changed between them: asked once, and for any number of states."""

    def __init__(self, old: Program, new: Program) -> None:
        self.old, self.new = old, new
        flows = compare_flows([old.plan], [new.plan])
        self._broken = [(each, judge_flow(each).changes) for each in flows if each.old is not None]

    def find_hindrances(
        self,
        state: State,
        allowed: Collection[str] = (),
        again: Collection[str] = (),
        inputs: Mapping[str, Json] = NOTHING,
    ) -> tuple[Hindrance, ...]:
        """Return the reasons why a run in a state cannot continue with the new program; empty if it can.

        `allowed` are codes of kinds that do not count. What the machine itself refuses always counts. `again` are nodes
        that begin once more, `inputs` those that the run is given; raises `ObstacleError` for inputs that it cannot be.
        """
        state = give_inputs(self.new, set_aside(advance, self.old, state, again).state, inputs)
        broken = self._find_broken(state)
        found = [each for each in broken if each.kind is None or each.kind.code not in allowed]
        try:
            transfer(self.old, self.new, state)
        except ObstacleError as error:
            if not found:
                found.append(Hindrance(None, error.obstacle.why, error.obstacle.node))
        return tuple(found)

    def _find_broken(self, state: State) -> Iterator[Hindrance]:
        """Yield the breaking changes that concern a run, and those that concern the runs of agents inside it."""
        for flow, changes in self._broken:
            breaking = [each for each in changes if each.kind.grade is Grade.BREAKING]
            if flow.flow == self.old.plan.id:
                yield from self._judge(breaking, "", None if flow.new is None else Situation(self.old, self.new, state))
                continue
            agent = flow.flow.removeprefix(f"{self.old.plan.id}: ")
            for inner in self._list_agent_runs(state, agent):
                program = self.new.agents.get(agent)
                situation = None if program is None else Situation(self.old.agents[agent], program, inner)
                yield from self._judge(breaking, agent, situation)

    def _judge(self, changes: Iterable[JudgedChange], agent: str, situation: Situation | None) -> Iterator[Hindrance]:
        for each in changes:
            here = "the run is one of it" if situation is None else situation.ask(each.kind.code, each.change)
            if here:
                remedy = " ".join(each.kind.explanation.partition(_REMEDY)[2].split())
                yield Hindrance(each.kind, each.sentence, each.change.node, agent, here, remedy)

    def _list_agent_runs(self, state: State, agent: str) -> Iterator[State]:
        for execution in state.active.values():
            act = self.old.plan.nodes[execution.node].act
            if isinstance(execution.progress, AgentRun) and isinstance(act, Delegate) and act.agent == agent:
                yield execution.progress.state


def list_breaking_codes() -> tuple[str, ...]:
    """Return the codes of the kinds that can hinder a run."""
    return tuple(each.code for each in list_kinds() if each.grade is Grade.BREAKING)
