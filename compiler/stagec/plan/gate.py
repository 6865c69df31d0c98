"""How a result becomes an outcome, and what must hold before and after a node acts."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.plan.act import Path, Template


@value
class Among:
    """Holds when the value at a path equals one of several."""

    path: Path
    values: tuple[Json, ...]


@value
class Reads:
    """Holds when the value at a path, as text, is one of several."""

    path: Path
    texts: tuple[str, ...]


@value
class Exists:
    """Holds when there is, or is not, a value at a path; null counts as one."""

    path: Path
    present: bool


Term = Among | Reads | Exists


@value
class IntentGate:
    """Read the outcome, an intent, from a field of the answer.

    `fallback` is the intent where none can be read, if `fail_fast` is off. `target` is the path at which an answer
    names a node. `handoff` are the paths of what is kept for other nodes, each under its last part.
    """

    field: Path
    intents: tuple[str, ...]
    fail_fast: bool = True
    fallback: str | None = None
    target: Path | None = None
    handoff: tuple[Path, ...] = ()


@value
class Check:
    """One judgement of a result: when it applies, and the verdict."""

    verdict: str
    when: tuple[Term, ...] = ()
    reason: str | None = None


@value
class VerdictGate:
    """Judge the result: the first check that applies decides; else the verdict is `retry` on a cap and `ok` if not."""

    checks: tuple[Check, ...] = ()


@value
class JudgeGate:
    """Ask the judge of the plan whether the work is done: the outcome is `verdict` if it is and `next` if not."""


@value
class ExitGate:
    """Take the exit status of a program: the outcome is `closing` for 0 and `repeat` for every other."""


@value
class StageGate:
    """Take how an attempt of a stage has ended: the outcome is `success`, `failure` or `interrupted`."""


@value
class AgentGate:
    """Take how the run of an agent has ended.

    `role` is `transformer`, whose success and failure count, or `validator`, whose verdict does; `verdicts` tells that
    the verdict of a transformer that has failed counts, if it has one. What is none of `outcomes` counts as the outcome
    `otherwise`.
    """

    role: str
    outcomes: tuple[str, ...]
    otherwise: str = "otherwise"
    verdicts: bool = False


@value
class RestGate:
    """Accept the end of the run, the only outcome."""

    outcome: str


Gate = IntentGate | VerdictGate | JudgeGate | ExitGate | StageGate | AgentGate | RestGate


@value
class Backoff:
    """How long to wait before trying again: `none`, `fixed`, or `exponential`, doubled each time."""

    kind: str = "none"
    milliseconds: int = 0


@value
class Retry:
    """How often a node may act in one execution, all in all, and how long to wait in between."""

    attempts: int
    backoff: Backoff


@value
class Admission:
    """What must not hold of the context before a node acts, and what happens when it does.

    `on_defer` and `on_block` are `retry-later`, `skip`, `fail` or `ask`.
    """

    on_defer: str
    on_block: str
    defer: tuple[Term, ...] = ()
    block: tuple[Term, ...] = ()


@value
class Condition:
    """One validator that must succeed, with the values of the parameters in its command."""

    validator: str
    params: Mapping[str, Json] = NOTHING


@value
class Validation:
    """What must hold before `closing` counts, and what happens when it does not.

    `prompts` are the prompts of the next attempt, by failure pattern. With `every_outcome` it must hold before any
    outcome but `repeat` counts. `preflight` must hold before the model is asked at all; else the run has failed.
    """

    conditions: tuple[Condition, ...] = ()
    action: str = "retry"
    attempts: int = 3
    prompts: Mapping[str, Template] = NOTHING
    every_outcome: bool = False
    preflight: tuple[Condition, ...] = ()

    @property
    def checked(self) -> tuple[Condition, ...]:
        """All conditions, in the order in which they are checked."""
        return (*self.preflight, *self.conditions)
