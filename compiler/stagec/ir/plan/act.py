"""The acts of nodes: ask a model, let a model work with tools, run a program, a stage or an agent, or nothing."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Annotated

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.ir.plan.codec import (
    DEEPEST,
    NON_EMPTY,
    TOO_DEEP,
    AgentName,
    Content,
    Count,
    NodeName,
    Path,
    Positive,
    ToolName,
    Within,
    between,
)


@value(tag="text")
class Text:
    """A piece of a template that stands as it is."""

    content: Annotated[Content, "The content that stands here."]


@value(tag="hole")
class Hole:
    """A piece of a template that the value at a path of the scope is put into."""

    path: Annotated[Path, "The path, in the scope, of the value that is put in here."]


@value(tag="each")
class Each:
    """A piece of a template that is repeated for every element of the list at a path."""

    path: Annotated[Path, "The path of the list."]
    body: Annotated[tuple[Piece, ...], "The parts that are repeated for each element, which is `this` in their scope."]


@value(tag="choice")
class Choice:
    """A piece of a template that depends on whether there is anything at a path."""

    path: Annotated[Path, "The path of the value that is asked for."]
    then: Annotated[tuple[Piece, ...], "The parts if the value is there."] = ()
    otherwise: Annotated[tuple[Piece, ...], "The parts if the value is absent."] = ()


Piece = Text | Hole | Each | Choice


def inside(piece: Piece) -> tuple[Piece, ...]:
    """Return the pieces that stand inside a piece."""
    match piece:
        case Each():
            return piece.body
        case Choice():
            return (*piece.then, *piece.otherwise)
        case _:
            return ()


def is_shallow(template: tuple[Piece, ...]) -> bool:
    """Tell whether the pieces of a template are nested so little that they can be walked by recursion."""
    level = template
    for _ in range(DEEPEST):
        if _NESTING.isdisjoint(map(type, level)):
            return True
        level = tuple(inner for each in level for inner in inside(each))
    return _NESTING.isdisjoint(map(type, level))


_NESTING = {Each, Choice}
Template = Annotated[tuple[Piece, ...], Within(is_shallow, TOO_DEEP)]


Scope = Mapping[str | int, Container[str | int] | None]
"""The names that a template can refer to, each with those below it, None if these are not known beforehand."""


def strays(template: Template, scope: Scope) -> list[Path]:
    """Return every path of a template at which its scope has nothing; the body of `each` has `this` besides."""
    found = []
    todo = [(template, scope)]
    for pieces, around in todo:  # grows while it is walked
        for piece in pieces:
            if isinstance(piece, Text):
                continue
            path = piece.path
            if not path or path[0] not in around:
                leads = False
            else:
                below = around[path[0]]
                leads = below is None or len(path) == 1 or path[1] in below
            if not leads:
                found.append(piece.path)
            if type(piece) is Each:
                todo.append((piece.body, {**around, "this": None}))
            elif type(piece) is Choice:
                todo.extend(((piece.then, around), (piece.otherwise, around)))
    return found


@value(tag="given")
class Given:
    """A variable that whoever starts the run gives."""

    name: Annotated[str, "The input of the run."]


@value(tag="provided")
class Provided:
    """A variable that the runner provides."""

    name: Annotated[str, "The variable of the runner."]


@value(tag="carried")
class Carried:
    """A variable that is carried over from the last result of another node; `default` null is none."""

    node: Annotated[NodeName, "The node whose last result it is taken from."]
    key: Annotated[str, "The key of its hand-off."]
    required: Annotated[bool, "Whether the node cannot start without it."] = True
    default: Annotated[Json, "The value when there is none; null is no default."] = None


Supply = Given | Provided | Carried


@value
class Repeat:
    """The prompt of a repeated node in place of its usual one, and the sources of its variables."""

    prompt: Annotated[Template, "The prompt."]
    variables: Annotated[Mapping[str, Supply], "The source of each variable of the prompt."] = NOTHING


@value
class Policy:
    """The settings of a node's model; an absent one is left to the runner.

    `attempts` count one request, the first attempt included; the attempts of the node itself are another number.
    """

    temperature: Annotated[float | None, between(0, 2, is_whole=False), "How freely the model chooses its words."] = (
        None
    )
    output_tokens: Annotated[Positive | None, "The most tokens of one response."] = None
    milliseconds: Annotated[
        int | None, between(1, 24 * 60 * 60 * 1000), "After how long a request without a complete response has failed."
    ] = None
    attempts: Annotated[
        int | None, between(1, 1000), "How often a request is made that the provider of the model does not answer."
    ] = None


@value(tag="prompt")
class Prompt:
    """Ask a model for one structured answer.

    `prompt` None is a prompt that the runner must have under the name `builtin`. `needed` are the variables that must
    not be empty. `schema` None asks for any object. `tools` None leaves the choice of tools to the runner.
    `repeats` are those of the node in a row, which can be no more; with None only the limits of the run bound them.
    """

    prompt: Annotated[Template | None, "The prompt; absent when the runner must have it."] = None
    builtin: Annotated[str | None, "The name under which the runner may have the prompt when there is none here."] = (
        None
    )
    variables: Annotated[Mapping[str, Supply], "The source of each variable of the prompt."] = NOTHING
    needed: Annotated[tuple[str, ...], "The variables that must be there and not be empty."] = ()
    schema: Annotated[Content | None, "The JSON Schema of the answer."] = None
    tools: Annotated[
        tuple[ToolName, ...] | None, "The tools that the model may use; absent when the plan does not say."
    ] = None
    model: Annotated[str | None, "The model that is asked; absent when the plan does not say."] = None
    permission: Annotated[
        str | None, "The permission mode of the model's tools; absent when the plan does not say."
    ] = None
    repeats: Annotated[
        tuple[Repeat, ...] | None,
        "The prompts of repeats in a row; absent if only the limits bound them.",
    ] = None
    policy: Annotated[Policy | None, "The settings of the model; absent if the plan has none."] = None


@value(tag="converse")
class Converse:
    """Let a model work with tools until it hands its result in by calling the completion tool.

    `schema` is what the result must satisfy, `accepts` what every result handed to the node must; `turns` are the most
    turns of the model in one attempt.
    """

    prompt: Annotated[Template, "The system prompt of a fresh transcript, made once."]
    tools: Annotated[tuple[ToolName, ...], "The tools that may be called without asking."]
    completion: Annotated[str, "The name of the completion tool."]
    schema: Annotated[Content, "The JSON Schema of the completion tool's argument."]
    turns: Annotated[Positive, "The most turns of the model in one attempt."]
    accepts: Annotated[Content | None, "The JSON Schema of each result that the node is handed."] = None
    model: Annotated[str | None, "The model that is asked; absent when the plan does not say."] = None
    policy: Annotated[Policy | None, "The settings of the model; absent if the plan has none."] = None
    deadline: Annotated[Count, "How many milliseconds after its begin an execution fails that has no result."] = 0


@value(tag="command")
class Command:
    """Run a program: the words of its command line, and after how many milliseconds it is stopped."""

    words: Annotated[
        tuple[Template, ...], NON_EMPTY, "The program and its arguments, each a template over the inputs of the run."
    ]
    milliseconds: Annotated[Positive, "After how long it is stopped."]


@value
class ProcessInput:
    """The place of a stage's input: a path below the project's root or among the outputs of a node, or a URL."""

    path: Annotated[str | None, "The path of a file: below the directory of `node`, or from the project's root."] = None
    node: Annotated[NodeName | None, "The node whose output it is."] = None
    url: Annotated[str | None, "The URL, when it is no file."] = None


@value
class ProcessLimits:
    """After how many milliseconds a warning is due, and the process group gets SIGINT, SIGTERM and SIGKILL."""

    warn: Annotated[Positive, "When people are warned."]
    interrupt: Annotated[Positive, "When the process group gets SIGINT."]
    terminate: Annotated[Positive, "When it gets SIGTERM."]
    kill: Annotated[Positive, "When it gets SIGKILL."]


@value(tag="process")
class Process:
    """Run a stage: a process that reads inputs and leaves outputs in a directory of its own.

    Without `words`, whoever runs the plan says which program carries out the goal. `outputs` are paths below the
    directory of the stage. `checkpoint` tells whether a checkpoint is written when the stage has completed.
    """

    goal: Annotated[str, "The goal of the stage."]
    limits: Annotated[ProcessLimits, "After how long it is stopped, and how."]
    words: Annotated[tuple[str, ...], "The program and its arguments; absent when the runner must have a program."] = ()
    inputs: Annotated[Mapping[str, ProcessInput], "Its inputs, by name."] = NOTHING
    outputs: Annotated[Mapping[str, str], "Its outputs, by name: the path below the directory of the stage."] = NOTHING
    retryable: Annotated[bool, "Whether it may be run again without asking."] = True
    checkpoint: Annotated[bool, "Whether a checkpoint is written when it has completed."] = True


@value(tag="agent")
class Delegate:
    """Run an agent: its plan, in a run of its own inside this one, with the inputs of this run that it knows.

    `comments` are what is written about an issue after an outcome. Where the agent closes issues, it does so after
    the outcome that `condition` names, None being any.
    """

    agent: Annotated[AgentName, "The agent, whose plan is run."]
    comments: Annotated[Mapping[str, Template], "The comments on the issue after an outcome, by outcome."] = NOTHING
    closes: Annotated[bool, "Whether the issue is closed when the agent has led to a completed run."] = False
    condition: Annotated[str | None, "The only outcome after which it is closed; absent when any will do."] = None


@value(tag="rest")
class Rest:
    """Do nothing: the run has come to the phase in which it ends."""


Act = Prompt | Converse | Command | Process | Delegate | Rest
