"""The codec of a whole plan, and the JSON Schema that is published of it."""

from __future__ import annotations

from stagec.core.json import Json, object_of
from stagec.plan.codec import (
    ANY,
    CALL,
    CONTENT,
    COUNT,
    DIGEST,
    FLAG,
    NODE_NAME,
    POSITIVE,
    TEXT,
    TEXTS,
    Definitions,
    many,
    member_of,
    name_in,
    table,
    words,
)
from stagec.plan.document import FORMAT, Facts, Input, Judge, Limits, Names, Phases, Plan, System
from stagec.plan.node import Outcome
from stagec.plan.node_codecs import ENTRY, NODE, TEMPLATE, VARIABLES, record
from stagec.plan.surroundings import LoopHook, Server, Session, Success, Tool, Validator

_VALIDATOR = record(
    Validator,
    {
        "command": (TEXT, "The command, for `sh -c`; `${name}` stands for a parameter."),
        "success": (
            record(
                Success,
                {
                    "kind": (words("empty", "exit", "contains", "matches"), "What is looked at."),
                    "argument": (TEXT, "The exit status, the text or the regular expression."),
                },
            ),
            "When it has succeeded.",
        ),
        "pattern": (TEXT, "The failure pattern of its failure."),
        "extract": (table(TEXT), "The extractor of each value that the next prompt uses."),
    },
)
_TOOL = record(
    Tool,
    {
        "origin": (words("bundled", "discovered", "mcp", "unknown"), "Where it comes from."),
        "effects": (words("read", "mutating", "unknown"), "What calling it may do."),
        "server": (name_in("servers", TEXT), "The MCP server that offers it."),
        "schema": (CONTENT, "The JSON Schema of its argument."),
        "digest": (DIGEST, "The digest of that schema, as the lock of the tools has it."),
        "description": (TEXT, "What the tool does, in words for models."),
        "command": (TEXTS, "The program that carries calls out, and its arguments."),
        "described": (DIGEST, "The digest of its description, as the lock of the tools has it."),
    },
)
_SERVER = record(
    Server,
    {
        "launch": (DIGEST, "The digest of how it is started, as the lock of the tools has it."),
        "command": (TEXT, "The program that is started."),
        "args": (TEXTS, "Its arguments."),
        "cwd": (TEXT, "The folder it is started in, relative to the catalogue's."),
        "environment": (TEXTS, "The names of the environment variables it is given."),
        "url": (TEXT, "Its address."),
        "headers": (TEXTS, "The names of the headers it is sent."),
    },
)
_STAGES = words("RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL", "RENDER")
_SESSION = record(
    Session,
    {
        "mode": (words("ask", "allowlist", "yolo"), "The security mode outside nodes."),
        "hooks": (
            many(
                record(
                    LoopHook,
                    {
                        "stage": (_STAGES, "The stage of the message loop."),
                        "when": (words("pre", "post"), "Before or after it."),
                        "kind": (words("transform", "guard", "observer"), "What the callable may do."),
                        "call": (CALL, "The callable."),
                    },
                )
            ),
            "Callables at stages of the message loop, in the order in which they are called.",
        ),
    },
)
_FACTS = record(
    Facts,
    {
        "done": (TEXTS, "The nodes with an edge that ends a scope or the run as done, sorted."),
        "failed": (TEXTS, "The nodes with an edge that ends a scope or the run as failed, sorted."),
        "cycles": (many(TEXTS), "The largest sets of nodes that lead back into themselves, sorted."),
        "executions": (COUNT, "The most node executions of a run."),
        "turns": (COUNT, "The most turns of models in a run."),
        "interrupted": (TEXTS, "The nodes with an edge that ends a scope or the run as interrupted, sorted."),
        "blocked": (TEXTS, "The nodes with an edge that ends the run as blocked, sorted."),
    },
)
_INPUT = record(
    Input,
    {
        "required": (FLAG, "Whether a run cannot start without it."),
        "default": (ANY, "The value when none is given; null is no default."),
        "schema": (CONTENT, "The JSON Schema of its value."),
    },
)
_LIMITS = record(
    Limits,
    {
        "executions": (POSITIVE, "The most node executions of a run; absent where no node can repeat."),
        "reached": (member_of((Outcome.DONE, Outcome.FAILED)), "How the run ends when another one would begin."),
        "parallel": (POSITIVE, "How many nodes may run at the same time."),
    },
)
_PHASES = record(
    Phases,
    {
        "most": (POSITIVE, "The most transitions of a run."),
        "row": (COUNT, "The most transitions to the same phase, one after the other; 0 is any number."),
        "pause": (COUNT, "How many milliseconds pass between two phases."),
        "labels": (
            table(TEXTS, names=NODE_NAME),
            "The labels of an issue by phase; the first is the one written down.",
        ),
        "ordering": (TEXTS, "The other labels that are removed when a run is completed."),
    },
)

