"""Executions of nodes: the state of an act between two requests, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import NOTHING, replace, value
from stagec.runtime.machine.exchange import Message, Request, visit_of
from stagec.runtime.machine.failures import RunFailure


@value
class Branch:
    """The branch of an execution: the scope around it, None for the run itself, and the number of the branch.

    Of a branch for an element, `place` is which of the nodes runs that run for it one after the other.
    """

    scope: str | None = None
    index: int = 0
    place: int = 0


ROOT = Branch()


@value
class Execution:
    """One execution of a node that has begun and not ended.

    `key` is `run/node#visit`. `asked` counts the requests of this attempt, `progress` is what the act itself remembers.
    `prompt` is what a model is asked. `begins_branch` tells that a fork has led here, `joins` names the fork that this
    execution is the join of.
    """

    key: str
    node: str
    branch: Branch
    upstream: tuple[Json, ...] = ()
    attempt: int = 1
    asked: int = 0
    progress: Progress = None
    prompt: str | None = None
    begins_branch: bool = False
    joins: str | None = None


def failure_in(execution: Execution, failure: RunFailure) -> RunFailure:
    """Return a failure as one of an execution, in its present attempt."""
    return replace(failure, node=execution.node, visit=visit_of(execution.key), attempt=execution.attempt)


@value
class NodeResult:
    """An execution that is over: its outcome, its result, and the node that the answer names, if it names one.

    `back` is the node that runs next regardless of the edges, and `prompt` its prompt: a validation failed. `refused`
    is the failure pattern of the validator that refused the result, `failure` why the node itself has failed.
    """

    execution: Execution
    outcome: str
    result: Json
    named: str | None = None
    back: str | None = None
    prompt: str | None = None
    refused: str | None = None
    failure: RunFailure | None = None


@value
class HookCalls:
    """Hooks that are being called at a slot of the message loop.

    `subject` is what they look at, `about` what they are told besides. `next` counts the guards and transforms that
    have answered, `watching` has the keys of observers that have not.
    """

    slot: str
    subject: Json
    about: Mapping[str, Json] = NOTHING
    next: int = 0
    watching: tuple[str, ...] = ()
    changed: bool = False


@value
class Conversation:
    """The state of a conversation.

    `asked` counts how often admission was asked for, `turns` the turns of this attempt, and `error` is the last
    complaint about a result in it; `attempts` are those that are over. `request` is there when hooks have rewritten
    what the model is sent. `calls` are those of the last response; `decided` tells for each call, in order, whether it
    is allowed. `running` has the calls of each open request, `outcomes` the results by index, and `finished` counts
    those that hooks have seen. `consumed` has the keys of the grants that were used up. `result` is there once an
    attempt is over, `failure` when it is that of a node which has failed, `hooks` while they are called. `finish` says
    why the last response is not whole, if it is not.
    """

    context: Mapping[str, Json] = NOTHING
    asked: int = 0
    transcript: tuple[Message, ...] = ()
    attempts: tuple[Mapping[str, Json], ...] = ()
    turns: int = 0
    error: str | None = None
    request: Mapping[str, Json] | None = None
    calls: tuple[Request, ...] = ()
    decided: tuple[bool, ...] = ()
    running: tuple[tuple[str, int], ...] = ()
    outcomes: tuple[tuple[int, Mapping[str, Json]], ...] = ()
    finished: int = 0
    consumed: tuple[str, ...] = ()
    result: Mapping[str, Json] = NOTHING
    failure: RunFailure | None = None
    hooks: HookCalls | None = None
    finish: str | None = None


@value
class PendingValidation:
    """A result whose validators are running; `index` is the condition that is being checked."""

    result: NodeResult
    index: int


@value
class PendingPreflight:
    """The conditions that must hold before the model is asked are checked; `index` is the one that is."""

    index: int


@value
class PendingJudgement:
    """A result that the judge is asked about: the questions that only the world can answer, and its answers so far."""

    result: Mapping[str, Json]
    questions: tuple[tuple[str, Mapping[str, Json]], ...]
    answers: tuple[bool, ...] = ()


@value
class StageAttempt:
    """The end of an attempt to run a stage: `success`, `failure` or `interrupted`.

    `reason` is `timeout`, `abort` or `error`, empty for a success. `outputs` are what the world says of them, by name.
    """

    outcome: str = "success"
    reason: str = ""
    exit: int | None = None
    seconds: float | None = None
    outputs: Mapping[str, Json] = NOTHING
    failure: RunFailure | None = None

    @classmethod
    def of(cls, execution: Execution) -> StageAttempt:
        """Return how the last attempt of an execution has ended."""
        ended = execution.progress
        return ended if isinstance(ended, StageAttempt) else StageAttempt()

    @property
    def facts(self) -> Mapping[str, Json]:
        """Its members in trace events."""
        detail = "" if self.failure is None else self.failure.detail
        return {"exit": self.exit, "seconds": self.seconds, "reason": self.reason, "detail": detail}


@value
class AgentRun:
    """The run of an agent that is going on: where it stands, a `State`, and the last result in it."""

    state: Any
    last: Json = None


@value
class PendingTransition:
    """A transition that is being written down: the result it follows, the phase it leads to, and what is left to ask.

    `todo` has classes of requests with what is in each.
    """

    result: NodeResult
    phase: str
    todo: tuple[Any, ...] = ()


@value
class PendingMove:
    """A result whose edge leads on after a wait, which has begun; its execution is the one that remembers this."""

    result: NodeResult


Progress = (
    Conversation
    | PendingValidation
    | PendingPreflight
    | PendingJudgement
    | StageAttempt
    | AgentRun
    | PendingTransition
    | PendingMove
    | None
)
"""The state of an act: a conversation, a validation, a judgement, a run or a transition, or the end of an attempt.

`PendingMove` stands there when the act is over.
"""
