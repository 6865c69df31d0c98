"""What nodes do: ask a model, let a model work with tools, run a program, a stage or an agent, or nothing."""

from __future__ import annotations

from collections.abc import Container, Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, value

Path = tuple[str | int, ...]
DEEPEST = 100
"""How deep pieces may be nested, and any JSON in a plan."""


@value
class Text:
    """A piece of a template that stands as it is."""

    content: str


@value
class Hole:
    """A piece of a template that the value at a path of the scope is put into."""

    path: Path


@value
class Each:
    """A piece of a template that is repeated for every element of the list at a path."""

    path: Path
    body: tuple[Piece, ...]


@value
class Choice:
    """A piece of a template that depends on whether there is anything at a path."""

    path: Path
    then: tuple[Piece, ...] = ()
    otherwise: tuple[Piece, ...] = ()


Piece = Text | Hole | Each | Choice


Template = tuple[Piece, ...]


def inside(piece: Piece) -> tuple[Piece, ...]:
    """Return the pieces that stand inside a piece."""
    match piece:
        case Each():
            return piece.body
        case Choice():
            return (*piece.then, *piece.otherwise)
        case _:
            return ()


def is_shallow(template: Template) -> bool:
    """Tell whether the pieces of a template are nested so little that they can be walked by recursion."""
    level = template
    for _ in range(DEEPEST):
        if _NESTING.isdisjoint(map(type, level)):
            return True
        level = tuple(inner for each in level for inner in inside(each))
    return _NESTING.isdisjoint(map(type, level))


_NESTING = {Each, Choice}


Scope = Mapping[str | int, Container[str | int] | None]
"""What a template can refer to: names, each with those below it, None where these are not known beforehand."""


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
