"""Forms that responses are forced to have: what they allow, what they are read as, and what the model is told."""

from __future__ import annotations

import json

import jsonschema
import pytest

from stagec.core.json import Json, Object
from stagec.runtime.world.models.local_provider import choose_form, list_messages
from stagec.runtime.world.models.port import ModelCall, ModelMessage, ModelRequest
from stagec.runtime.world.request_json import ToolDefinition

ANSWER: Object = {"properties": {"a": {"enum": [1, 2]}}, "required": ["a"]}
READ = ToolDefinition(
    "Read",
    "Read a file",
    {"properties": {"path": {"$ref": "#/$defs/p"}}, "required": ["path"], "$defs": {"p": {"type": "string"}}},
)
SEARCH = ToolDefinition("Search", "Search", {"properties": {"what": {"$ref": "#"}, "p": {"const": "#"}}})
BARE = ToolDefinition("Bare")
ASKED = (ModelMessage("user", "Do it."),)


def _request(*tools: ToolDefinition, output: Object | None = None) -> ModelRequest:
    return ModelRequest("local:x", ASKED, tools, output=output)


def test_a_request_for_text_has_no_form() -> None:
    assert choose_form(_request()).schema is None


@pytest.mark.parametrize("schema", [ANSWER, {"$ref": "#/$defs/x", "$defs": {"x": ANSWER}}, {}])
def test_the_only_thing_that_can_be_said_needs_no_name(schema: Object) -> None:
    form = choose_form(_request(output=schema))
    assert form.schema == {"type": "object", **schema}
    call = form.read('{"a":1}', "c")
    assert call is not None
    assert (call.arguments, form.is_answer(call)) == ({"a": 1}, True)


def test_the_only_tool_needs_no_name_either() -> None:
    form = choose_form(_request(READ))
    call = form.read('{"path":"x"}', "c")
    assert call == ModelCall("c", "Read", {"path": "x"})
    assert not form.is_answer(call)


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ({"tool": "Read", "arguments": {"path": "a"}}, True),
        ({"tool": "Read", "arguments": {"path": 1}}, False),
        ({"tool": "Read", "arguments": {}}, False),
        ({"tool": "Search", "arguments": {"what": {"what": {}}}}, True),
        ({"tool": "Search", "arguments": {"what": "text"}}, False),
        ({"tool": "Bare", "arguments": {"any": []}}, True),
        ({"tool": "answer", "arguments": {"a": 2}}, True),
        ({"tool": "answer", "arguments": {"a": 3}}, False),
        ({"tool": "Write", "arguments": {}}, False),
        ({"path": "a"}, False),
    ],
)
def test_one_of_several_is_called_by_its_own_schema(said: Json, *, fits: bool) -> None:
    """References inside each schema lead where they led before."""
    form = choose_form(_request(READ, SEARCH, BARE, output=ANSWER))
    assert jsonschema.Draft202012Validator(form.schema).is_valid(said) is fits


def test_what_is_written_is_read_as_it_was() -> None:
    form = choose_form(_request(READ, SEARCH))
    call = ModelCall("c", "Search", {"what": {"é": "\n"}})
    assert form.read(form.write(call), "c") == call


@pytest.mark.parametrize("text", ["", "no", '{"tool":"Read","arg', "[1]", "1", '{"tool":1}', "[" * 100_000])
def test_what_is_no_call_is_none(text: str) -> None:
    assert choose_form(_request(READ, SEARCH)).read(text, "c") is None


def test_a_tool_that_is_called_answer_is_not_the_answer() -> None:
    form = choose_form(_request(ToolDefinition("answer"), output=ANSWER))
    first, last = (form.read(json.dumps({"tool": name, "arguments": {}}), "c") for name in form.schemas)
    assert first is not None
    assert last is not None
    assert (form.is_answer(first), form.is_answer(last)) == (False, True)


def test_a_loose_form_takes_any_object() -> None:
    form = choose_form(_request(READ, output={"type": "foo"})).loosen()
    assert jsonschema.Draft202012Validator(form.schema).is_valid({"tool": "answer", "arguments": {"x": 1}})


def test_the_sides_take_turns_and_tools_are_told() -> None:
    """Chat templates refuse what is no dialogue, and know neither tools nor their results."""
    messages = (
        ModelMessage("system", "Be brief."),
        ModelMessage("user", "One."),
        ModelMessage("user", "Two."),
        ModelMessage("assistant", "", (ModelCall("c", "Read", {"path": "x"}),)),
        ModelMessage("tool", "text of x", call="c", tool="Read"),
        ModelMessage("user", "Three."),
    )
    request = ModelRequest("local:x", messages, (READ, BARE))
    told = list_messages(request, choose_form(request))
    assert [each["role"] for each in told] == ["system", "user", "assistant", "user"]
    texts = [each["content"] for each in told]
    assert texts[0].endswith("- Read(path): Read a file\n- Bare(): ")
    assert texts[1:] == [
        "One.\n\nTwo.",
        '{"tool":"Read","arguments":{"path":"x"}}',
        "Result of Read: text of x\n\nThree.",
    ]


def test_one_tool_is_not_told() -> None:
    assert list_messages(_request(READ), choose_form(_request(READ))) == [{"role": "user", "content": "Do it."}]


def test_tools_are_told_without_a_system_prompt() -> None:
    request = _request(READ, output=ANSWER)
    told = list_messages(request, choose_form(request))
    assert [each["role"] for each in told] == ["system", "user"]
    assert "- answer(a): Hand in the answer." in told[0]["content"]


def test_nothing_is_without_end_and_what_has_a_bound_keeps_it() -> None:
    text: Object = {"type": "string"}
    schema: Object = {
        "properties": {
            "free": text,
            "const": text,
            "long": {"type": "string", "minLength": 300},
            "bound": {"type": "string", "maxLength": 5_000},
            "shaped": {"type": "string", "pattern": "^a+$"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/x"}},
            "value": {"enum": [{"type": "string"}], "default": {"$ref": "#/x"}},
        },
        "$defs": {"x": text},
    }
    form = choose_form(_request(output=schema)).schema
    assert form is not None
    assert form["$defs"] == {"x": {"type": "string", "maxLength": 200}}
    assert form["properties"] == {
        "free": {"type": "string", "maxLength": 200},
        "const": {"type": "string", "maxLength": 200},
        "long": {"type": "string", "minLength": 300, "maxLength": 300},
        "bound": {"type": "string", "maxLength": 5_000},
        "shaped": {"type": "string", "pattern": "^a+$"},
        "list": {"type": "array", "items": {"$ref": "#/$defs/x"}, "maxItems": 8},
        "value": {"enum": [{"type": "string"}], "default": {"$ref": "#/x"}},
    }
    assert schema["properties"]["free"] == {"type": "string"}, "the schema of the plan is as it was"
