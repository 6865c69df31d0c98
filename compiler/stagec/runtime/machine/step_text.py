"""What step digests cover: the members of the machine's values, class by class, as the text that is hashed.

Journals have digests of this text, so the text is a format: it changes by these lists, and by nothing else. A member
that a class gets later is in no digest until it stands here. It stands here as `rare`: the digests of runs that never
have it stay as they are. Any other change of the lists needs a new version of the machine, `MACHINE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from stagec.core.value import replace, value
from stagec.ir.plan.act import ProcessInput, ProcessLimits
from stagec.ir.plan.node import Outcome
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.machine import exchange, execution, state
from stagec.runtime.machine import exchange as orchestrator_requests
from stagec.runtime.machine.failures import FailureKind, RunFailure
from stagec.runtime.machine.state import Queue, Table


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
    """Return what shows values of a class. Every event has a step digest, so this must be quick."""
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
"""What reads the members of a request; a single one is in no tuple."""
_SHOW: Mapping[type, Callable[[Any], str]] = {
    **{kind: _show_by(covered) for kind, covered in VALUES.items()},
    **dict.fromkeys((str, int, float, bool, type(None)), ascii),
    **dict.fromkeys((tuple, Queue), _show_elements),
    **dict.fromkeys((dict, Table), _show_mapping),
    **dict.fromkeys((Outcome, StageStatus, FailureKind), _show_enum),
    list: _show_list,
    type: _show_class,
}
