"""Where runs stand that go on alike: states without what they have counted and collected on the way."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from stagec.core.json import list_of, object_of
from stagec.core.value import value
from stagec.plan.act import Carried, Prompt, Supply
from stagec.runtime import Program, State
from stagec.runtime.exchange import Turn, read_key
from stagec.runtime.execution import (
    Branch,
    Conversation,
    Execution,
    PendingJudgement,
    PendingPreflight,
    PendingTransition,
    PendingValidation,
    StageAttempt,
)
from stagec.runtime.gate import verdict_of


@value
class RunPosition:
    """What a run does, and what it remembers that may lead it elsewhere later."""

    place: Hashable
    memory: Hashable


class Positions:
    """Finds the positions of states of one program."""

    def __init__(self, program: Program) -> None:
        plan = program.plan
        self._program = program
        self._known: dict[Hashable, Hashable] = {}  # positions have most of what they describe in common
        supplies: list[Supply] = [] if plan.system is None else [*plan.system.variables.values()]
        for node in plan.nodes.values():
            if isinstance(node.act, Prompt):
                supplies += node.act.variables.values()
                supplies += (each for repeat in node.act.repeats or () for each in repeat.variables.values())
        self._carried = sorted({(each.node, each.key) for each in supplies if isinstance(each, Carried)})
        self._validated = [name for name, node in plan.nodes.items() if node.validation is not None]
        self._repeating = [
            name for name, node in plan.nodes.items() if isinstance(node.act, Prompt) and node.act.repeats is not None
        ]
        judge = plan.judge
        parts = [] if judge is None else [object_of(each) for each in list_of(judge.settings.get("conditions"))]
        kinds = [] if judge is None else [judge.kind, *(str(each.get("type")) for each in parts)]
        self._counted = any(each.startswith("count:") for each in kinds)

    def find(self, state: State) -> RunPosition:
        """Return the position of a state."""
        labels = _Labels(state)
        described = (self._describe(each, labels) for each in state.active.values())
        active = tuple(self._known.setdefault(each, each) for each in described)
        waiting = tuple((each.node, labels.of(each.branch), each.begins_branch) for each in state.waiting)
        scopes = tuple(
            (labels.of(Branch(name)), tuple((at, verdict_of(each)) for at, each in scope.results.items()))
            for name, scope in state.scopes.items()
            if scope.agenda is None
        )
        keys = ((read_key(key), isinstance(each, Turn)) for key, each in state.pending.items())  # turns have no order
        pending = tuple((key.node, key.attempt, None if is_turn else key.index) for key, is_turn in keys)
        kinds = tuple(type(each).__name__ for each in state.pending.values())
        return RunPosition(
            (active, waiting, scopes, kinds, pending, *state.statuses.items()), tuple(self._list_memory(state))
        )

    def _describe(self, execution: Execution, labels: _Labels) -> Hashable:
        return (
            execution.node,
            labels.of(execution.branch),
            execution.begins_branch,
            *self._describe_progress(execution),
        )

    def _describe_progress(self, execution: Execution) -> tuple[Hashable, ...]:
        doing = execution.progress
        found: tuple[Hashable, ...] = (execution.attempt, execution.joins is not None)
        match doing:
            case Conversation():
                found = (execution.attempt, doing.asked, doing.turns, len(doing.calls), doing.failure)
            case PendingValidation():
                found = ("validation", doing.index, doing.result.outcome, doing.result.named)
            case PendingPreflight():
                found = ("preflight", doing.index)
            case PendingJudgement():
                found = ("judgement", *doing.answers)
            case StageAttempt():
                found = ("attempt", execution.attempt, doing.outcome)
            case PendingTransition():
                found = ("transition", doing.result.outcome, doing.phase, len(doing.todo))
            case _:
                pass
        return found

    def _list_memory(self, state: State) -> Iterator[Hashable]:
        past = state.past
        yield tuple(key in (past[node].record or {}) if node in past else False for node, key in self._carried)
        yield tuple((past[name].origin, past[name].failures) if name in past else None for name in self._validated)
        yield tuple(past[name].repeats if name in past else 0 for name in self._repeating)
        yield (state.executions, state.judged) if self._counted else None
        if state.issue is not None and self._program.plan.phases is not None and self._program.plan.phases.row:
            yield state.issue.phase, state.issue.row


class _Labels:
    """The branches of one state, each by the nodes that have opened the scopes around it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._openers: dict[str, tuple[str, Branch]] = {}

    def of(self, branch: Branch) -> Hashable:
        """Return what a branch is called."""
        found: list[Hashable] = []
        while branch.scope is not None:
            if branch.scope not in self._openers:  # many branches are in one scope
                opener = "" if branch.scope.endswith("/") else read_key(f"{branch.scope}/1.0").node
                self._openers[branch.scope] = opener, self._state.scopes[branch.scope].around
            opener, around = self._openers[branch.scope]
            found.append((opener, branch.index))
            branch = around
        return tuple(found)
