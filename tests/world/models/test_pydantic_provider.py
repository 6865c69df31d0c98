"""Models behind the wire formats of OpenAI and Anthropic: what is asked, what comes back, and how it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from threading import Thread

import pytest
from world.models.wire import Said, Wire, serve

from stagec.core.failure import Failure
from stagec.runtime.world.models.port import ModelCall, ModelError, ModelFault, ModelLimits, ModelMessage, ModelRequest
from stagec.runtime.world.models.pydantic_provider import PydanticProvider
from stagec.runtime.world.request_json import ToolDefinition

GREP = ToolDefinition("grep", "Find lines", {"type": "object", "properties": {"text": {"type": "string"}}})
MODELS = ("openai:gpt-5.4", "anthropic:claude-next")
HELLO = (ModelMessage("system", "You work."), ModelMessage("user", "Go."))
Begin = Callable[..., tuple[Wire, PydanticProvider]]


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    with_servers = []

    def start(*script: Said) -> tuple[Wire, PydanticProvider]:
        serving = serve(*script)
        wire = serving.__enter__()
        monkeypatch.setenv("OPENAI_BASE_URL", f"{wire.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-anthropic")
        provider = PydanticProvider()
        with_servers.append((serving, provider))
        return wire, provider

    yield start
    for serving, provider in with_servers:
        provider.close()
        serving.__exit__(None, None, None)


def test_text_and_calls_come_back_with_their_usage(model: str, begin: Begin) -> None:
    wire, provider = begin(Said("I look.", [("c1", "grep", '{"text": "a"}')]))
    heard: list[str] = []
    reply = provider.request("k", ModelRequest(model, HELLO, (GREP,)), heard.append)
    assert reply.text.strip() == "I look."
    assert "".join(heard).strip() == "I look."
    assert reply.calls == (ModelCall("c1", "grep", {"text": "a"}),)
    assert (reply.usage.input, reply.usage.output, reply.usage.requests) == (10, 5, 1)
    assert "key-of-" in wire.keys[0]


def test_the_whole_transcript_is_sent(model: str, begin: Begin) -> None:
    wire, provider = begin(Said("Done."))
    asked = ModelMessage("assistant", "", (ModelCall("c1", "grep", {"text": "a"}), ModelCall("c2", "grep", "no JSON")))
    answers = (
        ModelMessage("tool", "line 1", call="c1", tool="grep"),
        ModelMessage("tool", "bad", call="c2", tool="grep"),
    )
    provider.request("k", ModelRequest(model, (*HELLO, asked, *answers), (GREP,)))
    sent = str(wire.asked[0])
    for each in ("You work.", "Go.", "c1", "line 1", "c2", "bad", "Find lines"):
        assert each in sent


def test_an_answer_has_the_form_that_is_asked_for(model: str, begin: Begin) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    wire, provider = begin(Said('{"a": 1}'), Said("", [("c", "answer", '{"a": 2}')]))
    assert provider.request("k", ModelRequest(model, HELLO, output=schema)).output == {"a": 1}
    assert provider.request("k", ModelRequest(model, HELLO, (GREP,), output=schema)).output == {"a": 2}
    assert '"a"' in str(wire.asked[0]).replace("'", '"')


@pytest.mark.parametrize(
    ("arguments", "wanted"), [('{"text": ', '{"text": '), ("[1]", [1]), ("", {}), ('"x"', "x"), ("{}", {})]
)
def test_arguments_that_cannot_be_read_are_the_text(arguments: str, wanted: object, begin: Begin) -> None:
    _, provider = begin(Said("", [("c1", "grep", arguments)]))
    (call,) = provider.request("k", ModelRequest(MODELS[0], HELLO, (GREP,))).calls
    assert call.arguments == wanted


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (Said(status=429, headers={"retry-after": "7"}), ModelFault.RATE_LIMIT),
        (Said(status=500), ModelFault.SERVER_ERROR),
        (Said(status=503), ModelFault.SERVER_ERROR),
        (Said(status=529), ModelFault.SERVER_ERROR),
        (Said(status=408), ModelFault.TIMEOUT),
        (Said(status=401), ModelFault.UNAUTHORISED),
        (Said(status=403), ModelFault.UNAUTHORISED),
        (Said(status=402), ModelFault.QUOTA),
        (Said(status=404), ModelFault.UNKNOWN_MODEL),
        (Said(status=400), ModelFault.REFUSED),
        (Said("half of it is lost", [("c1", "grep", '{"text": "a"}')], cut=True), ModelFault.CONNECTION),
        (Said(body="{"), ModelFault.CONNECTION),
        (Said("late", delay=3), ModelFault.TIMEOUT),
    ],
    ids=lambda each: str(getattr(each, "status", each)),
)
def test_what_goes_wrong_has_a_name(model: str, said: Said, fault: ModelFault, begin: Begin) -> None:
    wire, provider = begin(said)
    with pytest.raises(ModelError) as caught:
        provider.request("k", ModelRequest(model, HELLO, (GREP,), limits=ModelLimits(1.0)))
    assert caught.value.fault is fault
    assert caught.value.retry_after == (7.0 if said.headers else None)
    assert len(wire.asked) == 1
    assert "key-of-" not in str(caught.value)


def test_a_request_can_be_cancelled(model: str, begin: Begin) -> None:
    wire, provider = begin(Said("late", delay=5))
    found: list[ModelError] = []

    def ask() -> None:
        with pytest.raises(ModelError) as caught:
            provider.request("k", ModelRequest(model, HELLO))
        found.append(caught.value)

    thread = Thread(target=ask)
    thread.start()
    end = time.monotonic() + 20
    while not wire.asked and time.monotonic() < end:
        time.sleep(0.01)
    provider.cancel("k")
    thread.join(3)
    assert found[0].fault is ModelFault.CANCELLED


@pytest.mark.parametrize("name", ["gpt", "nowhere:gpt", "openai:", ":x"])
def test_a_name_that_is_none_is_told(name: str, begin: Begin) -> None:
    _, provider = begin(Said("x"))
    with pytest.raises(Failure, match="model"):
        provider.request("k", ModelRequest(name, HELLO))


def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with closing(PydanticProvider()) as provider, pytest.raises(Failure, match="ANTHROPIC_API_KEY"):
        provider.request("k", ModelRequest("anthropic:claude-next", HELLO))


def test_a_response_that_does_not_begin_has_a_limit_of_its_own(model: str, begin: Begin) -> None:
    _, provider = begin(Said("late", delay=0.5), Said("in time"))
    with pytest.raises(ModelError, match=r"no first token within 0\.1 s"):
        provider.request("k", ModelRequest(model, HELLO, limits=ModelLimits(30.0, first=0.1)))
    assert provider.request("k", ModelRequest(model, HELLO, limits=ModelLimits(30.0, first=20.0))).text
