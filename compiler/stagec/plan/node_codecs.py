"""JSON of nodes, their acts and gates: how it is written and read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stagec.core.json import Json, object_of
from stagec.core.value import value
from stagec.plan.act import (
    Carried,
    Choice,
    Command,
    Converse,
    Delegate,
    Each,
    Given,
    Hole,
    Process,
    ProcessInput,
    ProcessLimits,
    Prompt,
    Provided,
    Repeat,
    Rest,
    Text,
    is_shallow,
)
from stagec.plan.codec import (
    ANY,
    CALL,
    CONTENT,
    COUNT,
    FLAG,
    NODE_NAME,
    PATH,
    POSITIVE,
    TAG,
    TEXT,
    TEXTS,
    TOO_DEEP,
    Codec,
    CodecError,
    Definitions,
    Known,
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

Members = Mapping[str, tuple[Codec, str]]
"""What an object holds: for each field of the class its codec and one sentence about it."""


@value
class _Field:
    """One member: its name in JSON, its codec, its description, and its default."""

    attribute: str
    name: str
    codec: Codec
    about: str
    is_needed: bool
    default: Any


@value
class _Record:
    """What the values of a class are written as: their members, and the tag that tells the class from others."""

    kind: type
    fields: tuple[_Field, ...]
    tag: str | None

    def make_writer(self) -> Callable[[Any], Json]:
        """Return what writes values of the class."""
        tag = self.tag
        steps = [(each.name, each.attribute, each.codec.write, each.is_needed, each.default) for each in self.fields]

        def write(given: Any) -> Json:
            made: dict[str, Json] = {} if tag is None else {TAG: tag}
            for name, attribute, inner, is_needed, default in steps:
                held = getattr(given, attribute)
                if is_needed or (held is not default and held != default):
                    made[name] = inner(held)
            return made

        return write


def record(kind: type, members: Members, tag: str | None = None) -> Codec:
    """Return the codec of the values of a class. A member that has its default is not written.

    `members` names every field. With a `tag`, the object says that it is of this class; whoever reads it has looked.
    """
    defaults: Mapping[str, Any] = kind.__dict__["_defaults"]
    fields = (
        _Field(name, camel(name), codec, about, name not in defaults, defaults.get(name))
        for name, (codec, about) in members.items()
    )
    made = _Record(kind, tuple(fields), tag)
    return Codec(_Reader(made).read, made.make_writer(), lambda found: _define(found, made))


def union(**kinds: tuple[type, Members]) -> Codec:
    """Return the codec of what is of one of several classes; the tag tells which."""
    variants = {tag: record(kind, members, tag) for tag, (kind, members) in kinds.items()}
    tags = {kind: tag for tag, (kind, _) in kinds.items()}
    readers = {tag: codec.read for tag, codec in variants.items()}

    def read(given: Any, known: Known) -> Any:
        try:
            chosen = readers[given[TAG]]
        except (KeyError, TypeError):  # no such tag, no tag, no text, no object
            expected = " or ".join(map(repr, kinds))
            raise CodecError(f"expected an object whose '{TAG}' is {expected}") from None
        return chosen(given, known)

    def describe(found: Definitions) -> Json:
        return {"oneOf": [codec.describe(found) for codec in variants.values()]}

    return Codec(read, lambda given: variants[tags[type(given)]].write(given), describe)


def camel(name: str) -> str:
    """Return the name of a member in JSON: `fail_fast` is `failFast`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


class _Reader:
    """Reads objects: most of the time that reading a plan takes goes here."""

    def __init__(self, record: _Record) -> None:
        steps = [(each, each.attribute, each.codec.plain, each.codec.read) for each in record.fields]
        self._kind, self._fields = record.kind, record.fields
        self._needed = [(each.name, to, plain, read) for each, to, plain, read in steps if each.is_needed]
        self._optional = [(each.name, to, plain, read) for each, to, plain, read in steps if not each.is_needed]
        self._least = len(self._needed) + (record.tag is not None)

    def read(self, given: Any, known: Known) -> Any:
        if type(given) is not dict:
            raise CodecError("expected an object")
        made, name, left = dict[str, Any](), "", len(given) - self._least
        try:
            for name, attribute, plain, inner in self._needed:
                held = given[name]
                made[attribute] = inner(held, known) if plain is None or type(held) is not plain else held
            for name, attribute, plain, inner in self._optional:
                if not left:
                    break
                if name in given:
                    held = given[name]
                    made[attribute] = inner(held, known) if plain is None or type(held) is not plain else held
                    left -= 1
        except CodecError as error:
            error.way.append(name)
            raise
        except KeyError as error:
            raise CodecError(f"lacks '{name}'") from error
        if left:
            raise CodecError("is not a member of this object", self._find_foreign(given))
        return self._kind(**made)

    def _find_foreign(self, given: Iterable[str]) -> str:
        """Return a member of an object that the class does not have."""
        known = {TAG, *(each.name for each in self._fields)}
        return next((name for name in given if name not in known), TAG)


def _define(found: Definitions, record: _Record) -> Json:
    """Put the schema of a class into the definitions, once, and return a reference to it."""
    name = record.kind.__name__
    if name not in found:
        found[name] = None  # a class may be inside itself
        found[name] = _schema(found, record)
    return {"$ref": f"#/$defs/{name}"}


def _schema(found: Definitions, record: _Record) -> Json:
    properties: dict[str, Json] = {}
    for each in record.fields:
        member = {"description": each.about, **object_of(each.codec.describe(found))}
        if not each.is_needed and each.default not in (None, "", (), {}):
            member["default"] = each.codec.write(each.default)
        properties[each.name] = member
    needed = [each.name for each in record.fields if each.is_needed]
    if record.tag is not None:
        properties = {TAG: {"description": "Which of several kinds it is.", "const": record.tag}, **properties}
        needed = [TAG, *needed]
    return {
        "title": record.kind.__name__,
        "description": (record.kind.__doc__ or "").partition("\n\n")[0],
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }


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
