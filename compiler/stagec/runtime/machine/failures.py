"""Why runs fail: every kind of failure, with the sentence that explains it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from stagec.core.canonical import as_text
from stagec.core.json import Json, object_of, text_in
from stagec.core.value import value
from stagec.runtime.machine.exchange import label_execution


class FailureKind(StrEnum):
    """The kind of a failure, in a word for programs; `SENTENCES` has the words for people."""

    CANCELLED = "cancelled"
    UNFIT_START = "unfit-start"
    BOUND = "bound-reached"
    UNSTARTABLE = "cannot-start"
    INVALID_ANSWER = "invalid-answer"
    PROVIDER = "provider-failed"
    NO_INTENT = "no-intent"
    ABORTED = "aborted"
    NO_EDGE = "no-edge"
    VALIDATION = "validation-failed"
    PREFLIGHT = "preflight-failed"
    CHAIN_EXHAUSTED = "adaptation-chain-exhausted"
    INIT = "init-failed"
    GATE = "gate-unresolved"
    SKIPPED = "skipped"
    TURN_CAP = "turn-cap"
    EXHAUSTED = "retry-exhausted"
    JUDGED = "judged-as-fail"
    REFUSED = "refused"
    HOOK = "hook-failed"
    STOPPED = "stopped"
    DEADLINE = "deadline-exceeded"
    RUN_DEADLINE = "run-deadline-exceeded"
    SMALL_FORK = "small-fork"
    UNJOINABLE = "cannot-join"
    STAGE_FAILED = "stage-failed"
    STAGE_INTERRUPTED = "stage-interrupted"
    STAGE_BLOCKED = "stage-blocked"
    CYCLES = "cycle-exceeded"
    REPETITION = "phase-repetition-exceeded"
    UNROUTED = "unrouted-outcome"
    PHASE_BLOCKED = "phase-blocked"
    AGENT_UNFIT = "agent-cannot-begin"
    ISSUE = "issue-not-written"


SENTENCES: Mapping[FailureKind, str] = {
    FailureKind.CANCELLED: "cancelled",
    FailureKind.UNFIT_START: "the run cannot begin",
    FailureKind.BOUND: "bound reached",
    FailureKind.UNSTARTABLE: "cannot start",
    FailureKind.INVALID_ANSWER: "no usable answer",
    FailureKind.PROVIDER: "the provider failed",
    FailureKind.NO_INTENT: "no intent that is allowed",
    FailureKind.ABORTED: "aborted",
    FailureKind.NO_EDGE: "leads nowhere",
    FailureKind.VALIDATION: "validation failed",
    FailureKind.PREFLIGHT: "not ready (AGENT_VALIDATION_ABORT)",
    FailureKind.CHAIN_EXHAUSTED: "no repeat is left (AGENT_ADAPTATION_CHAIN_EXHAUSTED)",
    FailureKind.INIT: "init failed",
    FailureKind.GATE: "gate unresolved",
    FailureKind.SKIPPED: "skipped, which is no success in a fork",
    FailureKind.TURN_CAP: "turn cap reached",
    FailureKind.EXHAUSTED: "no attempt is left",
    FailureKind.JUDGED: "judged as failed",
    FailureKind.REFUSED: "refused",
    FailureKind.HOOK: "a hook failed",
    FailureKind.STOPPED: "the plan ends the run as failed here",
    FailureKind.DEADLINE: "the deadline has passed",
    FailureKind.RUN_DEADLINE: "the deadline of the run has passed",
    FailureKind.SMALL_FORK: "leads to a fork of fewer than two nodes",
    FailureKind.UNJOINABLE: "cannot join what has not succeeded",
    FailureKind.STAGE_FAILED: "the stage failed",
    FailureKind.STAGE_INTERRUPTED: "the stage was interrupted",
    FailureKind.STAGE_BLOCKED: "nobody has consented to run it again",
    FailureKind.CYCLES: "the run has had all its transitions",
    FailureKind.REPETITION: "too many transitions to the same phase in a row",
    FailureKind.UNROUTED: "no phase follows",
    FailureKind.PHASE_BLOCKED: "the issue is blocked",
    FailureKind.AGENT_UNFIT: "the agent cannot begin",
    FailureKind.ISSUE: "the issue could not be changed",
}
"""The sentence for people of each kind; a colon and the detail follow."""

_LONGEST = 500
"""Characters of a detail that a sentence has; complaints about large answers may have any number."""


@value
class RunFailure:
    """Why a run has failed: the kind, what is known besides, and the attempt of the execution in which it has.

    A failure of the run itself has no node. A node that has not begun would have had this `visit`.
    """

    kind: FailureKind
    detail: str = ""
    node: str | None = None
    visit: int = 1
    attempt: int = 1


def describe_failure(failure: RunFailure) -> str:
    """Return `check#2, attempt 1: turn cap reached: 6 turns`."""
    where = (
        "" if failure.node is None else f"{label_execution(failure.node, failure.visit)}, attempt {failure.attempt}: "
    )
    detail = failure.detail if len(failure.detail) <= _LONGEST else f"{failure.detail[:_LONGEST]}…"
    return f"{where}{SENTENCES[failure.kind]}{': ' if detail else ''}{detail}"


def describe_error(given: Json) -> str:
    """Return the message of an error of the world with its code, if it has them, else all of it."""
    told = object_of(given)
    message, code = text_in(told, "message"), text_in(told, "code")
    return ", ".join(each for each in (code, message) if each) or as_text(given)


def failure_to_json(failure: RunFailure | None) -> Json:
    """Return a failure as a JSON value; null for none."""
    if failure is None:
        return None
    return {
        "kind": str(failure.kind),
        "node": failure.node,
        "visit": failure.visit,
        "attempt": failure.attempt,
        "detail": failure.detail,
    }