PLAN = record(
    Plan,
    {
        "id": (TEXT, "The name of the flow."),
        "names": (
            record(
                Names,
                {"node": (TEXT, "What a node is called."), "outcome": (TEXT, "What an outcome is called.")},
            ),
            "What the system calls things.",
        ),
        "entries": (table(ENTRY, least=1), "The node or the schedule with which a run begins, by what selects it."),
        "nodes": (table(NODE), "The nodes, by id."),
        "contents": (
            table(TEXT, names=DIGEST),
            "Prompts and schemas, each under `sha256:` and the digest of its UTF-8 bytes.",
        ),
        "limits": (_LIMITS, "The bounds of a run."),
        "entry": (name_in("entries", TEXT), "What selects the entry when nobody says."),
        "title": (TEXT, "What people call the flow."),
        "version": (TEXT, "The version of the flow."),
        "choices": (table(table(NODE_NAME, least=1)), "The node that each answer means, by what targets call these."),
        "inputs": (table(_INPUT), "What a run is given."),
        "system": (
            record(
                System,
                {
                    "prompt": (TEMPLATE, "The system prompt."),
                    "variables": (VARIABLES, "Where each of its variables comes from."),
                },
            ),
            "The system prompt of every node that prompts.",
        ),
        "judge": (
            record(
                Judge,
                {"kind": (TEXT, "The verdict type."), "settings": (table(ANY), "Its settings.")},
            ),
            "How it is judged that the work is done.",
        ),
        "validators": (table(_VALIDATOR), "The validators, by name."),
        "tools": (table(_TOOL), "The tools that nodes use, by name."),
        "servers": (table(_SERVER), "The MCP servers that these tools come from, by name."),
        "session": (_SESSION, "What holds outside nodes."),
        "sources": (
            table(DIGEST),
            "The digest of every file of the plan, by its path from the file of the flow.",
        ),
        "facts": (_FACTS, "What is proved of every run."),
        "plans": (table(CONTENT), "The plans of the agents that nodes run, by name; each is a payload (§ 1)."),
        "phases": (_PHASES, "What holds of a run of phases; there when nodes run agents."),
    },
    FORMAT,
)
"""The codec of a plan. Its tag is the format, so that it refuses a plan of another format."""


def schema() -> Json:
    """Return the JSON Schema of the file of a plan: of the frame and of what is inside it."""
    found: Definitions = {}
    plan = object_of(PLAN.describe(found))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:stagec:schema:plan",
        "title": FORMAT,
        "description": "One flow, frozen; docs/plan-format.md says what each part means and what no schema can say.",
        "type": "object",
        "properties": {
            "digest": {"description": "The digest of the bytes of the plan.", **object_of(DIGEST.describe(found))},
            "plan": {"description": "The plan, as RFC 8785 writes it.", **plan},
        },
        "required": ["digest", "plan"],
        "additionalProperties": False,
        "$defs": dict(sorted(found.items())),
    }
