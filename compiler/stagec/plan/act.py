"""What nodes do: ask a model, let a model work with tools, run a program, a stage or an agent, or nothing."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.plan.template import Template


@value
class Given:
    """A variable that whoever starts the run gives."""

    name: str


@value
class Provided:
    """A variable that the runner provides."""

    name: str


@value
class Carried:
    """A variable that is carried over from the last result of another node; `default` null is none."""

    node: str
    key: str
    required: bool = True
    default: Json = None


Supply = Given | Provided | Carried


@value
class Repeat:
    """What a model is asked instead when a node repeats itself: a prompt, and where its variables come from."""

    prompt: Template
    variables: Mapping[str, Supply] = NOTHING


@value
class Prompt:
    """Ask a model for one structured answer.

    `prompt` None is a prompt that the runner must have under the name `builtin`. `needed` are the variables that must
    not be empty. `schema` None asks for any object. `tools` None leaves the choice of tools to the runner.
    `repeats` are those of the node in a row, which can be no more; with None only the limits of the run bound them.
    """

    prompt: Template | None = None
    builtin: str | None = None
    variables: Mapping[str, Supply] = NOTHING
    needed: tuple[str, ...] = ()
    schema: str | None = None
    tools: tuple[str, ...] | None = None
    model: str | None = None
    permission: str | None = None
    repeats: tuple[Repeat, ...] | None = None


@value
class Converse:
    """Let a model work with tools until it hands its result in by calling the completion tool.

    `schema` is what the result must satisfy, `accepts` what every result handed to the node must; `turns` are the most
    turns of the model in one attempt.
    """

    prompt: Template
    tools: tuple[str, ...]
    completion: str
    schema: str
    turns: int
    accepts: str | None = None


@value
class Command:
    """Run a program: the words of its command line, and after how many milliseconds it is stopped."""

    words: tuple[Template, ...]
    milliseconds: int


@value
class ProcessInput:
    """Where an input of a stage is: at a path below the project's root or among the outputs of a node, or at a URL."""

    path: str | None = None
    node: str | None = None
    url: str | None = None


@value
class ProcessLimits:
    """After how many milliseconds a warning is due, and the process group gets SIGINT, SIGTERM and SIGKILL."""

    warn: int
    interrupt: int
    terminate: int
    kill: int


@value
class Process:
    """Run a stage: a process that reads inputs and leaves outputs in a directory of its own.

    Without `words`, whoever runs the plan says which program carries out the goal. `outputs` are paths below the
    directory of the stage. `checkpoint` tells whether a checkpoint is written when the stage has completed.
    """

    goal: str
    limits: ProcessLimits
    words: tuple[str, ...] = ()
    inputs: Mapping[str, ProcessInput] = NOTHING
    outputs: Mapping[str, str] = NOTHING
    retryable: bool = True
    checkpoint: bool = True


@value
class Delegate:
    """Run an agent: its plan, in a run of its own inside this one, with the inputs of this run that it knows.

    `comments` are what is written about an issue after an outcome. Where the agent closes issues, it does so after
    the outcome that `condition` names, None being any.
    """

    agent: str
    comments: Mapping[str, Template] = NOTHING
    closes: bool = False
    condition: str | None = None


@value
class Rest:
    """Do nothing: the run has come to the phase in which it ends."""


Act = Prompt | Converse | Command | Process | Delegate | Rest
