"""How the values of a plan are read from JSON, written as JSON and described by a JSON Schema.

A codec does all three for one form of JSON; the codecs of larger values are made of those of their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from enum import StrEnum

from stagec.core.canonical import MOST
from stagec.core.json import Json
from stagec.core.place import Key
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.plan.act import (
    DEEPEST,
    Act,
    Carried,
    Command,
    Converse,
    Delegate,
    Process,
    Prompt,
    Repeat,
    Rest,
    Supply,
    Template,
    Text,
    inside,
)
from stagec.plan.document import Plan
from stagec.plan.node import Pick, Schedule, Target, list_begun, list_targets

TYPE_CHECKING = False  # the real one costs the import of `typing`

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ANY",
    "CALL",
    "CONTENT",
    "COUNT",
    "DIGEST",
    "FLAG",
    "NODE_NAME",
    "PATH",
    "POSITIVE",
    "TAG",
    "TEXT",
    "TEXTS",
    "TOO_DEEP",
    "Codec",
    "CodecError",
    "Definitions",
    "Known",
    "Reference",
    "bound",
    "dangling",
    "find_reached",
    "itself",
    "late",
    "leaf",
    "list_targets",
    "many",
    "member_of",
    "name_in",
    "plain",
    "table",
    "text_or",
    "words",
]


Reference = tuple[str, str]
"""The table of the plan in which something is looked up (`nodes`, `contents`, …), and the name."""


def dangling(plan: Plan) -> Iterator[Reference]:
    """Yield every reference to something that a plan does not contain, once each."""
    tables = {
        "nodes": plan.nodes,
        "contents": plan.contents,
        "validators": plan.validators,
        "tools": plan.tools,
        "servers": plan.servers,
        "entries": plan.entries,
        "choices": plan.choices,
        "plans": plan.plans,
    }
    for table, name in dict.fromkeys(_references(plan)):
        if name not in tables[table]:
            yield table, name


def find_reached(plan: Plan) -> tuple[str, ...]:
    """Return the nodes that some entry leads to, as runs come to them; linear."""
    found = dict.fromkeys(node for entry in plan.entries.values() for node in list_begun(entry))
    todo, left = list(found), dict(plan.choices)
    for name in todo:  # grows while it is walked
        for edge in plan.nodes[name].edges:
            shared = left.pop(edge.target.choices, {}) if type(edge.target) is Pick else {}
            fresh = [
                each for each in dict.fromkeys((*list_targets(edge.target), *shared.values())) if each not in found
            ]
            found |= dict.fromkeys(fresh)
            todo.extend(fresh)
    return tuple(found)


def _references(plan: Plan) -> Iterator[Reference]:
    for entry in plan.entries.values():
        yield from [("nodes", entry)] if isinstance(entry, str) else _of_target(entry)
    yield from (("nodes", node) for nodes in plan.choices.values() for node in nodes.values())
    if plan.entry is not None:
        yield "entries", plan.entry
    for node in plan.nodes.values():
        yield from _of_act(node.act)
        yield from (found for edge in node.edges for found in _of_target(edge.target))
        if node.validation is not None:
            yield from (("validators", each.validator) for each in node.validation.checked)
            for template in node.validation.prompts.values():
                yield from _of_template(template)
    yield from _contents(*(each.schema for each in plan.inputs.values()), *plan.plans.values())
    yield from (("nodes", name) for name in (plan.phases.labels if plan.phases is not None else ()))
    yield from _contents(*(each.schema for each in plan.tools.values()))
    yield from (("servers", each.server) for each in plan.tools.values() if each.server is not None)
    if plan.system is not None:
        yield from _of_template(plan.system.prompt)
        yield from _of_variables(plan.system.variables.values())


def _of_target(target: Target) -> Iterator[Reference]:
    yield from (("nodes", name) for name in list_targets(target))
    if type(target) is Pick:
        yield "choices", target.choices
    elif type(target) is Schedule:
        yield from (("nodes", name) for needed in target.needs.values() for name in needed)


def _of_act(act: Act) -> Iterator[Reference]:
    match act:
        case Prompt():
            asked: tuple[Prompt | Repeat, ...] = (act, *(act.repeats or ()))
            for each in asked:
                yield from _of_template(each.prompt or ())
                yield from _of_variables(each.variables.values())
            yield from _contents(act.schema)
            yield from (("tools", tool) for tool in act.tools or ())
        case Converse():
            yield from _of_template(act.prompt)
            yield from _contents(act.schema, act.accepts)
            yield from (("tools", tool) for tool in act.tools)
        case Command():
            yield from (found for word in act.words for found in _of_template(word))
        case Process():
            yield from (("nodes", each.node) for each in act.inputs.values() if each.node is not None)
        case Delegate():
            yield "plans", act.agent
            yield from (found for comment in act.comments.values() for found in _of_template(comment))
        case Rest():
            pass


def _of_template(template: Template) -> Iterator[Reference]:
    todo = [*template]
    for piece in todo:  # grows while it is walked
        if isinstance(piece, Text):
            yield "contents", piece.content
        todo.extend(inside(piece))


def _of_variables(supplies: Iterable[Supply]) -> Iterator[Reference]:
    yield from (("nodes", each.node) for each in supplies if isinstance(each, Carried))


def _contents(*names: str | None) -> Iterator[Reference]:
    yield from (("contents", name) for name in names if name is not None)


Definitions = dict[str, Json]
Known = Mapping[str, Container[str]]
"""The names that a plan has: those of its `nodes`, of its `contents`, and so on."""
TAG = "is"
"""The member that says which of several classes an object is."""


class CodecError(Exception):
    """Some JSON is not what its codec reads; `way` leads to it from the root, the last key first."""

    def __init__(self, reason: str, *way: Key) -> None:
        super().__init__(reason)
        self.reason = reason
        self.way = list(way)


@value
class Codec:
    """Reads, writes and describes one form of JSON.

    `read(given, known)` makes the value or raises `CodecError`; `write(value)` makes the JSON again.
    `describe(definitions)` returns its JSON Schema, and puts what is worth a name into `definitions`. `plain` is a
    Python type all of whose JSON values are read as they are: then `read` need not be called.
    """

    read: Callable[[Any, Known], Any]
    write: Callable[[Any], Json]
    describe: Callable[[Definitions], Json]
    plain: type | None = None


def itself(given: Any) -> Any:
    """Return what was given: many values of a plan are their own JSON."""
    return given


def leaf(fits: Callable[[Any], bool], expected: str, schema: Mapping[str, Json]) -> Codec:
    """Return the codec of JSON that is its own value: whether it fits, what is expected, and its schema."""

    def read(given: Any, _: Known) -> Any:
        if fits(given):
            return given
        raise CodecError(f"expected {expected}")

    return Codec(read, itself, lambda _: schema)


def plain(kind: type, expected: str, schema: Mapping[str, Json]) -> Codec:
    """Return the codec of every JSON value of one Python type."""
    return replace(leaf(lambda given: type(given) is kind, expected, schema), plain=kind)


def name_in(table: str, codec: Codec) -> Codec:
    """Return the codec of a text that names something in a table of the plan; no other text is accepted."""

    def read(given: Any, known: Known) -> Any:
        if type(given) is str and given in known[table]:
            return given
        raise CodecError(f"refers to {quote(codec.read(given, known))}, which the plan does not have in '{table}'")

    return replace(codec, read=read, plain=None)


def words(*known: str) -> Codec:
    """Return the codec of a text that is one of a few."""
    return _choose({each: each for each in known}, itself)


def member_of(known: Iterable[StrEnum]) -> Codec:
    """Return the codec of a member of an enumeration, or of one of some of its members."""
    return _choose({each.value: each for each in known}, str)


def _choose(choices: Mapping[str, Any], write: Callable[[Any], Json]) -> Codec:
    def read(given: Any, _: Known) -> Any:
        if type(given) is str and given in choices:
            return choices[given]
        raise CodecError(f"expected {' or '.join(map(repr, choices))}")

    return Codec(read, write, lambda _: {"enum": list(choices)})


def many(codec: Codec, least: int = 0) -> Codec:
    """Return the codec of a list with at least so many elements, which is read as a tuple."""
    plain, read_one, write_one = codec.plain, codec.read, codec.write
    expected = f"expected a list with at least {least}" if least else "expected a list"

    def read(given: Any, known: Known) -> tuple[Any, ...]:
        if type(given) is not list or len(given) < least:
            raise CodecError(expected)
        made: list[Any] = []
        keep = made.append
        try:
            for each in given:
                keep(each if type(each) is plain else read_one(each, known))
        except CodecError as error:
            error.way.append(len(made))
            raise
        return tuple(made)

    def describe(found: Definitions) -> Json:
        return {"type": "array", "items": codec.describe(found), **({"minItems": least} if least else {})}

    return Codec(read, lambda given: [write_one(each) for each in given], describe)


def table(codec: Codec, least: int = 0, names: Codec | None = None) -> Codec:
    """Return the codec of an object with at least so many members, all with one codec; `names` reads their names."""
    plain, read_one, write_one = codec.plain, codec.read, codec.write
    expected = f"expected an object with at least {least}" if least else "expected an object"

    def read(given: Any, known: Known) -> dict[str, Any]:
        if type(given) is not dict or len(given) < least:
            raise CodecError(expected)
        made: dict[str, Any] = {}
        name = ""
        try:
            if names is not None:
                for name in given:
                    names.read(name, known)
            for name, each in given.items():
                made[name] = each if type(each) is plain else read_one(each, known)
        except CodecError as error:
            error.way.append(name)
            raise
        return made

    def describe(found: Definitions) -> Json:
        most = {"minProperties": least} if least else {}
        named = {} if names is None else {"propertyNames": names.describe(found)}
        return {"type": "object", "additionalProperties": codec.describe(found), **named, **most}

    return Codec(read, lambda given: {name: write_one(each) for name, each in given.items()}, describe)


def text_or(text: Codec, other: Codec) -> Codec:
    """Return the codec of what is a text with one codec, or anything else with the other."""
    return Codec(
        lambda given, known: (text if type(given) is str else other).read(given, known),
        lambda given: (text if type(given) is str else other).write(given),
        lambda found: {"oneOf": [text.describe(found), other.describe(found)]},
    )


def late(codec: Callable[[], Codec]) -> Codec:
    """Return a codec that is looked up when it is first needed, because it contains itself."""
    return Codec(
        lambda given, known: codec().read(given, known),
        lambda given: codec().write(given),
        lambda found: codec().describe(found),
    )


def bound(codec: Codec, is_within: Callable[[Any], bool], reason: str) -> Codec:
    """Return a codec that accepts only what is within a bound; the bound keeps recursive readers within the stack."""

    def read(given: Any, known: Known) -> Any:
        try:
            made = codec.read(given, known)
        except RecursionError:
            raise CodecError(reason) from None
        if is_within(made):
            return made
        raise CodecError(reason)

    def write(given: Any) -> Json:
        if is_within(given):
            return codec.write(given)
        raise CodecError(reason)

    return Codec(read, write, codec.describe)


TOO_DEEP = f"is nested more than {DEEPEST} deep"
_DIGITS = "0123456789abcdef"
_NESTING = {dict, list, tuple}
_PREFIX = "sha256:"
_DIGEST_LENGTH = len(_PREFIX) + 64


def _digest(given: Any, _: Known) -> str:
    if type(given) is str and len(given) == _DIGEST_LENGTH and given[:7] == _PREFIX and not given[7:].strip(_DIGITS):
        return given
    raise CodecError("expected 'sha256:' and 64 hexadecimal digits")


def _digest_schema(_: Definitions) -> Json:
    return {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}


def _path(given: Any, _: Known) -> tuple[str | int, ...]:
    if type(given) is list:
        for each in given:
            if type(each) is not str and not (type(each) is int and 0 <= each <= MOST):
                break
        else:
            return tuple(given)
    raise CodecError("expected a path of names and indexes")


def _path_schema(_: Definitions) -> Json:
    return {"type": "array", "items": {"type": ["string", "integer"], "minimum": 0, "maximum": MOST}}


def _is_shallow(given: Any) -> bool:
    level = [given]
    for _ in range(DEEPEST + 1):
        level = [each for each in level if type(each) in _NESTING]
        if not level:
            return True
        level = [inner for each in level for inner in (each.values() if type(each) is dict else each)]
    return False


ANY = bound(Codec(lambda given, _: given, itself, lambda _: True), _is_shallow, TOO_DEEP)
TEXT = plain(str, "a text", {"type": "string"})
FLAG = plain(bool, "true or false", {"type": "boolean"})
COUNT = leaf(
    lambda given: type(given) is int and 0 <= given <= MOST,
    "a whole number that is not negative",
    {"type": "integer", "minimum": 0, "maximum": MOST},
)
POSITIVE = leaf(
    lambda given: type(given) is int and 0 < given <= MOST,
    "a whole number greater than 0",
    {"type": "integer", "minimum": 1, "maximum": MOST},
)
CALL = leaf(
    lambda given: type(given) is str and given.count(":") == 1,
    "a callable, 'package.module:function'",
    {"type": "string", "pattern": "^[^:]*:[^:]*$"},
)
DIGEST = Codec(_digest, itself, _digest_schema)
PATH = Codec(_path, list, _path_schema)
TEXTS = many(TEXT)
CONTENT = name_in("contents", DIGEST)
NODE_NAME = name_in("nodes", TEXT)
