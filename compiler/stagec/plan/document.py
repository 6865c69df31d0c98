"""What a plan is made of: a flow with everything that running it needs, and nothing that running it does not need.

`docs/plan-format.md` says what each part means to whoever runs it. A *content* is the name of a text in
`Plan.contents`: `sha256:` and 64 hexadecimal digits. A *path* goes through objects by name and through lists by index.
"""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.canonical import digest
from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.plan.act import Supply, Template
from stagec.plan.node import Entry, Node, Outcome
from stagec.plan.surroundings import Server, Session, Tool, Validator

FORMAT = "stagec.plan/1"
"""The format that this stagec writes; a plan that names another one is refused."""


@value
class Input:
    """What whoever starts a run gives it; `default` null is none, and without `schema` anything is allowed."""

    required: bool = False
    default: Json = None
    schema: str | None = None


@value
class System:
    """The prompt that stands before all others, and where its variables come from."""

    prompt: Template
    variables: Mapping[str, Supply] = NOTHING


@value
class Judge:
    """How it is judged that the work is done: one of the verdict types of agent definitions, and its settings."""

    kind: str
    settings: Mapping[str, Json] = NOTHING


@value
class Limits:
    """Bounds of a run: node executions, how the run ends when they are used up, and how many nodes run together."""

    executions: int | None = None
    reached: Outcome = Outcome.FAILED
    parallel: int = 1


@value
class Facts:
    """What is proved of every run.

    `done`, `failed`, `interrupted` and `blocked` are the nodes that have an edge by which a run or a scope ends so;
    `cycles` the sets of nodes that can lead back into themselves; `executions` and `turns` the most node executions and
    turns of models of a run, turns also of the agents that it runs.
    """

    done: tuple[str, ...]
    failed: tuple[str, ...]
    cycles: tuple[tuple[str, ...], ...]
    executions: int
    turns: int
    interrupted: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


@value
class Phases:
    """What holds of a run of phases: its bounds, the wait between two phases, and the labels of its issue.

    `most` is how many transitions it has at most, `row` how many to the same phase one after the other, 0 being any.
    `labels` are the labels by phase, of which the first is written down; `ordering` those that are removed when a run
    is completed.
    """

    most: int
    row: int = 0
    pause: int = 0
    labels: Mapping[str, tuple[str, ...]] = NOTHING
    ordering: tuple[str, ...] = ()


@value
class Names:
    """What the system calls things: a node is a `step`, `stage` or `phase`, an outcome an `intent` or a `verdict`."""

    node: str
    outcome: str


@value
class Plan:
    """One flow, frozen.

    `choices` are the nodes by the names that an answer may give for them, under the name by which targets share them.
    `entries` are the nodes and schedules with which runs begin, by what selects them; `entry` is the one that is
    selected when nobody says otherwise. `sources` are the digests of the files it was made of, by their path from the
    folder of the file that declares the flow. `plans` are the contents that hold the plans of agents, `phases` is there
    when nodes run these.
    """

    id: str
    names: Names
    entries: Mapping[str, Entry]
    nodes: Mapping[str, Node]
    contents: Mapping[str, str]
    limits: Limits
    entry: str | None = None
    title: str | None = None
    version: str | None = None
    choices: Mapping[str, Mapping[str, str]] = NOTHING
    inputs: Mapping[str, Input] = NOTHING
    system: System | None = None
    judge: Judge | None = None
    validators: Mapping[str, Validator] = NOTHING
    tools: Mapping[str, Tool] = NOTHING
    servers: Mapping[str, Server] = NOTHING
    session: Session | None = None
    sources: Mapping[str, str] = NOTHING
    facts: Facts | None = None
    plans: Mapping[str, str] = NOTHING
    phases: Phases | None = None


@value
class Draft:
    """A plan without facts and sources, and the files of the project that it is made of.

    `agents` are those whose plans belong in it, each with the folder in which its flow is declared.
    """

    plan: Plan
    files: frozenset[str]
    agents: Mapping[str, str] = NOTHING


class Contents:
    """The texts collected so far."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Keep a text and return the name under which the plan holds it."""
        if text not in self._names:
            self._names[text] = digest(text.encode())
            self._texts[self._names[text]] = text
        return self._names[text]

    @property
    def texts(self) -> Mapping[str, str]:
        """Every text, by name."""
        return self._texts
