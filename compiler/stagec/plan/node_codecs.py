"""The codecs of nodes and of what nodes are made of: acts, gates, edges and policies."""

from __future__ import annotations

from stagec.plan.act import Carried, Command, Converse, Given, Process, ProcessInput, ProcessLimits, Prompt, Provided
from stagec.plan.codec import (
    ANY,
    CALL,
    CONTENT,
    COUNT,
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
    member_of,
    name_in,
    table,
    text_or,
    words,
)
from stagec.plan.gate import (
    Admission,
    Among,
    Backoff,
    Check,
    Condition,
    Exists,
    ExitGate,
    IntentGate,
    JudgeGate,
    Reads,
    Retry,
    StageGate,
    Validation,
    VerdictGate,
)
from stagec.plan.node import Chain, Edge, Fork, Go, Named, Node, Outcome, Pick, Schedule, Stop
from stagec.plan.record_codec import Members, record, union
from stagec.plan.template import Choice, Each, Hole, Text, is_shallow

_PHASES = words("setup", "gate", "assert", "exit")
_KINDS = words("work", "verification", "closure")
_NODES = many(NODE_NAME, least=1)
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
)

TERM = union(
    among=(
        Among,
        {"path": (PATH, "The path in the result."), "values": (many(ANY), "The values of which one must be there.")},
    ),
    reads=(
        Reads,
        {"path": (PATH, "The path in the result."), "texts": (TEXTS, "The texts of which one must be read there.")},
    ),
    exists=(
        Exists,
        {"path": (PATH, "The path in the result."), "present": (FLAG, "Whether there must be a value, or none.")},
    ),
)
TERMS = many(TERM)

GATE = union(
    intent=(
        IntentGate,
        {
            "field": (PATH, "The path of the intent in the answer."),
            "intents": (TEXTS, "The intents that are allowed."),
            "fail_fast": (FLAG, "Whether the run fails when no allowed intent can be read."),
            "fallback": (TEXT, "The intent that counts then, where the run does not fail."),
            "target": (PATH, "The path at which an answer names the node to jump to."),
            "handoff": (many(PATH), "The paths of what is kept for other nodes."),
        },
    ),
    verdict=(
        VerdictGate,
        {
            "checks": (
                many(
                    record(
                        Check,
                        {
                            "verdict": (words("retry", "fail"), "The verdict."),
                            "when": (TERMS, "What must hold of the result."),
                            "reason": (TEXT, "What the model, or whoever reads the result, is told."),
                        },
                    )
                ),
                "The judgements, the first that applies counts.",
            )
        },
    ),
    judge=(JudgeGate, {}),
    exit=(ExitGate, {}),
    stage=(StageGate, {}),
)

RETRY = record(
    Retry,
    {
        "attempts": (POSITIVE, "The most attempts of one execution, the first included."),
        "backoff": (
            record(
                Backoff,
                {
                    "kind": (words("none", "fixed", "exponential"), "How the wait grows."),
                    "milliseconds": (COUNT, "The first wait."),
                },
            ),
            "How long to wait before the next attempt.",
        ),
    },
)
_POLICY = words("retry-later", "skip", "fail", "ask")
ADMISSION = record(
    Admission,
    {
        "on_defer": (_POLICY, "What happens when the node is deferred."),
        "on_block": (_POLICY, "What happens when the node is blocked."),
        "defer": (TERMS, "What holds of the context when the node is deferred; nothing never defers."),
        "block": (TERMS, "What holds of the context when the node is blocked; nothing never blocks."),
    },
)
VALIDATION = record(
    Validation,
    {
        "conditions": (
            many(
                record(
                    Condition,
                    {
                        "validator": (name_in("validators", TEXT), "The validator."),
                        "params": (table(ANY), "The values of the parameters in its command."),
                    },
                )
            ),
            "The conditions, in this order; the first that fails counts.",
        ),
        "action": (words("retry", "abort", "skip"), "What a failure leads to."),
        "attempts": (POSITIVE, "The failure of this number ends the run as failed."),
        "prompts": (table(TEMPLATE), "The prompt of the next attempt, by failure pattern."),
    },
)

_SCHEDULE: Members = {
    "needs": (
        table(many(NODE_NAME), least=1, names=NODE_NAME),
        "The nodes, each with those that must have ended as done before it begins.",
    )
}
ENTRY = text_or(NODE_NAME, union(schedule=(Schedule, _SCHEDULE)))
TARGET = union(
    go=(
        Go,
        {
            "node": (NODE_NAME, "The next node."),
            "otherwise": (NODE_NAME, "The node that runs when that one cannot start."),
        },
    ),
    fork=(
        Fork,
        {
            "nodes": (_NODES, "The nodes that run together, in the order in which they start."),
            "join": (NODE_NAME, "The node that runs when all of them have ended as done."),
        },
    ),
    chain=(Chain, {"nodes": (_NODES, "The nodes that run one after the other.")}),
    named=(Named, {"nodes": (table(NODE_NAME, least=1), "The node that each answer means.")}),
    pick=(Pick, {"choices": (name_in("choices", TEXT), "What the plan calls the choices that an answer has.")}),
    schedule=(Schedule, _SCHEDULE),
    stop=(Stop, {"outcome": (member_of(Outcome), "How the scope, or the run, ends.")}),
)
NODE = record(
    Node,
    {
        "act": (ACT, "What it does."),
        "gate": (GATE, "How what came of it becomes an outcome."),
        "edges": (
            many(
                record(
                    Edge,
                    {
                        "on": (TEXT, "The outcome."),
                        "target": (TARGET, "Where it leads."),
                        "when": (TERMS, "What must hold of the result."),
                    },
                )
            ),
            "The moves from here; of those of one outcome the first counts whose terms all hold.",
        ),
        "kind": (_KINDS, "What kind of node it is."),
        "title": (TEXT, "What people call it."),
        "admission": (ADMISSION, "What must not hold of the context before it acts."),
        "retry": (RETRY, "How often it may act in one execution."),
        "validation": (VALIDATION, "What must hold before `closing` counts."),
        "hooks": (table(CALL, names=_PHASES), "Python callables, by the phase that they take part in."),
    },
)
