"""What a plan is made of: a flow with everything that running it needs, and nothing that running it does not need.

`docs/plan-format.md` says what each part means to whoever runs it. A *content* is the name of a text in
`Plan.contents`: `sha256:` and 64 hexadecimal digits. A *path* goes through objects by name and through lists by index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from stagec.core.canonical import digest
from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.ir.plan.act import Supply, Template
from stagec.ir.plan.codec import NON_EMPTY, Content, Count, Digest, EntryName, NodeName, Positive, member_of
from stagec.ir.plan.node import Entry, Node, Outcome
from stagec.ir.plan.surroundings import Server, Session, Tool, Validator

FORMAT = "stagec.plan/1"
"""The format that this stagec writes; a plan that names another one is refused."""


@value
class Input:
    """What whoever starts a run gives it; `default` null is none, and without `schema` anything is allowed."""

    required: Annotated[bool, "Whether a run cannot start without it."] = False
    default: Annotated[Json, "The value when none is given; null is no default."] = None
    schema: Annotated[Content | None, "The JSON Schema of its value."] = None


@value
class System:
    """The prompt that stands before all others, and where its variables come from."""

    prompt: Annotated[Template, "The system prompt."]
    variables: Annotated[Mapping[str, Supply], "Where each of its variables comes from."] = NOTHING


@value
class Judge:
    """How it is judged that the work is done: one of the verdict types of agent definitions, and its settings."""

    kind: Annotated[str, "The verdict type."]
    settings: Annotated[Mapping[str, Json], "Its settings."] = NOTHING


@value
class Limits:
    """Bounds of a run: node executions, how the run ends when they are used up, and how many nodes run together."""

    executions: Annotated[Positive | None, "The most node executions of a run; absent where no node can repeat."] = None
    reached: Annotated[
        Outcome, member_of((Outcome.DONE, Outcome.FAILED)), "How the run ends when another one would begin."
    ] = Outcome.FAILED
    parallel: Annotated[Positive, "How many nodes may run at the same time."] = 1


@value
class Facts:
    """What is proved of every run.

    `done`, `failed`, `interrupted` and `blocked` are the nodes that have an edge by which a run or a scope ends so;
    `cycles` the sets of nodes that can lead back into themselves; `executions` and `turns` the most node executions and
    turns of models of a run, turns also of the agents that it runs.
    """

    done: Annotated[tuple[str, ...], "The nodes with an edge that ends a scope or the run as done, sorted."]
    failed: Annotated[tuple[str, ...], "The nodes with an edge that ends a scope or the run as failed, sorted."]
    cycles: Annotated[tuple[tuple[str, ...], ...], "The largest sets of nodes that lead back into themselves, sorted."]
    executions: Annotated[Count, "The most node executions of a run."]
    turns: Annotated[Count, "The most turns of models in a run."]
    interrupted: Annotated[
        tuple[str, ...], "The nodes with an edge that ends a scope or the run as interrupted, sorted."
    ] = ()
    blocked: Annotated[tuple[str, ...], "The nodes with an edge that ends the run as blocked, sorted."] = ()


@value
class Phases:
    """What holds of a run of phases: its bounds, the wait between two phases, and the labels of its issue.

    `most` is how many transitions it has at most, `row` how many to the same phase one after the other, 0 being any.
    `labels` are the labels by phase, of which the first is written down; `ordering` those that are removed when a run
    is completed.
    """

    most: Annotated[Positive, "The most transitions of a run."]
    row: Annotated[Count, "The most transitions to the same phase, one after the other; 0 is any number."] = 0
    pause: Annotated[Count, "How many milliseconds pass between two phases."] = 0
    labels: Annotated[
        Mapping[NodeName, tuple[str, ...]], "The labels of an issue by phase; the first is the one written down."
    ] = NOTHING
    ordering: Annotated[tuple[str, ...], "The other labels that are removed when a run is completed."] = ()


@value
class Names:
    """What the system calls things: a node is a `step`, `stage` or `phase`, an outcome an `intent` or a `verdict`."""

    node: Annotated[str, "What a node is called."]
    outcome: Annotated[str, "What an outcome is called."]


@value(tag=FORMAT)
class Plan:
    """One flow, frozen.

    `choices` are the nodes by the names that an answer may give for them, under the name by which targets share them.
    `entries` are the nodes and schedules with which runs begin, by what selects them; `entry` is the one that is
    selected when nobody says otherwise. `sources` are the digests of the files it was made of, by their path from the
    folder of the file that declares the flow. `plans` are the contents that hold the plans of agents, `phases` is there
    when nodes run these.
    """

    id: Annotated[str, "The name of the flow."]
    names: Annotated[Names, "What the system calls things."]
    entries: Annotated[
        Mapping[str, Entry], NON_EMPTY, "The node or the schedule with which a run begins, by what selects it."
    ]
    nodes: Annotated[Mapping[str, Node], "The nodes, by id."]
    contents: Annotated[
        Mapping[Digest, str], "Prompts and schemas, each under `sha256:` and the digest of its UTF-8 bytes."
    ]
    limits: Annotated[Limits, "The bounds of a run."]
    entry: Annotated[EntryName | None, "What selects the entry when nobody says."] = None
    title: Annotated[str | None, "What people call the flow."] = None
    version: Annotated[str | None, "The version of the flow."] = None
    choices: Annotated[
        Mapping[str, Annotated[Mapping[str, NodeName], NON_EMPTY]],
        "The node that each answer means, by what targets call these.",
    ] = NOTHING
    inputs: Annotated[Mapping[str, Input], "What a run is given."] = NOTHING
    system: Annotated[System | None, "The system prompt of every node that prompts."] = None
    judge: Annotated[Judge | None, "How it is judged that the work is done."] = None
    validators: Annotated[Mapping[str, Validator], "The validators, by name."] = NOTHING
    tools: Annotated[Mapping[str, Tool], "The tools that nodes use, by name."] = NOTHING
    servers: Annotated[Mapping[str, Server], "The MCP servers that these tools come from, by name."] = NOTHING
    session: Annotated[Session | None, "What holds outside nodes."] = None
    sources: Annotated[
        Mapping[str, Digest], "The digest of every file of the plan, by its path from the file of the flow."
    ] = NOTHING
    facts: Annotated[Facts | None, "What is proved of every run."] = None
    plans: Annotated[
        Mapping[str, Content], "The plans of the agents that nodes run, by name; each is a payload (§ 1)."
    ] = NOTHING
    phases: Annotated[Phases | None, "What holds of a run of phases; there when nodes run agents."] = None


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
