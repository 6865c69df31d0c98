"""The form of every part of a plan: the one table that is read, written, published and documented."""

from __future__ import annotations

from typing import Any

from stagec.plan.act import Carried, Command, Converse, Given, Prompt, Provided
from stagec.plan.form import AnyForm, Form, itself, late, leaf, many, member_of, plain, table, words
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
    Validation,
    VerdictGate,
)
from stagec.plan.node import Chain, Edge, Fork, Go, Named, Node, Outcome, Stop
from stagec.plan.record import record, tagged, union
from stagec.plan.template import Choice, Each, Hole, Text

_MOST = 2**53 - 1
_TEXT_ONLY = {str}
_DIGITS = "0123456789abcdef"
_DIGEST_LENGTH = len("sha256:") + 64


def _is_digest(given: Any) -> bool:
    if type(given) is not str or len(given) != _DIGEST_LENGTH:
        return False
    return given[:7] == "sha256:" and not given[7:].strip(_DIGITS)


def _is_path(given: Any) -> bool:
    return type(given) is list and all(
        type(each) is str or (type(each) is int and 0 <= each <= _MOST) for each in given
    )


def _is_call(given: Any) -> bool:
    return type(given) is str and given.count(":") == 1


ANY = Form(itself, itself, lambda _: True)
TEXT = plain(str, "a text", {"type": "string"})
FLAG = plain(bool, "true or false", {"type": "boolean"})
COUNT = leaf(
    lambda given: type(given) is int and 0 <= given <= _MOST,
    "a whole number that is not negative",
    {"type": "integer", "minimum": 0, "maximum": _MOST},
)
POSITIVE = leaf(
    lambda given: type(given) is int and 0 < given <= _MOST,
    "a whole number greater than 0",
    {"type": "integer", "minimum": 1, "maximum": _MOST},
)
DIGEST = leaf(_is_digest, "'sha256:' and 64 hexadecimal digits", {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
CALL = leaf(_is_call, "a callable, 'package.module:function'", {"type": "string", "pattern": "^[^:]*:[^:]*$"})
_PATH = leaf(
    _is_path,
    "a path of names and indexes",
    {"type": "array", "items": {"type": ["string", "integer"], "minimum": 0, "maximum": _MOST}},
)
PATH: AnyForm = Form(lambda given: tuple(_PATH.read(given)), list, _PATH.describe)
TEXTS = many(TEXT)
PHASES = ("setup", "gate", "assert", "exit")

_PIECES: list[AnyForm] = []
TEMPLATE = many(late(lambda: _PIECES[0]))
_PIECES.append(
    union(
        text=tagged("text", Text, {"content": (DIGEST, "The content that stands here.")}),
        hole=tagged("hole", Hole, {"path": (PATH, "The path, in the scope, of the value that is put in here.")}),
        each=tagged(
            "each",
            Each,
            {
                "path": (PATH, "The path of the list."),
                "body": (TEMPLATE, "What is repeated for each element, which is `this` in its scope."),
            },
        ),
        choice=tagged(
            "choice",
            Choice,
            {
                "path": (PATH, "The path of the value that is asked for."),
                "then": (TEMPLATE, "What stands here when there is something."),
                "otherwise": (TEMPLATE, "What stands here when there is nothing."),
            },
        ),
    )
)

SUPPLY = union(
    given=tagged("given", Given, {"name": (TEXT, "The input of the run.")}),
    provided=tagged("provided", Provided, {"name": (TEXT, "The variable of the runner.")}),
    carried=tagged(
        "carried",
        Carried,
        {
            "node": (TEXT, "The node whose last result it is taken from."),
            "key": (TEXT, "The key of its hand-off."),
            "required": (FLAG, "Whether the node cannot start without it."),
            "default": (ANY, "The value when there is none; null is no default."),
        },
    ),
)
VARIABLES = table(SUPPLY)

ACT = union(
    prompt=tagged(
        "prompt",
        Prompt,
        {
            "prompt": (TEMPLATE, "The prompt; absent when the runner must have it."),
            "builtin": (TEXT, "The name under which the runner may have the prompt when there is none here."),
            "variables": (VARIABLES, "Where each variable of the prompt comes from."),
            "needed": (TEXTS, "The variables that must be there and not be empty."),
            "schema": (DIGEST, "The JSON Schema of the answer."),
            "tools": (TEXTS, "The tools that the model may use; absent when the plan does not say."),
            "model": (TEXT, "The model that is asked; absent when the plan does not say."),
            "permission": (TEXT, "The permission mode of the model's tools; absent when the plan does not say."),
        },
    ),
    converse=tagged(
        "converse",
        Converse,
        {
            "prompt": (TEMPLATE, "The system prompt of a fresh transcript, made once."),
            "tools": (TEXTS, "The tools that may be called without asking."),
            "completion": (TEXT, "The name of the completion tool."),
            "schema": (DIGEST, "The JSON Schema of the completion tool's argument."),
            "turns": (POSITIVE, "The most turns of the model in one attempt."),
            "accepts": (DIGEST, "The JSON Schema of each result that the node is handed."),
        },
    ),
    command=tagged(
        "command",
        Command,
        {
            "words": (many(TEMPLATE), "The program and its arguments, each a template over the inputs of the run."),
            "milliseconds": (POSITIVE, "After how long it is stopped."),
        },
    ),
)

TERM = union(
    among=tagged(
        "among",
        Among,
        {"path": (PATH, "The path in the result."), "values": (many(ANY), "The values of which one must be there.")},
    ),
    reads=tagged(
        "reads",
        Reads,
        {"path": (PATH, "The path in the result."), "texts": (TEXTS, "The texts of which one must be read there.")},
    ),
    exists=tagged(
        "exists",
        Exists,
        {"path": (PATH, "The path in the result."), "present": (FLAG, "Whether there must be a value, or none.")},
    ),
)
TERMS = many(TERM)

GATE = union(
    intent=tagged(
        "intent",
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
    verdict=tagged(
        "verdict",
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
    judge=tagged("judge", JudgeGate, {}),
    exit=tagged("exit", ExitGate, {}),
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
                        "validator": (TEXT, "The validator."),
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

TARGET = union(
    go=tagged(
        "go",
        Go,
        {"node": (TEXT, "The next node."), "otherwise": (TEXT, "The node that runs when that one cannot start.")},
    ),
    fork=tagged(
        "fork",
        Fork,
        {
            "nodes": (TEXTS, "The nodes that run together, in the order in which they start."),
            "join": (TEXT, "The node that runs when all of them have ended as done."),
        },
    ),
    chain=tagged("chain", Chain, {"nodes": (TEXTS, "The nodes that run one after the other.")}),
    named=tagged("named", Named, {"nodes": (table(TEXT), "The node that each answer means.")}),
    stop=tagged("stop", Stop, {"outcome": (member_of(Outcome), "How the scope, or the run, ends.")}),
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
        "kind": (TEXT, "What kind of node it is: `work`, `verification` or `closure`."),
        "title": (TEXT, "What people call it."),
        "admission": (ADMISSION, "What must not hold of the context before it acts."),
        "retry": (RETRY, "How often it may act in one execution."),
        "validation": (VALIDATION, "What must hold before `closing` counts."),
        "hooks": (table(CALL), "Python callables by phase: `setup`, `gate`, `assert`, `exit`."),
    },
)
