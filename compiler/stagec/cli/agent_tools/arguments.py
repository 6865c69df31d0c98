"""The arguments and the answers of the tools of `stagec mcp`: how they are declared and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import quote


def _object(**members: Json) -> Object:
    """Return the schema of an object that has all of some members and no others."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def _list(each: Json) -> Object:
    return {"type": "array", "items": each}


def _optional(schema: Object) -> Object:
    return {"anyOf": [schema, {"type": "null"}]}


_TEXT, _NUMBER, _FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
_NAME, _COUNT = {"type": ["string", "null"]}, {"type": ["integer", "null"]}
_NAMES = _list(_TEXT)
_NEXT = {"type": ["integer", "null"], "description": "The `offset` of what was not listed; null at the end."}
_AMOUNTS: Object = {
    "type": "object",
    "description": "Numbers, dollars as a text; null where nothing limits it.",
    "additionalProperties": {"type": ["integer", "string", "null"]},
}


_REMARK = _object(file=_TEXT, line=_NUMBER, column=_NUMBER, message=_TEXT)
_HUNK = {
    **_object(file=_TEXT, line=_NUMBER, old=_TEXT, new=_TEXT),
    "description": "The lines `old`, of which the first is `line`, become `new`.",
}
_FIX = _object(what=_TEXT, certain={**_FLAG, "description": "Whether the fix cannot change what the author meant."})
_FINDING: Object = {
    "type": "object",
    "properties": {
        "rule": _TEXT,
        "name": _TEXT,
        "severity": {"enum": ["error", "warning", "note"]},
        "file": _TEXT,
        "line": _NUMBER,
        "column": _NUMBER,
        "message": _TEXT,
        "fix": _optional(_FIX),
        "related": _list(_REMARK),
        "edits": _list(_HUNK),
    },
    "required": ["rule", "name", "severity", "file", "line", "column", "message", "fix"],
    "additionalProperties": False,
}
FINDINGS = _object(
    errors=_NUMBER,
    warnings=_NUMBER,
    notes=_NUMBER,
    files=_NUMBER,
    flows=_NAMES,
    found={**_NUMBER, "description": "The findings that were asked for; `findings` has a part of them."},
    findings=_list(_FINDING),
    next=_NEXT,
)


_RULE = {"rule": _TEXT, "name": _TEXT, "severity": _TEXT, "optional": _FLAG, "summary": _TEXT}
PAGE = _object(**_RULE, page={**_TEXT, "description": "Why the rule exists and how to fix its findings: Markdown."})
RULES = _object(found=_NUMBER, rules=_list(_object(**_RULE)), next=_NEXT)


_EDGE = _object(on=_TEXT, to=_NAMES, then=_NAME, end=_NAME, wait_milliseconds=_NUMBER)
_NODE: dict[str, Json] = {"node": _TEXT, "kind": _NAME, "file": _TEXT, "leads_to": _list(_EDGE)}
_FLOW = _object(flow=_TEXT, file=_TEXT, nodes=_NUMBER, starts=_NAMES, never_start=_NAMES, most_executions=_COUNT)
_WHOLE_NODE = _object(
    **_NODE,
    begins_runs=_FLAG,
    comes_from=_list(_object(**{"from": _TEXT, "on": _TEXT})),
    made_of=_list(_object(what=_TEXT, file=_TEXT)),
    reads=_list(_object(path=_TEXT, of=_NAMES)),
    tools=_NAMES,
)
FLOWS = _object(flows=_list(_FLOW), nodes=_list(_object(**_NODE)), node=_optional(_WHOLE_NODE), next=_NEXT)


DRAWING = _object(mermaid={**_TEXT, "description": "A flowchart for each flow, in the language of Mermaid."})


def _document(schema: str, flow: Object) -> Object:
    """Return the schema of a short answer for each flow, and of the whole document of a command."""
    whole = {
        "type": ["object", "null"],
        "description": f"With `details`, what `stagec {schema} --format json` prints; see `stagec schema {schema}`.",
    }
    return _object(flows=_list(flow), document=whole)


