"""Where a run stands: a value that follows from the events so far, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.plan.node import Outcome
from stagec.runtime.effect import Effect
from stagec.runtime.table import Table


@value
class Branch:
    """What an execution belongs to: the scope around it, None for the run itself, and which of its branches."""

    scope: str | None = None
    index: int = 0


ROOT = Branch()


@value
class Execution:
    """One execution of a node that has begun and not ended.

    `key` is `run/node#visit`. `asked` counts the requests of this attempt, `detail` is what the act itself remembers.
    `prompt` is what a model is asked. `begins_branch` tells that a fork has led here, `joins` names the fork that this
    execution is the join of.
    """

    key: str
    node: str
    branch: Branch
    upstream: tuple[Json, ...] = ()
    attempt: int = 1
    asked: int = 0
    detail: Any = None
    prompt: str | None = None
    begins_branch: bool = False
    joins: str | None = None


@value
class Scope:
    """A fork or a chain that has begun: which branches have ended, and with which last result.

    `nodes` are those that begin its branches, `join` follows a fork. `around` is the branch in which it was opened.
    """

    around: Branch
    nodes: tuple[str, ...]
    join: str | None
    is_chain: bool
    results: tuple[tuple[int, Json], ...] = ()


@value
class Arrival:
    """A node that is come to; in a fork it waits until fewer nodes than the limit act.

    `origin` is the node it follows, if any, `otherwise` what runs in its place if it cannot start, `prompt` one that is
    not its own. `joins` is the fork that it is the join of.
    """

    node: str
    branch: Branch
    upstream: tuple[Json, ...] = ()
    origin: str | None = None
    otherwise: str | None = None
    prompt: str | None = None
    begins_branch: bool = False
    joins: str | None = None


@value
class Past:
    """What is remembered of a node: how often it has run, and what came of it last.

    `record` is kept for carried variables, None when there is none. `origin` is the node from which this one was last
    come to by an edge from another node. `failures` counts how often its validation has failed in a row.
    """

    visits: int = 0
    record: Mapping[str, Json] | None = None
    origin: str | None = None
    failures: int = 0


_NOBODY: Table[Past] = Table()


@value
class State:
    """Where a run stands.

    `active` are the executions that have begun and not ended, by key; `pending` the requests that nobody has answered,
    by key, in the order in which they were made. `judged` counts how often the judge was asked, `said` is the text with
    which the model ended the execution before. When the run has `ended`, `reason` says why, in a word. `told` counts
    the events so far.
    """

    run: str = ""
    entry: str = ""
    inputs: Mapping[str, Json] = NOTHING
    executions: int = 0
    past: Table[Past] = _NOBODY
    judged: int = 0
    said: str = ""
    active: Mapping[str, Execution] = NOTHING
    scopes: Mapping[str, Scope] = NOTHING
    waiting: tuple[Arrival, ...] = ()
    pending: Mapping[str, Effect] = NOTHING
    ended: Outcome | None = None
    reason: str = ""
    told: int = 0


@value
class Told:
    """Something that happened, for people and logs; nothing depends on it. `facts` are JSON."""

    name: str
    facts: Mapping[str, Json]


@value
class Step:
    """What follows from an event: the state, the requests to the world, those that are void, and what to tell."""

    state: State
    effects: tuple[Effect, ...] = ()
    void: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
