"""The codecs of acts, and of the templates and variables that acts are made of."""

from __future__ import annotations

from stagec.plan.act import (
    Carried,
    Command,
    Converse,
    Delegate,
    Given,
    Process,
    ProcessInput,
    ProcessLimits,
    Prompt,
    Provided,
    Repeat,
    Rest,
)
from stagec.plan.codec import (
    ANY,
    CONTENT,
    FLAG,
    NODE_NAME,
    PATH,
    POSITIVE,
    TEXT,
    TEXTS,
    TOO_DEEP,
    Codec,
    bound,
    late,
    many,
    name_in,
    table,
)
from stagec.plan.record_codec import Members, record, union
from stagec.plan.template import Choice, Each, Hole, Text, is_shallow

_TOOLS = many(name_in("tools", TEXT))
_BODY = many(late(lambda: _PIECE))
_PIECE: Codec = union(
    text=(Text, {"content": (CONTENT, "The content that stands here.")}),
    hole=(Hole, {"path": (PATH, "The path, in the scope, of the value that is put in here.")}),
    each=(
        Each,
        {
            "path": (PATH, "The path of the list."),
            "body": (_BODY, "What is repeated for each element, which is `this` in its scope."),
        },
    ),
    choice=(
        Choice,
        {
            "path": (PATH, "The path of the value that is asked for."),
            "then": (_BODY, "What stands here when there is something."),
            "otherwise": (_BODY, "What stands here when there is nothing."),
        },
    ),
)

TEMPLATE = bound(many(_PIECE), is_shallow, TOO_DEEP)

SUPPLY = union(
    given=(Given, {"name": (TEXT, "The input of the run.")}),
    provided=(Provided, {"name": (TEXT, "The variable of the runner.")}),
    carried=(
        Carried,
        {
            "node": (NODE_NAME, "The node whose last result it is taken from."),
            "key": (TEXT, "The key of its hand-off."),
            "required": (FLAG, "Whether the node cannot start without it."),
            "default": (ANY, "The value when there is none; null is no default."),
        },
    ),
)
VARIABLES = table(SUPPLY)

_REPEAT = record(
    Repeat,
    {
        "prompt": (TEMPLATE, "The prompt."),
        "variables": (VARIABLES, "Where each variable of the prompt comes from."),
    },
)
_PROCESS_INPUT = record(
    ProcessInput,
    {
        "path": (TEXT, "The path of a file: below the directory of `node`, or from the project's root."),
        "node": (NODE_NAME, "The node whose output it is."),
        "url": (TEXT, "The URL, when it is no file."),
    },
)
_PROCESS_LIMITS = record(
    ProcessLimits,
    {
        "warn": (POSITIVE, "When people are warned."),
        "interrupt": (POSITIVE, "When the process group gets SIGINT."),
        "terminate": (POSITIVE, "When it gets SIGTERM."),
        "kill": (POSITIVE, "When it gets SIGKILL."),
    },
)
_PROCESS: Members = {
    "goal": (TEXT, "What the stage is for."),
    "limits": (_PROCESS_LIMITS, "After how long it is stopped, and how."),
    "words": (TEXTS, "The program and its arguments; absent when the runner must have a program."),
    "inputs": (table(_PROCESS_INPUT), "What it reads, by name."),
    "outputs": (table(TEXT), "What it leaves, by name: the path below the directory of the stage."),
    "retryable": (FLAG, "Whether it may be run again without asking."),
    "checkpoint": (FLAG, "Whether a checkpoint is written when it has completed."),
}

ACT = union(
    prompt=(
        Prompt,
        {
            "prompt": (TEMPLATE, "The prompt; absent when the runner must have it."),
            "builtin": (TEXT, "The name under which the runner may have the prompt when there is none here."),
            "variables": (VARIABLES, "Where each variable of the prompt comes from."),
            "needed": (TEXTS, "The variables that must be there and not be empty."),
            "schema": (CONTENT, "The JSON Schema of the answer."),
            "tools": (_TOOLS, "The tools that the model may use; absent when the plan does not say."),
            "model": (TEXT, "The model that is asked; absent when the plan does not say."),
            "permission": (TEXT, "The permission mode of the model's tools; absent when the plan does not say."),
            "repeats": (
                many(_REPEAT),
                "What the model is asked in the repeats in a row; absent when only the limits bound them.",
            ),
        },
    ),
    converse=(
        Converse,
        {
            "prompt": (TEMPLATE, "The system prompt of a fresh transcript, made once."),
            "tools": (_TOOLS, "The tools that may be called without asking."),
            "completion": (TEXT, "The name of the completion tool."),
            "schema": (CONTENT, "The JSON Schema of the completion tool's argument."),
            "turns": (POSITIVE, "The most turns of the model in one attempt."),
            "accepts": (CONTENT, "The JSON Schema of each result that the node is handed."),
        },
    ),
    command=(
        Command,
        {
            "words": (
                many(TEMPLATE, least=1),
                "The program and its arguments, each a template over the inputs of the run.",
            ),
            "milliseconds": (POSITIVE, "After how long it is stopped."),
        },
    ),
    process=(Process, _PROCESS),
    agent=(
        Delegate,
        {
            "agent": (name_in("plans", TEXT), "The agent, whose plan is run."),
            "comments": (table(TEMPLATE), "What is written about the issue after an outcome, by outcome."),
            "closes": (FLAG, "Whether the issue is closed when the agent has led to a completed run."),
            "condition": (TEXT, "The only outcome after which it is closed; absent when any will do."),
        },
    ),
    rest=(Rest, {}),
)
