"""The codecs of nodes and of what nodes are made of besides acts: gates, edges and policies."""

from __future__ import annotations

from stagec.plan.act_codecs import ACT, TEMPLATE
from stagec.plan.codec import (
    ANY,
    CALL,
    COUNT,
    FLAG,
    NODE_NAME,
    PATH,
    POSITIVE,
    TEXT,
    TEXTS,
    many,
    member_of,
    name_in,
    table,
    text_or,
    words,
)
from stagec.plan.gate import (
    Admission,
    AgentGate,
    Among,
    Backoff,
    Check,
    Condition,
    Exists,
    ExitGate,
    IntentGate,
    JudgeGate,
    Reads,
    RestGate,
    Retry,
    StageGate,
    Validation,
    VerdictGate,
)
from stagec.plan.node import Chain, Edge, Fork, Go, Named, Node, Outcome, Pick, Schedule, Stop
from stagec.plan.record_codec import Members, record, union

_PHASES = words("setup", "gate", "assert", "exit")
_KINDS = words("work", "verification", "closure", "actionable", "terminal", "blocking")
_NODES = many(NODE_NAME, least=1)
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
    agent=(
        AgentGate,
        {
            "role": (words("transformer", "validator"), "Whether success and failure count, or the verdict."),
            "outcomes": (TEXTS, "The outcomes that count as themselves."),
            "otherwise": (TEXT, "The outcome that all others count as."),
            "verdicts": (FLAG, "Whether the verdict of a transformer that has failed counts, if it has one."),
        },
    ),
    rest=(RestGate, {"outcome": (TEXT, "The outcome.")}),
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
_CONDITIONS = many(
    record(
        Condition,
        {
            "validator": (name_in("validators", TEXT), "The validator."),
            "params": (table(ANY), "The values of the parameters in its command."),
        },
    )
)
VALIDATION = record(
    Validation,
    {
        "conditions": (_CONDITIONS, "The conditions, in this order; the first that fails counts."),
        "action": (words("retry", "abort", "skip"), "What a failure leads to."),
        "attempts": (POSITIVE, "The failure of this number ends the run as failed."),
        "prompts": (table(TEMPLATE), "The prompt of the next attempt, by failure pattern."),
        "every_outcome": (FLAG, "Whether they must hold before any outcome but `repeat` counts."),
        "preflight": (_CONDITIONS, "The conditions that must hold before the model is asked."),
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
