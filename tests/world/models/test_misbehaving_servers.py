"""Servers of models that break their own formats: each mistake takes the branch of its kind, and the reason names it.

A fault that passes interrupts the run after its attempts, one that stays fails the node, and what cannot be read or is
not allowed is told to the model as an attempt. Mistakes in HTTP itself are in `test_hostile_hosts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from world.models.played import TRIES, Played, playing
from world.models.wire import Said, Wire

from stagec.core.failure import Failure
from stagec.core.json import object_of
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Started
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.program import load
from stagec.runtime.world.models.port import ProviderOutage

REPAIR = load((Path(__file__).parents[2] / "plan_vectors" / "docs-repair" / "plan.json").read_bytes())
BEGIN = Started("r", None, {"topic": "installation"})
OPENAI, ANTHROPIC = "openai:gpt-5.4", "anthropic:claude-next"
PAGE = '{"page": "docs/a.md"}'
WRITTEN = Said("", [("c1", "submit_page", PAGE)])
CHECKED = Said("", [("c1", "submit_verdict", '{"page": "docs/a.md", "broken": false, "faults": []}')])
Event = dict[str, Any]
Run = Callable[..., Played]


def edit(change: Callable[[Event], object]) -> Said:
    """Return a good response of which each event is changed."""

    def spoil(lines: list[str]) -> list[str]:
        events = [json.loads(each) if each.startswith("{") else each for each in lines]
        for each in events:
            if isinstance(each, dict):
                change(each)
        return [each if isinstance(each, str) else json.dumps(each) for each in events]

    return Said("", WRITTEN.calls, spoil=spoil)


def lines(change: Callable[[list[str]], list[str]]) -> Said:
    """Return a good response whose events are other ones."""
    return Said("", WRITTEN.calls, spoil=change)


def choice(change: Callable[[Event], object]) -> Said:
    return edit(lambda event: [change(each) for each in event["choices"]])


def delta(change: Callable[[Event], object]) -> Said:
    return choice(lambda each: change(each["delta"]))


def call(change: Callable[[Event], object]) -> Said:
    return delta(lambda each: [change(one) for one in each.get("tool_calls", [])])


def arguments(text: str) -> Said:
    return Said("", [("c1", "submit_page", text)])


def drop(name: str) -> Callable[[Event], object]:
    return lambda event: event.pop(name, None)


def put(name: str, given: object) -> Callable[[Event], object]:
    return lambda event: event.update({name: given})


def swap(name: str, given: object) -> Callable[[Event], object]:
    """Change a member that is there."""
    return lambda event: event.update({name: given}) if name in event else None


def kind(wanted: str, change: Callable[[Event], object]) -> Said:
    """Change the events of Anthropic of one kind."""
    return edit(lambda event: change(event) if event["type"] == wanted else None)


def without(wanted: str) -> Said:
    return lines(lambda told: [each for each in told if f'"type": "{wanted}"' not in each])


def before_end(*events: str) -> Said:
    return lines(lambda told: [*told[:-1], *events, told[-1]])


def usage(given: object) -> Said:
    return edit(swap("usage", given))


def finish(word: object) -> Said:
    return choice(lambda each: each.update(finish_reason=word) if each["finish_reason"] else None)


def stop(word: object) -> Said:
    return kind("message_delta", lambda event: event["delta"].update(stop_reason=word))


def error(name: str) -> str:
    return json.dumps({"type": "error", "error": {"type": name, "message": "scripted trouble"}})


DEEP = '{"page": ' + "[" * 200 + "]" * 200 + "}"
HUGE = "9" * 400
BOTH: dict[str, Said] = {
    "a page of a proxy": Said(body="<html>Log in</html>", headers={"content-type": "text/html"}),
    "an empty body": Said(body=""),
    "JSON and no stream": Said(body='{"id": "1", "choices": []}'),
    "an error with status 200": Said(body='{"error": {"message": "scripted trouble", "type": "server_error"}}'),
    "an error of plain text": Said(status=400, body="Bad Gateway", headers={"content-type": "text/plain"}),
    "an error that is a list": Said(status=400, body="[1]"),
    "an error without a message": Said(status=500, body="{}"),
    "a redirect to elsewhere": Said(status=302, headers={"location": "http://127.0.0.1:9/"}),
    "a pause that is no number": Said(status=429, headers={"retry-after": "soon"}),
    "a pause that is negative": Said(status=429, headers={"retry-after": "-5"}),
    "a pause of a date that is over": Said(status=429, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "a long header": Said(status=500, headers={"x-long": "y" * 70_000}),
    "a stall": Said("", WRITTEN.calls, delay=5),
    "a stream that ends": Said("half of it", WRITTEN.calls, cut=True),
    "a stream that breaks": Said("half of it", WRITTEN.calls, reset=True),
    "no event": lines(lambda _: []),
    "an event that is a list": before_end("[1, 2]"),
    "an event that is null": before_end("null"),
    "an event that is no JSON": before_end("{"),
    "an event with NaN": before_end('{"x": NaN}'),
    "an event with half a character": before_end('{"x": "\\ud800"}'),
    "an event that is deep": before_end("[" * 5000 + "]" * 5000),
    "nothing said": Said(""),
    "length": Said("Half of", finish="length"),
    "content filter": Said("", finish="content_filter"),
    "NaN": arguments('{"page": NaN}'),
    "Infinity": arguments('{"page": -Infinity}'),
    "1e999": arguments('{"page": 1e999}'),
    "half a character": arguments('{"page": "\\ud800"}'),
    "deep": arguments(DEEP),
    "a huge number": arguments(f'{{"page": {HUGE}}}'),
    "a repeated member": arguments('{"page": "a", "page": "b"}'),
    "cut arguments": arguments('{"page": "docs'),
    "arguments that are a list": arguments("[1]"),
    "arguments of another type": arguments('{"page": 7}'),
    "missing arguments": arguments("{}"),
    "no arguments": arguments(""),
    "a byte order mark": arguments("\ufeff" + PAGE),
    "control characters": arguments('{"page": "a\x01b"}'),
    "two calls of one id": Said("", [("c1", "Read", '{"path": "a"}'), ("c1", "Read", '{"path": "b"}')]),
    "two completions": Said("", [("c1", "submit_page", PAGE), ("c2", "submit_page", PAGE)]),
    "a tool in other letters": Said("", [("c1", "read", '{"path": "a"}')]),
    "a tool of no name": Said("", [("c1", "", "{}")]),
    "a tool with a long name": Said("", [("c1", "x" * 5000, "{}")]),
    "an empty id": Said("", [("", "submit_page", PAGE)]),
}
ONLY_OPENAI: dict[str, Said] = {
    "no choices": edit(drop("choices")),
    "empty choices": edit(put("choices", [])),
    "choices null": edit(put("choices", None)),
    "choices an object": edit(put("choices", {})),
    "no delta": choice(drop("delta")),
    "delta null": choice(put("delta", None)),
    "delta a text": choice(put("delta", "x")),
    "finish unknown": finish("banana"),
    "finish a number": finish(7),
    "finish null": finish(None),
    "call without id": call(drop("id")),
    "call without function": call(drop("function")),
    "call without name": call(lambda one: one["function"].pop("name", None)),
    "call without index": call(drop("index")),
    "call with index as text": call(put("index", "0")),
    "arguments as object": call(lambda one: one["function"].update(arguments={"page": "docs/a.md"})),
    "arguments null": call(lambda one: one["function"].update(arguments=None)),
    "calls null": delta(swap("tool_calls", None)),
    "calls an object": delta(swap("tool_calls", {})),
    "content a number": delta(put("content", 7)),
    "content a list": delta(put("content", [{"type": "text", "text": "x"}])),
    "a refusal": delta(put("refusal", "I may not.")),
    "usage missing": edit(drop("usage")),
    "usage null": usage(None),
    "usage negative": usage({"prompt_tokens": -10, "completion_tokens": -5, "total_tokens": -15}),
    "usage a text": usage("much"),
    "usage of texts": usage({"prompt_tokens": "x", "completion_tokens": "y", "total_tokens": "z"}),
    "usage fractional": usage({"prompt_tokens": 1.5, "completion_tokens": 2.5, "total_tokens": 4}),
    "usage huge": usage({"prompt_tokens": 10**30, "completion_tokens": 5, "total_tokens": 10**30}),
    "usage NaN": usage({"prompt_tokens": float("nan"), "completion_tokens": 5, "total_tokens": 5}),
    "no id": edit(drop("id")),
    "no model": edit(drop("model")),
    "created a text": edit(put("created", "now")),
    "no end of the stream": lines(lambda told: told[:-1]),
    "two ends": lines(lambda told: [*told, "[DONE]"]),
    "more after the end": lines(lambda told: [*told, *told]),
    "an error in the stream": before_end('{"error": {"message": "scripted trouble", "code": 500}}'),
    "two choices": edit(lambda event: event["choices"].extend([{**each, "index": 1} for each in event["choices"]])),
}
ONLY_ANTHROPIC: dict[str, Said] = {
    "no start": without("message_start"),
    "no stop": without("message_stop"),
    "no delta of the message": without("message_delta"),
    "no block": without("content_block_start"),
    "no end of the block": without("content_block_stop"),
    "no arguments in the block": without("content_block_delta"),
    "stop unknown": stop("banana"),
    "stop null": stop(None),
    "stop a number": stop(7),
    "paused": stop("pause_turn"),
    "an unknown event": before_end('{"type": "banana"}'),
    "a ping": before_end('{"type": "ping"}'),
    "an event without type": before_end('{"x": 1}'),
    "overloaded": before_end(error("overloaded_error")),
    "internal error": before_end(error("api_error")),
    "rate limit in the stream": before_end(error("rate_limit_error")),
    "refused in the stream": before_end(error("invalid_request_error")),
    "key refused in the stream": before_end(error("authentication_error")),
    "an unknown error": before_end(error("banana_error")),
    "an unknown block": kind("content_block_start", lambda event: event["content_block"].update(type="banana")),
    "an unknown delta": kind("content_block_delta", lambda event: event["delta"].update(type="banana")),
    "a delta of text": kind("content_block_delta", put("delta", {"type": "text_delta", "text": "x"})),
    "a block without name": kind("content_block_start", lambda event: event["content_block"].pop("name")),
    "a block without id": kind("content_block_start", lambda event: event["content_block"].pop("id")),
    "a block with a number as name": kind("content_block_start", lambda event: event["content_block"].update(name=7)),
    "an index of no block": kind("content_block_delta", put("index", 9)),
    "a negative index": kind("content_block_delta", put("index", -1)),
    "an index as text": kind("content_block_delta", put("index", "x")),
    "usage missing": edit(drop("usage")),
    "usage null": usage(None),
    "usage negative": usage({"output_tokens": -5}),
    "usage a text": usage("much"),
    "usage of texts": usage({"output_tokens": "x"}),
    "usage huge": usage({"output_tokens": 10**30}),
    "start without usage": kind("message_start", lambda event: event["message"].pop("usage")),
    "start without content": kind("message_start", lambda event: event["message"].pop("content")),
    "start of null": kind("message_start", put("message", None)),
    "two starts": lines(lambda told: [told[0], *told]),
}


FORMAT, HALF = (
    "connection: the response is not in the format of the provider: ",
    "connection: the response ended before",
)
UNREADABLE = "the arguments cannot be read: "
DROPPED = "the call cannot be read: the response announces calls, and has none with a name"
LARGE = f"{UNREADABLE}/page: Infinity, or a number larger than every double"
ENDED = f"{FORMAT}Streamed response ended without content"

PASSING = {
    **{
        f"status {each}": f"server-error: status_code: {each}"
        for each in (500, 501, 502, 503, 504, 507, 520, 524, 529, 599)
    },
    "status 408": "timeout: status_code: 408",
    "status 429": "rate-limit: status_code: 429",
    "status 401": "unauthorised: status_code: 401",
    "status 403": "unauthorised: status_code: 403",
    "status 407": "unauthorised: status_code: 407",
    "status 402": "quota: status_code: 402",
    "status 201": ENDED,
    "status 204": "connection: ",
    "an error without a message": "server-error: status_code: 500",
    **dict.fromkeys(
        ("a page of a proxy", "an empty body", "JSON and no stream", "an error with status 200", "no event"), ENDED
    ),
    **{name: "rate-limit: status_code: 429" for name in BOTH if name.startswith("a pause")},
    "a long header": "server-error: status_code: 500",
    "a stall": "timeout: no response within 1 s",
    "a stream that ends": HALF,
    "a stream that breaks": "connection: ",
}
"""Responses that interrupt the run after all attempts, with the fault and what the reason says."""
PASSING_OPENAI = {
    **dict.fromkeys(
        ("no choices", "empty choices", "choices null", "choices an object", "no delta", "delta null"), HALF
    ),
    "finish null": HALF,
    **dict.fromkeys(("an event that is a list", "an event that is null", "delta a text", "usage a text"), FORMAT),
    "an event that is no JSON": f"{FORMAT}Failed to decode response as JSON",
    "created a text": f"{FORMAT}1 validation error for datetime",
    "an error in the stream": "server-error: status_code: 500",
}
PASSING_ANTHROPIC = {
    **dict.fromkeys(("no start", "usage missing", "usage null", "usage a text", "start without usage"), FORMAT),
    **dict.fromkeys(("an unknown delta", "a delta of text"), f"{FORMAT}Cannot apply a text delta"),
    **dict.fromkeys(("no delta of the message", "stop null"), HALF),
    "overloaded": "server-error: status_code: 529",
    "internal error": "server-error: status_code: 500",
    "rate limit in the stream": "rate-limit: status_code: 429",
    "key refused in the stream": "unauthorised: status_code: 401",
}
STAYING = {
    **{f"status {each}": f"{each}" for each in (300, 304, 400, 405, 409, 413, 415, 418, 422, 451)},
    "an error of plain text": "Bad Gateway",
    "an error that is a list": "status_code: 400",
    "a redirect to elsewhere": "302",
}
"""Responses for which the node fails at once, with what the reason says."""
STAYING_ANTHROPIC = {"refused in the stream": "invalid_request_error", "an unknown error": "banana_error"}
TOLD = {
    "nothing said": "Call submit_page when you are done.",
    "length": "the response ended at its maximum length (length)",
    "content filter": "the provider withheld the response (content_filter)",
    "NaN": f"{UNREADABLE}/page: NaN is not a JSON number",
    **dict.fromkeys(("Infinity", "1e999", "a huge number"), LARGE),
    "half a character": f"{UNREADABLE}/page: the text contains half a character",
    "deep": f"{UNREADABLE}/page/0/0/0",
    "a repeated member": f"{UNREADABLE}the member 'page' occurs more than once",
    "cut arguments": f"{UNREADABLE}it is not JSON: Unterminated string",
    "arguments that are a list": "the argument is no object",
    "arguments of another type": "/page: 7 is not a string",
    **dict.fromkeys(("missing arguments", "no arguments"), '"page" is a required property'),
    "a byte order mark": f"{UNREADABLE}it is not JSON: Unexpected UTF-8 BOM",
    "control characters": f"{UNREADABLE}it is not JSON: Invalid control character",
    "two calls of one id": "c1-2",
    "two completions": "submit_page must be the only call of a turn",
    "a tool of no name": "the call names no tool",
}
"""Responses that are told to the model, with what it is told; then it goes on."""
TOLD_OPENAI = {
    **dict.fromkeys(("call without function", "call without name", "calls null", "calls an object"), DROPPED),
    "arguments null": '"page" is a required property',
    "a refusal": "the provider withheld the response (content_filter)",
}
TOLD_ANTHROPIC = {
    **dict.fromkeys(("no block", "an unknown block", "a block without name"), DROPPED),
    **dict.fromkeys(("an index of no block", "a negative index", "an index as text"), '"page" is a required property'),
    "no arguments in the block": '"page" is a required property',
}
RESPONSES = {OPENAI: {**BOTH, **ONLY_OPENAI}, ANTHROPIC: {**BOTH, **ONLY_ANTHROPIC}}
Row = tuple[str, str, str]


def rows(both: dict[str, str], openai: dict[str, str], anthropic: dict[str, str]) -> list[Row]:
    """Return the model, the name of a response, and what is said of it, for each response of one kind."""
    tables = {OPENAI: {**both, **openai}, ANTHROPIC: {**both, **anthropic}}
    return [(model, name, why) for model, table in tables.items() for name, why in table.items()]


OUTAGES = rows(PASSING, PASSING_OPENAI, PASSING_ANTHROPIC)
REFUSALS = rows(STAYING, {}, STAYING_ANTHROPIC)
MISTAKES = rows(TOLD, TOLD_OPENAI, TOLD_ANTHROPIC)
ASKED = {
    *((model, name) for model in RESPONSES for name in ("a tool in other letters", "a tool with a long name")),
    (ANTHROPIC, "a block with a number as name"),
}
"""Calls of tools that the plan does not allow."""
KNOWN = {(model, name) for model, name, _ in (*OUTAGES, *REFUSALS, *MISTAKES)} | ASKED
HARMLESS = [(model, name) for model, table in RESPONSES.items() for name in table if (model, name) not in KNOWN]
"""Mistakes beside what counts: the response is taken as if it had none."""


def respond(model: str, name: str) -> Said:
    return RESPONSES[model][name] if not name.startswith("status ") else Said(status=int(name.split()[1]))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    with playing(monkeypatch) as begin:
        yield begin


@pytest.mark.parametrize(("model", "name", "why"), OUTAGES)
def test_what_passes_interrupts_the_run_and_the_reason_names_it(run: Run, model: str, name: str, why: str) -> None:
    wires: list[Wire] = []
    fault, _, told = why.partition(": ")
    with pytest.raises(ProviderOutage) as caught:
        run(model, REPAIR, BEGIN, respond(model, name), opened=wires, seconds=1.0 if name == "a stall" else 30.0)
    attempts = 1 if fault in {"unauthorised", "quota"} else TRIES
    assert re.search(rf": {fault}, {attempts} attempts? in [0-9.]+ s: {re.escape(told)}", str(caught.value))
    assert len(wires[0].asked) == attempts


@pytest.mark.parametrize(("model", "name", "why"), REFUSALS)
def test_what_stays_fails_the_node_and_the_reason_names_it(run: Run, model: str, name: str, why: str) -> None:
    state, _, wire = run(model, REPAIR, BEGIN, respond(model, name))
    assert state.ended is Outcome.FAILED
    assert state.failure is not None
    assert state.failure.kind is FailureKind.PROVIDER
    assert state.failure.detail.startswith("refused, ")
    assert why in state.failure.detail
    assert len(wire.asked) == 1


@pytest.mark.parametrize("status", [400, 500])
def test_the_reason_has_only_the_beginning_of_a_large_error(run: Run, status: int) -> None:
    try:
        reason = run(OPENAI, REPAIR, BEGIN, Said(status=status, body="key " + "x" * 300_000))[0].failure.detail  # type: ignore[union-attr]
    except ProviderOutage as outage:
        reason = str(outage)
    assert "key xxx" in reason
    assert len(reason) < 1_200


@pytest.mark.parametrize("model", RESPONSES)
def test_a_model_that_is_not_there_stops_the_run_for_people(run: Run, model: str) -> None:
    with pytest.raises(Failure, match="status_code: 404") as caught:
        run(model, REPAIR, BEGIN, Said(status=404))
    assert not isinstance(caught.value, ProviderOutage)


@pytest.mark.parametrize(("model", "name", "told"), MISTAKES)
def test_what_is_no_answer_is_told_to_the_model(run: Run, model: str, name: str, told: str) -> None:
    state, _, wire = run(model, REPAIR, BEGIN, respond(model, name), WRITTEN, CHECKED)
    assert state.ended is Outcome.DONE, state.reason
    assert told in "\n".join(list_texts(wire.asked[1]["messages"]))
    assert len(wire.asked) == 3


@pytest.mark.parametrize(("model", "name"), sorted(ASKED))
def test_a_call_that_is_not_allowed_is_never_carried_out_unasked(run: Run, model: str, name: str) -> None:
    state, world, _ = run(model, REPAIR, BEGIN, respond(model, name), WRITTEN, CHECKED)
    assert state.ended is Outcome.DONE, state.reason
    assert [type(effect).__name__ for effect, _ in world.answers][:2] == ["Turn", "Grant"]


@pytest.mark.parametrize(("model", "name"), HARMLESS)
def test_a_mistake_beside_what_counts_changes_nothing(run: Run, model: str, name: str) -> None:
    state, world, wire = run(model, REPAIR, BEGIN, respond(model, name), CHECKED)
    assert state.ended is Outcome.DONE, state.reason
    assert len(wire.asked) == 2
    used = object_of(object_of(world.answers[0][1])["usage"])
    assert all(isinstance(used[each], int) and 0 <= used[each] <= 2**53 for each in ("input", "output"))


def list_texts(given: Any) -> Iterator[str]:
    """Yield all texts of what a server is asked."""
    if isinstance(given, str):
        yield given
    for each in given.values() if isinstance(given, dict) else given if isinstance(given, list) else ():
        yield from list_texts(each)


def test_there_are_more_than_sixty_mistakes_of_each_server() -> None:
    for model in RESPONSES:
        assert sum(each[0] == model for each in (*OUTAGES, *REFUSALS, *MISTAKES, *HARMLESS)) > 60
