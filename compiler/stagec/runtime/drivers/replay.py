"""Replay a history: compare each step with its digest in the journal; what the digests of steps cover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from stagec.core.value import replace, value
from stagec.ir.plan.act import ProcessInput, ProcessLimits
from stagec.ir.plan.node import Outcome
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.drivers.history import History, list_branch
from stagec.runtime.machine import exchange, execution, state
from stagec.runtime.machine import exchange as orchestrator_requests
from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.exchange import Event, Rewound, visit_of
from stagec.runtime.machine.failures import FailureKind, RunFailure
from stagec.runtime.machine.program import Program, load
from stagec.runtime.machine.state import Queue, State, StepResult, Table


@value
class Covered:
    """The name of a class and its members in their order.

    Those in `rare` follow, each with the value that it mostly has; they are in the text where they have another one.
    Those `apart` are never in it: another member stands for them.
    """

    name: str
    members: tuple[str, ...]
    rare: Mapping[str, Any]
    apart: tuple[str, ...] = ()


def _cover(name: str, members: str, **rare: Any) -> Covered:
    return Covered(name, tuple(members.split()), rare)


REQUESTS: Mapping[type, Covered] = {
    exchange.Ask: _cover("Ask", "key prompt system schema tools model permission complaint"),
    exchange.Turn: _cover("Turn", "key transcript tools completion schema"),
    exchange.Call: _cover("Call", "key tool arguments id"),
    exchange.Grant: replace(
        _cover("Grant", "key execution attempt proposal tool digest summary"),
        apart=("arguments",),  # `digest` is theirs
    ),
    exchange.Run: _cover("Run", "key words milliseconds"),
    exchange.Shell: _cover("Shell", "key command"),
    exchange.Judge: _cover("Judge", "key kind settings answer"),
    exchange.Wait: _cover("Wait", "key milliseconds"),
    exchange.Confirm: _cover("Confirm", "key question"),
    exchange.Hook: _cover("Hook", "key call phase given"),
    exchange.Execute: _cover("Execute", "key node words inputs outputs limits"),
    exchange.Publish: _cover("Publish", "key node outputs checkpoint"),
    exchange.Preserve: _cover("Preserve", "key node reason"),
    exchange.Interrupt: _cover("Interrupt", "key request"),
    orchestrator_requests.Dispatch: _cover("Dispatch", "key agent run inputs"),
    orchestrator_requests.Relabel: _cover("Relabel", "key phase add remove"),
    orchestrator_requests.Comment: _cover("Comment", "key text"),
    orchestrator_requests.Close: _cover("Close", "key"),
}
"""The requests to the world."""

VALUES: Mapping[type, Covered] = {
    **REQUESTS,
    exchange.Request: _cover("Request", "id tool arguments", unreadable=None),
    exchange.Message: _cover("Message", "role text calls call"),
    ProcessInput: _cover("ProcessInput", "path node url"),
    ProcessLimits: _cover("ProcessLimits", "warn interrupt terminate kill"),
    RunFailure: _cover("RunFailure", "kind detail node visit attempt"),
    execution.Branch: _cover("Branch", "scope index", place=0),
    execution.Execution: _cover(
        "Execution", "key node branch upstream attempt asked progress prompt begins_branch joins"
    ),
    execution.NodeResult: _cover("NodeResult", "execution outcome result named back prompt refused failure"),
    execution.HookCalls: _cover("HookCalls", "slot subject about next watching changed"),
    execution.Conversation: _cover(
        "Conversation",
        "context asked transcript attempts turns error request calls decided running outcomes finished consumed result"
        " failure hooks",
        finish=None,
    ),
    execution.PendingValidation: _cover("PendingValidation", "result index"),
    execution.PendingPreflight: _cover("PendingPreflight", "index"),
    execution.PendingJudgement: _cover("PendingJudgement", "result questions answers"),
    execution.StageAttempt: _cover("StageAttempt", "outcome reason exit seconds outputs failure"),
    execution.AgentRun: _cover("AgentRun", "state last"),
    execution.PendingTransition: _cover("PendingTransition", "result phase todo"),
    execution.PendingMove: _cover("PendingMove", "result"),
    state.Scope: _cover(
        "Scope",
        "around nodes join is_chain results agenda left open ended failure",
        elements=None,
        room=0,
        collects=False,
    ),
    state.PendingNode: _cover("PendingNode", "node branch upstream origin otherwise prompt begins_branch joins"),
    state.NodeHistory: _cover("NodeHistory", "visits record origin failures", repeats=0),
    state.IssueStatus: _cover("IssueStatus", "labels transitions phase row is_closed"),
    state.State: _cover(
        "State",
        "run entry inputs executions past judged said active scopes waiting pending ended reason failure traced"
        " statuses cancelled",
        issue=None,
        machine=1,
    ),
}
"""All values of which a state and requests consist."""


def show_step(effects: Iterable[exchange.Effect], void: tuple[str, ...], trace: Iterable[state.TraceEvent]) -> str:
    """Return the text of what follows from an event: the requests, those that are void, and the trace events."""
    requests = [(REQUESTS[type(each)].name, _MEMBERS[type(each)](each)) for each in effects]
    return show((requests, void, [(each.name, each.facts) for each in trace]))


def show(given: Any) -> str:
    """Return the text of a value, in ASCII: values are equal when their texts are.

    Raises `KeyError` for a class that this module does not name.
    """
    return _SHOW[type(given)](given)


def _show_by(covered: Covered) -> Callable[[Any], str]:
    """Return the function that shows values of a class. Every event has a step digest, so this must be quick."""
    start = f"{covered.name}({', '.join(f'{name}=%s' for name in covered.members)}"
    members = attrgetter(*covered.members, *covered.members[:1])  # two names at least, so that it returns a tuple
    rare = tuple(covered.rare.items())

    def show_given(given: Any) -> str:
        text = start % tuple([_SHOW[type(each)](each) for each in members(given)[:-1]])
        for name, usual in rare:
            held = getattr(given, name)
            if held != usual:
                text += f", {name}={show(held)}"
        return f"{text})"

    return show_given


def _show_elements(given: Iterable[Any]) -> str:
    shown = [_SHOW[type(each)](each) for each in given]
    return f"({shown[0]},)" if len(shown) == 1 else f"({', '.join(shown)})"


def _show_list(given: list[Any]) -> str:
    return f"[{', '.join([_SHOW[type(each)](each) for each in given])}]"


def _show_mapping(given: Mapping[Any, Any]) -> str:
    return f"{{{', '.join([f'{name!a}: {_SHOW[type(held)](held)}' for name, held in given.items()])}}}"


def _show_enum(given: Any) -> str:
    return f"<{type(given).__name__}.{given.name}: {given.value!a}>"


def _show_class(given: type) -> str:
    """Return the text of the class of a request that is still to be made; it names the module of the first version."""
    return f"<class 'stagec.runtime.exchange.{REQUESTS[given].name}'>"


_MEMBERS = {kind: attrgetter(*covered.members) for kind, covered in REQUESTS.items()}
"""The getters of the members of a request; a single one is in no tuple."""
_SHOW: Mapping[type, Callable[[Any], str]] = {
    **{kind: _show_by(covered) for kind, covered in VALUES.items()},
    **dict.fromkeys((str, int, float, bool, type(None)), ascii),
    **dict.fromkeys((tuple, Queue), _show_elements),
    **dict.fromkeys((dict, Table), _show_mapping),
    **dict.fromkeys((Outcome, StageStatus, FailureKind), _show_enum),
    list: _show_list,
    type: _show_class,
}


@value
class Difference:
    """The first event with another outcome: `what` differs, the requests and trace events or the `state`."""

    seq: int
    what: str


class BranchWalk:
    """Advances event by event, also back to where a new branch of history begins; `program` and `state` are there."""

    def __init__(self, program: Program) -> None:
        self.program, self.state = program, State()
        self._begun = program
        self._events: list[Event] = []

    def take(self, event: Event) -> StepResult:
        """Return the step of the next event."""
        self._events.append(event)
        step = self._rewind() if type(event) is Rewound else advance(self.program, self.state, event)
        self.state, self.program = step.state, step.program or self.program
        return step

    def _rewind(self) -> StepResult:
        """Return the state of the branch that goes on: its open requests are made again, and all others are void."""
        program, state = self._begun, State()
        for seq in list_branch(self._events):
            step = advance(program, state, self._events[seq])
            state, program = step.state, step.program or program
        is_other = program.digest != self.program.digest
        void = tuple(self.state.pending)
        return StepResult(state, tuple(state.pending.values()), void, program=program if is_other else None)


@value
class RunPlace:
    """An execution that a run can be taken back to: its node and visit, and how many events are before its requests."""

    node: str
    visit: int
    to: int


def list_places(program: Program, events: Sequence[Event]) -> list[RunPlace]:
    """Return the places of the present branch of a history, in order; `program` is the one that the run began with.

    An execution that has begun and ended in one event has asked for nothing, so it is no place.
    """
    branch, before, found = list_branch(events), State(), list[RunPlace]()
    for seq, (_, step) in zip(branch, advance_through(program, (events[seq] for seq in branch)), strict=True):
        begun = (each for key, each in step.state.active.items() if key not in before.active)
        found += (RunPlace(each.node, visit_of(each.key), seq + 1) for each in begun)
        before = step.state
    return found


def advance_through(program: Program, events: Iterable[Event]) -> Iterator[tuple[Event, StepResult]]:
    """Yield the events of a history, each with what follows from it; `program` is the one that the run began with."""
    walk = BranchWalk(program)
    return ((event, walk.take(event)) for event in events)


def advance_history(program: Program, history: History) -> Iterator[tuple[Event, StepResult]]:
    """Yield the events of a history, each with what follows; `program` is any of those that the run has had."""
    return advance_through(program if history.last_change is None else load(history.plan), history.events)


def fold_events(program: Program, events: Iterable[Event]) -> State:
    """Return the state that a history leads to; `program` is the one that the run began with."""
    return fold_run(program, events)[1]


def fold_run(program: Program, events: Iterable[Event]) -> tuple[Program, State]:
    """Return the program with which a run goes on after a history, and its state."""
    state = State()
    for _, step in advance_through(program, events):
        state, program = step.state, step.program or program
    return program, state


def find_difference(seq: int, step: StepResult, known: str) -> Difference | None:
    """Return how what follows from an event differs from what its step digest says; None if it does not."""
    now = digest_step(seq, step)
    if not known or now == known or now.partition(".")[0] == known:  # older journals say nothing of the state
        return None
    same = now.partition(".")[0] == known.partition(".")[0]
    return Difference(seq, "state" if same else "what")


def replay_twice(program: Program, again: Program, history: History) -> State | Difference:
    """Advance twice through a history, by programs that share nothing; return the state, or the first difference.

    What follows from each event must be what its step digest says, and the same both times; whole states, which may be
    large, are compared as often as they have digests, and at the end.
    """
    both = zip(
        advance_through(program, history.events),
        advance_through(again, history.events),
        history.step_digests,
        strict=True,
    )
    state, last = State(), len(history.events) - 1
    for seq, ((_, step), (_, other), known) in enumerate(both):
        found = find_difference(seq, step, known)
        if found is not None:
            return found
        if (_is_looked_at(seq, step) or seq == last) and step.state != other.state:
            return Difference(seq, "state")
        if (step.effects, step.void, step.trace, step.moves) != (other.effects, other.void, other.trace, other.moves):
            return Difference(seq, "what")
        state = step.state
    return state


def _is_looked_at(seq: int, step: StepResult) -> bool:
    """Tell whether the whole state counts after an event."""
    return seq % _OFTEN == 0 or step.state.ended is not None


_OFTEN = 1_000
"""Events between two digests of the whole state, which may be large; a difference in it soon shows in requests."""


def digest_step(number: int, step: StepResult) -> str:
    """Return the step digest of the event of a number; `stagec.runtime.drivers.replay` declares what it covers."""
    followed = _digest(show_step(step.effects, step.void, step.trace))
    return f"{followed}.{_digest(show(step.state))}" if _is_looked_at(number, step) else followed


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
