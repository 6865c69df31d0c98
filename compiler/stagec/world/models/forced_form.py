"""Requests to models that know neither tools nor schemas: a form that each response is forced to have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json, Object, object_of
from stagec.core.json_reader import UnreadableError, read_json
from stagec.core.value import value
from stagec.world.models.port import ModelCall, ModelMessage, ModelRequest
from stagec.world.request_json import OPENING

_ANSWER = "answer"
_ANY: Object = {"type": "object"}


@value
class ForcedForm:
    """What a response may be: one of several calls, each with arguments by its own schema, or the answer itself.

    Where only one thing can be said, the response is that, without its name. A model that may call tools must call one:
    prose would only cost a turn.
    """

    schemas: Mapping[str, Object]
    answers: bool = False
    """Whether the last one is the answer, which is handed in and not called."""

    @property
    def schema(self) -> Object | None:
        """The schema of a response; nothing if it is any text."""
        if not self.schemas:
            return None
        if len(self.schemas) == 1:
            (only,) = self.schemas.values()
            return _adapt({"type": "object", **only})
        return {"anyOf": [_name(tool, schema, index) for index, (tool, schema) in enumerate(self.schemas.items())]}

    def loosen(self) -> ForcedForm:
        """Return the form that says less: any object in place of each schema."""
        return ForcedForm(dict.fromkeys(self.schemas, _ANY), self.answers)

    def write(self, call: ModelCall) -> str:
        """Return a call as the model has written it."""
        told: Json = call.arguments if len(self.schemas) == 1 else {_TOOL: call.tool, _ARGUMENTS: call.arguments}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str, name: str) -> ModelCall | None:
        """Return what a response calls, under a name of its own; nothing if it is no object."""
        try:
            told = read_json(text)
        except UnreadableError:
            return None
        if not isinstance(told, dict):
            return None
        if len(self.schemas) == 1:
            return ModelCall(name, next(iter(self.schemas)), told)
        tool, arguments = told.get(_TOOL), told.get(_ARGUMENTS)
        return ModelCall(name, tool, object_of(arguments)) if isinstance(tool, str) else None

    def is_answer(self, call: ModelCall) -> bool:
        """Tell whether a call hands in the answer."""
        return self.answers and call.tool == tuple(self.schemas)[-1]


_TOOL, _ARGUMENTS = "tool", "arguments"


def choose_form(request: ModelRequest) -> ForcedForm:
    """Return the form of the response to a request."""
    schemas = {each.name: each.schema if isinstance(each.schema, Mapping) else _ANY for each in request.tools}
    if request.output is None:
        return ForcedForm(schemas)
    name = _ANSWER if _ANSWER not in schemas else f"{_ANSWER}_"
    return ForcedForm({**schemas, name: request.output}, answers=True)


def list_messages(request: ModelRequest, form: ForcedForm) -> list[Json]:
    """Return the messages of a request as any chat template takes them: those of one side in a row are one message.

    Where only one thing can be said, nobody needs to be told to begin, and a prompt alone is what the user says: small
    models heed that most.
    """
    opening = OPENING.format(request.tools[0].name) if len(form.schemas) == 1 and request.tools else None
    said = [each for each in request.messages if each.text != opening]
    if {each.role for each in said} == {"system"}:
        said = [ModelMessage("user", each.text) for each in said]
    texts: list[tuple[str, str]] = []
    for each in said:
        role, text = "user" if each.role == "tool" else each.role, _write_message(each, form)
        if texts and texts[-1][0] == role:
            texts[-1] = (role, f"{texts[-1][1]}\n\n{text}")
        else:
            texts.append((role, text))
    listed = _describe(request, form)
    if listed and texts and texts[0][0] == "system":
        texts[0] = ("system", f"{texts[0][1]}\n\n{listed}")
    elif listed:
        texts.insert(0, ("system", listed))
    return [{"role": role, "content": text} for role, text in texts]


def _write_message(message: ModelMessage, form: ForcedForm) -> str:
    if message.role == "tool":
        return f"Result of {message.tool}: {message.text}"
    return "\n".join((*([message.text] if message.text else []), *map(form.write, message.calls)))


def _describe(request: ModelRequest, form: ForcedForm) -> str:
    """Return what the model is told of the tools, of which there are several."""
    if len(form.schemas) == 1:
        return ""
    about = {each.name: each.description for each in request.tools}
    lines = (
        f"- {name}({', '.join(object_of(schema.get('properties')))}): {about.get(name, 'Hand in the answer.')}"
        for name, schema in form.schemas.items()
    )
    return "\n".join(("Each message of yours calls one of these:", *lines)) if form.schemas else ""


def _name(tool: str, schema: Object, index: int) -> Object:
    """Return the schema of a call: references inside the schema of its arguments lead to where that is now."""
    arguments = _adapt({"type": "object", **schema}, f"#/anyOf/{index}/properties/{_ARGUMENTS}")
    return {
        "type": "object",
        "properties": {_TOOL: {"const": tool}, _ARGUMENTS: arguments},
        "required": [_TOOL, _ARGUMENTS],
        "additionalProperties": False,
    }


_TEXT, _ITEMS = 200, 8
"""Characters of a text, and elements of a list, that has no bound: small models do not find an end themselves."""
_PLAIN = {"const", "default", "enum", "examples"}
"""Members of a schema that hold values and no schemas."""
_NAMED = {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
"""Members that hold schemas by names, which may be any."""


def _adapt(schema: Object, top: str = "#") -> Object:
    """Return a schema in which nothing is without end, and whose references begin at another place."""
    adapted: dict[str, Any] = json.loads(json.dumps(schema))
    left: list[Any] = [adapted]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            _bound(each)
            if isinstance(each.get("$ref"), str) and each["$ref"].startswith("#"):
                each["$ref"] = top + each["$ref"][1:]
            left += [inner for name, inner in each.items() if name not in _PLAIN | _NAMED]
            named = [each[name] for name in sorted(_NAMED) if isinstance(each.get(name), dict)]
            left += [inner for members in named for inner in members.values()]
        elif isinstance(each, list):
            left += each
    return adapted


def _bound(schema: dict[str, Any]) -> None:
    least = schema.get("minLength", schema.get("minItems", 0))
    least = least if isinstance(least, int) else 0
    if schema.get("type") == "string" and not {"maxLength", "pattern", "format", *_PLAIN} & {*schema}:
        schema["maxLength"] = max(_TEXT, least)
    elif schema.get("type") == "array" and not {"maxItems", *_PLAIN} & {*schema}:
        schema["maxItems"] = max(_ITEMS, least)
