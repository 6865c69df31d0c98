"""Gates: from a result to an outcome, and the conditions before and after a node acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.ir.plan.act import Template
from stagec.ir.plan.codec import Count, Path, Positive, ValidatorName, words


@value(tag="among")
class Among:
    """Holds when the value at a path equals one of several."""

    path: Annotated[Path, "The path in the result."]
    values: Annotated[tuple[Json, ...], "The values of which one must be there."]


@value(tag="reads")
class Reads:
    """Holds when the value at a path, as text, is one of several."""

    path: Annotated[Path, "The path in the result."]
    texts: Annotated[tuple[str, ...], "The texts of which one must be read there."]


@value(tag="exists")
class Exists:
    """Holds when there is, or is not, a value at a path; null counts as one."""

    path: Annotated[Path, "The path in the result."]
    present: Annotated[bool, "Whether there must be a value, or none."]


Term = Among | Reads | Exists


@value(tag="intent")
class IntentGate:
    """Read the outcome, an intent, from a field of the answer.

    `fallback` is the intent where none can be read, if `fail_fast` is off. `target` is the path at which an answer
    names a node. `handoff` are the paths of what is kept for other nodes, each under its last part.
    """

    field: Annotated[Path, "The path of the intent in the answer."]
    intents: Annotated[tuple[str, ...], "The intents that are allowed."]
    fail_fast: Annotated[bool, "Whether the run fails when no allowed intent can be read."] = True
    fallback: Annotated[str | None, "The intent that counts then, where the run does not fail."] = None
    target: Annotated[Path | None, "The path at which an answer names the node to jump to."] = None
    handoff: Annotated[tuple[Path, ...], "The paths of what is kept for other nodes."] = ()


@value
class Check:
    """One judgement of a result: when it applies, and the verdict."""

    verdict: Annotated[str, words("retry", "fail"), "The verdict."]
    when: Annotated[tuple[Term, ...], "The condition on the result."] = ()
    reason: Annotated[str | None, "The message for the model, or for the reader of the result."] = None


@value(tag="verdict")
class VerdictGate:
    """Judge the result: the first check that applies decides; else the verdict is `retry` on a cap and `ok` if not."""

    checks: Annotated[tuple[Check, ...], "The judgements, the first that applies counts."] = ()


@value(tag="judge")
class JudgeGate:
    """Ask the judge of the plan whether the work is done: the outcome is `verdict` if it is and `next` if not."""


@value(tag="exit")
class ExitGate:
    """Take the exit status of a program: the outcome is `closing` for 0 and `repeat` for every other."""


@value(tag="stage")
class StageGate:
    """Take how an attempt of a stage has ended: the outcome is `success`, `failure` or `interrupted`."""


@value(tag="agent")
class AgentGate:
    """Take how the run of an agent has ended.

    `role` is `transformer`, whose success and failure count, or `validator`, whose verdict does; `verdicts` tells that
    the verdict of a transformer that has failed counts, if it has one. What is none of `outcomes` counts as the outcome
    `otherwise`.
    """

    role: Annotated[str, words("transformer", "validator"), "Whether success and failure count, or the verdict."]
    outcomes: Annotated[tuple[str, ...], "The outcomes that count as themselves."]
    otherwise: Annotated[str, "The outcome that all others count as."] = "otherwise"
    verdicts: Annotated[bool, "Whether the verdict of a transformer that has failed counts, if it has one."] = False


@value(tag="rest")
class RestGate:
    """Accept the end of the run, the only outcome."""

    outcome: Annotated[str, "The outcome."]


Gate = IntentGate | VerdictGate | JudgeGate | ExitGate | StageGate | AgentGate | RestGate


@value
class Backoff:
    """How long to wait before trying again: `none`, `fixed`, or `exponential`, doubled each time."""

    kind: Annotated[str, words("none", "fixed", "exponential"), "The growth of the wait."] = "none"
    milliseconds: Annotated[Count, "The first wait."] = 0


@value
class Retry:
    """How often a node may act in one execution, all in all, and how long to wait in between."""

    attempts: Annotated[Positive, "The most attempts of one execution, the first included."]
    backoff: Annotated[Backoff, "How long to wait before the next attempt."]


Policy = Annotated[str, words("retry-later", "skip", "fail", "ask")]


@value
class Admission:
    """A condition of the context that stops a node before it acts, and the effect.

    `on_defer` and `on_block` are `retry-later`, `skip`, `fail` or `ask`.
    """

    on_defer: Annotated[Policy, "The effect when the node is deferred."]
    on_block: Annotated[Policy, "The effect when the node is blocked."]
    defer: Annotated[
        tuple[Term, ...], "The condition of the context that defers the node; an empty one never does."
    ] = ()
    block: Annotated[
        tuple[Term, ...], "The condition of the context that blocks the node; an empty one never does."
    ] = ()


@value
class Condition:
    """One validator that must succeed, with the values of the parameters in its command."""

    validator: Annotated[ValidatorName, "The validator."]
    params: Annotated[Mapping[str, Json], "The values of the parameters in its command."] = NOTHING


@value
class Validation:
    """The conditions before `closing` counts, and the effect of a failed one.

    `prompts` are the prompts of the next attempt, by failure pattern. With `every_outcome` it must hold before any
    outcome but `repeat` counts. `preflight` must hold before the model is asked at all; else the run has failed.
    """

    conditions: Annotated[tuple[Condition, ...], "The conditions, in this order; the first that fails counts."] = ()
    action: Annotated[str, words("retry", "abort", "skip"), "The effect of a failure."] = "retry"
    attempts: Annotated[Positive, "The failure of this number ends the run as failed."] = 3
    prompts: Annotated[Mapping[str, Template], "The prompt of the next attempt, by failure pattern."] = NOTHING
    every_outcome: Annotated[bool, "Whether they must hold before any outcome but `repeat` counts."] = False
    preflight: Annotated[tuple[Condition, ...], "The conditions that must hold before the model is asked."] = ()

    @property
    def checked(self) -> tuple[Condition, ...]:
        """All conditions, in the order in which they are checked."""
        return (*self.preflight, *self.conditions)
