"""The parts of a plan: a flow with everything that a run needs, and nothing else.

`docs/plan-format.md` says what each part means to whoever runs it. A *content* is the name of a text in
`Plan.contents`: `sha256:` and 64 hexadecimal digits. A *path* goes through objects by name and through lists by index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from stagec.core.canonical import digest
from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.ir.plan.act import Supply, Template
from stagec.ir.plan.codec import (
    NON_EMPTY,
    Call,
    Content,
    Count,
    Digest,
    EntryName,
    NodeName,
    Positive,
    ServerName,
    member_of,
    words,
)
from stagec.ir.plan.node import Entry, Node, Outcome

_BOUNDARY = re.compile(r"github[A-Z]\w*(?:Close|Comment|Create|Merge|Publish|Update)")


def is_boundary_tool(name: str) -> bool:
    """Tell whether a tool changes what others see at GitHub; of steps, only those that close may call it."""
    return _BOUNDARY.fullmatch(name) is not None


EXTRACTORS = (
    "stdout",
    "stderr",
    "exitCode",
    "errorOutput",
    "parseChangedFiles",
    "parseUntrackedFiles",
    "parseStagedFiles",
    "parseUnstagedFiles",
    "extractFiles",
    "files",
    "parseTestOutput",
    "failedTests",
    "parseTypeErrors",
    "errors",
    "parseLintErrors",
    "lintErrors",
    "lintFiles",
    "parseFormatOutput",
    "formatFiles",
    "generateDiff",
    "diff",
    "missingPaths",
    "expectedPath",
)
"""The extractors that find something; any other finds null."""


@value
class Success:
    """When the command of a validator has succeeded: `empty`, `exit`, `contains` or `matches`, and of what."""

    kind: Annotated[str, words("empty", "exit", "contains", "matches"), "The kind of the condition."]
    argument: Annotated[str, "The exit status, the text or the regular expression."] = ""


@value
class Validator:
    """One check of the world: a shell command, when it has succeeded, and what is read from its output when not.

    `extract` maps the names that the prompt of the next attempt uses to the extractors that find their values.
    """

    command: Annotated[str, "The command, for `sh -c`; `${name}` stands for a parameter."]
    success: Annotated[Success, "When it has succeeded."]
    pattern: Annotated[str, "The failure pattern of its failure."]
    extract: Annotated[Mapping[str, str], "The extractor of each value that the next prompt uses."] = NOTHING


@value
class Tool:
    """One tool of nodes: its source, its effects, and its input schema or the digest of it.

    `origin` is `bundled`, `discovered`, `mcp` or `unknown`; `effects` `read`, `mutating` or `unknown`. `digest` is
    there where only the digest of the schema is known, as the lock has it, and `described` is the digest of the
    description there. `command` is the argument vector of a program that carries calls out.
    """

    origin: Annotated[str, words("bundled", "discovered", "mcp", "unknown"), "Its origin."]
    effects: Annotated[str, words("read", "mutating", "unknown"), "The effects of calling it."]
    server: Annotated[ServerName | None, "The MCP server that offers it."] = None
    schema: Annotated[Content | None, "The JSON Schema of its argument."] = None
    digest: Annotated[Digest | None, "The digest of that schema, as the lock of the tools has it."] = None
    description: Annotated[str | None, "The description of the tool, for models."] = None
    command: Annotated[tuple[str, ...], "The program that carries calls out, and its arguments."] = ()
    described: Annotated[Digest | None, "The digest of its description, as the lock of the tools has it."] = None


@value
class Server:
    """An MCP server that tools come from: how it is started, or its address.

    `environment` and `headers` are names; their values stay outside the plan. `launch` is the digest of all of it, as
    the lock has it.
    """

    launch: Annotated[Digest | None, "The digest of how it is started, as the lock of the tools has it."] = None
    command: Annotated[str | None, "The program that is started."] = None
    args: Annotated[tuple[str, ...], "Its arguments."] = ()
    cwd: Annotated[str | None, "The folder it is started in, relative to the catalogue's."] = None
    environment: Annotated[tuple[str, ...], "The names of the environment variables it is given."] = ()
    url: Annotated[str | None, "Its address."] = None
    headers: Annotated[tuple[str, ...], "The names of the headers it is sent."] = ()


MessageStage = Annotated[
    str, words("RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL", "RENDER")
]


@value
class LoopHook:
    """A Python callable at one stage of the message loop: `when` is `pre` or `post`."""

    stage: Annotated[MessageStage, "The stage of the message loop."]
    when: Annotated[str, words("pre", "post"), "Before or after it."]
    kind: Annotated[str, words("transform", "guard", "observer"), "The rights of the callable."]
    call: Annotated[Call, "The callable."]


SecurityMode = Annotated[str, words("ask", "allowlist", "yolo")]


@value
class Session:
    """Settings for all nodes together: the security mode, and the callables of the message loop."""

    mode: Annotated[SecurityMode | None, "The security mode outside nodes."] = None
    hooks: Annotated[
        tuple[LoopHook, ...], "Callables at stages of the message loop, in the order in which they are called."
    ] = ()


FORMAT = "stagec.plan/1"
"""The format that this stagec writes; a plan that names another one is refused."""


@value
class Input:
    """An input of runs; `default` null is none, and without `schema` anything is allowed."""

    required: Annotated[bool, "Whether a run cannot start without it."] = False
    default: Annotated[Json, "The value when none is given; null is no default."] = None
    schema: Annotated[Content | None, "The JSON Schema of its value."] = None


@value
class System:
    """The prompt that stands before all others, and where its variables come from."""

    prompt: Annotated[Template, "The system prompt."]
    variables: Annotated[Mapping[str, Supply], "The source of each of its variables."] = NOTHING


@value
class JudgeDefinition:
    """The judgement whether the work is done: one of the verdict types of agent definitions, and its settings."""

    kind: Annotated[str, "The verdict type."]
    settings: Annotated[Mapping[str, Json], "Its settings."] = NOTHING


@value
class Limits:
    """Bounds of a run: node executions, what happens when they are used up, nodes that run together, and time."""

    executions: Annotated[Positive | None, "The most node executions of a run; absent where no node can repeat."] = None
    reached: Annotated[
        Outcome, member_of((Outcome.DONE, Outcome.FAILED)), "The end of the run when another one would begin."
    ] = Outcome.FAILED
    parallel: Annotated[Positive, "How many nodes may run at the same time."] = 1
    deadline: Annotated[Count, "How many milliseconds after its begin a run fails that has not ended."] = 0


@value
class Facts:
    """Facts that are proved of every run.

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
    """The rules of a run of phases: its bounds, the wait between two phases, and the labels of its issue.

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
    """The system's words: a node is a `step`, `stage` or `phase`, an outcome an `intent` or a `verdict`."""

    node: Annotated[str, "The word for a node."]
    outcome: Annotated[str, "The word for an outcome."]


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
    names: Annotated[Names, "The system's words."]
    entries: Annotated[
        Mapping[str, Entry], NON_EMPTY, "The node or the schedule with which a run begins, by what selects it."
    ]
    nodes: Annotated[Mapping[str, Node], "The nodes, by id."]
    contents: Annotated[
        Mapping[Digest, str], "Prompts and schemas, each under `sha256:` and the digest of its UTF-8 bytes."
    ]
    limits: Annotated[Limits, "The bounds of a run."]
    entry: Annotated[EntryName | None, "The name of the default entry."] = None
    title: Annotated[str | None, "The name of the flow for people."] = None
    version: Annotated[str | None, "The version of the flow."] = None
    choices: Annotated[
        Mapping[str, Annotated[Mapping[str, NodeName], NON_EMPTY]],
        "The node that each answer means, by what targets call these.",
    ] = NOTHING
    inputs: Annotated[Mapping[str, Input], "The inputs of a run."] = NOTHING
    system: Annotated[System | None, "The system prompt of every node that prompts."] = None
    judge: Annotated[JudgeDefinition | None, "How it is judged that the work is done."] = None
    validators: Annotated[Mapping[str, Validator], "The validators, by name."] = NOTHING
    tools: Annotated[Mapping[str, Tool], "The tools that nodes use, by name."] = NOTHING
    servers: Annotated[Mapping[str, Server], "The MCP servers that these tools come from, by name."] = NOTHING
    session: Annotated[Session | None, "Settings outside of nodes."] = None
    sources: Annotated[
        Mapping[str, Digest], "The digest of every file of the plan, by its path from the file of the flow."
    ] = NOTHING
    facts: Annotated[Facts | None, "Facts that are proved of every run."] = None
    plans: Annotated[
        Mapping[str, Content], "The plans of the agents that nodes run, by name; each is a payload (§ 1)."
    ] = NOTHING
    phases: Annotated[Phases | None, "The rules of a run of phases; present if nodes run agents."] = None


@value
class Draft:
    """A plan without facts and sources, and the files of the project that it is made of.

    `agents` are those whose plans belong in it, each with the folder in which its flow is declared. `usual_models` are
    the nodes that do not choose a model themselves, and have the one that is usual in their flow.
    """

    plan: Plan
    files: frozenset[str]
    agents: Mapping[str, str] = NOTHING
    usual_models: frozenset[str] = frozenset()


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