_ENTRY = _object(entry=_TEXT, most=_AMOUNTS, least=_AMOUNTS, cycles=_list(_NAMES))
BOUNDS = _document("bounds", _object(flow=_TEXT, bounded=_FLAG, entries=_list(_ENTRY), no_plan_because=_NAME))
PATHS = _document(
    "paths",
    _object(
        flow=_TEXT,
        percent={"type": "number"},
        runs=_list(_object(path=_NAMES, outcome=_TEXT)),
        missing=_list(_object(what=_TEXT, why=_TEXT)),
    ),
)
PERMISSIONS = _document(
    "permissions",
    _object(
        flow=_TEXT,
        nodes=_list(_object(node=_TEXT, mode=_NAME, limited=_FLAG, tools=_NAMES, unused_in_tests=_NAMES)),
    ),
)
CHANGES = _document(
    "diff",
    _object(flow=_TEXT, action=_NAME, changes=_list(_object(action=_TEXT, topic=_TEXT, node=_NAME, name=_NAME))),
)


T = TypeVar("T")


_TYPES: Mapping[str, type] = {"boolean": bool, "integer": int, "object": dict, "string": str}
MOST = 200
"""Members of a list that one answer has at most."""
_LARGEST = 10**9


@value
class Argument:
    """One argument: its type in JSON Schema, its meaning, and its default."""

    name: str
    type: str
    description: str
    default: Json = None
    is_required: bool = False
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> Object:
        """The schema of the value; an object has texts."""
        schema: dict[str, Json] = {"type": self.type, "description": self.description}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.default is not None:
            schema["default"] = self.default
        if self.type == "integer":
            schema |= {"minimum": 0, "maximum": _LARGEST}
        if self.type == "object":
            schema["additionalProperties"] = {"type": "string"}
        return schema

    def read(self, given: Json) -> Json:
        """Return a value of the right type; raise `Failure` for another one."""
        if given is None:
            return self.default
        fits = type(given) is _TYPES[self.type]
        if type(given) is int:
            fits = fits and 0 <= given <= _LARGEST
        if isinstance(given, dict):
            fits = fits and all(isinstance(each, str) for each in given.values())
        if not fits:
            wanted = "an object of texts" if self.type == "object" else f"of type {self.type}"
            raise Failure(f"the argument {quote(self.name)} must be {wanted}")
        if self.choices and given not in self.choices:
            raise Failure(f"the argument {quote(self.name)} must be one of {', '.join(self.choices)}")
        return given


def write_schema(arguments: Sequence[Argument]) -> Object:
    """Return the schema of all arguments of a tool."""
    return {
        "type": "object",
        "properties": {each.name: each.schema for each in arguments},
        "required": [each.name for each in arguments if each.is_required],
        "additionalProperties": False,
    }


def read_arguments(arguments: Sequence[Argument], given: Object) -> Mapping[str, Any]:
    """Return a value for each argument; raise `Failure` for one that is not known, is missing or has a wrong type."""
    known = [each.name for each in arguments]
    for name in given:
        if name not in known:
            near = hint(name, NameIndex(known)) or f"; there are {', '.join(known)}"
            raise Failure(f"there is no argument {quote(name)}{near}")
    missing = [each.name for each in arguments if each.is_required and given.get(each.name) is None]
    if missing:
        raise Failure(f"the argument {quote(missing[0])} is missing")
    return {each.name: each.read(given.get(each.name)) for each in arguments}


LIMIT = Argument("limit", "integer", f"The most that are listed, at most {MOST}.", 10)
OFFSET = Argument("offset", "integer", "How many to leave out at the beginning: the `next` of the answer before.", 0)
FLOW = Argument("flow", "string", "Only the flow with this id.")
TEXTS = Argument(
    "texts",
    "object",
    "Texts that stand for files, by path relative to the project: try an edit before you write it. Nothing is written.",
)


def cut(every: Sequence[T], given: Mapping[str, Any]) -> tuple[Sequence[T], int | None]:
    """Return the part of a list that was asked for, and where the next part begins; None at the end."""
    start, limit = given["offset"], min(MOST, given["limit"])
    end = start + limit
    return every[start:end], end if end < len(every) and limit else None
