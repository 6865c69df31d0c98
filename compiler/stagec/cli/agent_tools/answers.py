"""The schemas of what tools answer."""

from __future__ import annotations

from stagec.core.json import Json, Object


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

_EDGE = _object(on=_TEXT, to=_NAMES, then=_NAME, end=_NAME)
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
