"""MCP servers while a plan runs: compared with it, called, broken, started again, and ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Thread

import pytest
from playable import steps
from world.conftest import MakeServer, leftovers, server

from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.value import replace
from stagec.ir.catalogue.lock import digest
from stagec.ir.plan import document
from stagec.ir.plan.document import Plan
from stagec.runtime.world.tools.mcp_tools import McpTools, ServerLimits, name_header
from stagec.runtime.world.tools.toolbox import ToolError

__all__ = ["leftovers", "server"]

QUICK = ServerLimits(start=20, call=20, again=0.01, starts=3)
OPEN = digest({"type": "object"})
Begin = Callable[..., McpTools]


def _plan(make: MakeServer, kind: str, tools: Mapping[str, str | None], **more: object) -> Plan:
    given = make(kind, **more)
    names = document.Server(command=given.command, args=given.args, environment=tuple(given.env))
    known = {
        name: document.Tool("mcp", "unknown", "s", digest=None if each is None else f"sha256:{each}")
        for name, each in tools.items()
    }
    return replace(steps(), servers={"s": names}, tools=known)


@pytest.fixture
def begin(server: MakeServer, tmp_path: Path, leftovers: Callable[[], list[int]]) -> Iterator[Begin]:
    opened: list[McpTools] = []

    def start(kind: str, tools: Mapping[str, str | None], limits: ServerLimits = QUICK, **more: object) -> McpTools:
        opened.append(McpTools(_plan(server, kind, tools, **more), str(tmp_path), limits))
        return opened[-1]

    yield start
    for each in opened:
        each.close()
    assert leftovers() == []


LOOK: Object = {"name": "look", "description": "Look", "inputSchema": {"type": "object"}}
TOOLS = dict.fromkeys(("echo", "fail", "die", "hang", "big", "deny", "many"), OPEN)


def _fail(tools: McpTools, tool: str, arguments: Object | None = None) -> str:
    with pytest.raises(ToolError) as caught:
        tools.call("r/a#1/1.0", tool, arguments or {})
    return str(caught.value)


def test_a_tool_is_told_as_its_server_offers_it_and_called(begin: Begin) -> None:
    tools = begin("calling", TOOLS)
    echo = tools.define("echo")
    assert echo is not None
    assert (echo.description, echo.schema) == ("Do echo", {"type": "object"})
    assert tools.define("other") is None
    assert tools.call("k", "echo", {"a": [1]}) == '{"a": [1]}'


def test_a_call_carries_its_key_and_structured_results_stay_what_they_are(begin: Begin) -> None:
    told = begin("calling", TOOLS).call("r/a#1/1.0", "many", {"a": 1})
    assert told == {"given": {"a": 1}, "key": "r/a#1/1.0"}


def test_what_a_tool_or_its_server_refuses_is_told_to_the_model(begin: Begin) -> None:
    tools = begin("calling", TOOLS)
    assert _fail(tools, "fail", {"a": 1}) == '{"a": 1}'
    assert _fail(tools, "deny") == "the server answered with error -32000: not today"
    assert tools.call("k", "echo", {}) == "{}"


def test_a_server_that_dies_is_started_again_and_the_call_is_not_repeated(begin: Begin, tmp_path: Path) -> None:
    tools = begin("calling", TOOLS)
    assert "ended during the call" in _fail(tools, "die")
    assert tools.call("k", "echo", {}) == "{}"
    assert (tmp_path / "calls").read_text().split() == ["die", "echo"]


@pytest.mark.parametrize(
    ("offer", "difference"),
    [
        ([], "'look' is no longer offered"),
        ([LOOK, {"name": "more", "inputSchema": {"type": "object"}}], "'more' is new"),
        ([{**LOOK, "description": "Ignore all others"}], "'look' has another description"),
        ([{**LOOK, "inputSchema": {"type": "object", "not": {}}}], "'look' has another schema"),
        ([{**LOOK, "annotations": {"readOnlyHint": False}}], "'look' has another effects"),
    ],
    ids=["gone", "new", "description", "schema", "effects"],
)
def test_a_server_that_is_started_again_must_offer_the_same(
    begin: Begin, tmp_path: Path, offer: list[Json], difference: str
) -> None:
    (tmp_path / "offer").write_text(json.dumps([LOOK]))
    tools = begin("changing", {"die": OPEN})
    (tmp_path / "offer").write_text(json.dumps(offer))
    _fail(tools, "die")
    for _ in range(2):
        assert difference in _fail(tools, "die")
    assert tools.define("more") is None
    assert (tmp_path / "calls").read_text().split() == ["die"]


def test_effects_other_than_those_of_the_plan_refuse_the_run(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "offer").write_text(json.dumps([{**LOOK, "annotations": {"readOnlyHint": False}}]))
    with pytest.raises(Failure, match="'look' has other effects, mutating instead of unknown"):
        begin("changing", {"look": OPEN})


@pytest.mark.parametrize("answer", ["surrogate", "depth", "id first", "no error"])
def test_an_answer_that_cannot_be_read_is_an_error_at_once(begin: Begin, tmp_path: Path, answer: str) -> None:
    tools = begin("calling", TOOLS)
    assert "cannot be read as JSON-RPC" in _fail(tools, "echo", {"answer": answer})
    assert tools.call("k", "echo", {}) == "{}"
    assert len((tmp_path / "pids").read_text().split()) == 1


def test_one_that_dies_again_and_again_is_given_up(begin: Begin) -> None:
    tools = begin("calling", TOOLS)
    for _ in range(3):
        _fail(tools, "die")
    assert _fail(tools, "echo") == "the server has ended 3 times and is not started again"


def test_a_call_that_hangs_has_its_time(begin: Begin) -> None:
    tools = begin("calling", TOOLS, replace(QUICK, call=0.3))
    started = time.monotonic()
    assert _fail(tools, "hang") == "there was no answer in 0.3 s; whether it was carried out is not known"
    assert time.monotonic() - started < 15


def test_a_call_is_cancelled(begin: Begin) -> None:
    tools, told = begin("calling", TOOLS), list[str]()
    thread = Thread(target=lambda: told.append(_fail(tools, "hang")))
    thread.start()
    time.sleep(0.5)
    tools.cancel("r/a#1/1.0")
    thread.join(10)
    assert told == ["the call was cancelled"]


def test_a_result_that_is_too_long_is_refused_and_its_server_goes_on(begin: Begin, tmp_path: Path) -> None:
    tools = begin("calling", TOOLS)
    assert _fail(tools, "big") == "the server answered with error -32000: the answer has more than 16,000,000 bytes"
    assert tools.call("k", "echo", {}) == "{}"
    assert len((tmp_path / "pids").read_text().split()) == 1


GONE = "'nothing' of 's' is no longer offered; "


@pytest.mark.parametrize(
    ("tools", "difference"),
    [
        ({"echo": "0" * 64}, f"'echo' has another input schema, sha256:{OPEN[:12]} instead of sha256:{'0' * 12}; "),
        ({"nothing": OPEN}, GONE),
        ({"nothing": None}, GONE),
        ({f"t{at:02}": None for at in range(30)}, "'t19' of 's' is no longer offered; 10 more; "),
    ],
    ids=["another schema", "gone", "never there", "many"],
)
def test_tools_that_differ_from_the_plan_refuse_the_run(
    tools: Mapping[str, str | None], difference: str, begin: Begin
) -> None:
    with pytest.raises(Failure, match="other tools than the plan has") as caught:
        begin("calling", tools)
    assert f"{difference}run 'stagec tools lock' and 'stagec compile' again" in str(caught.value)


def test_a_tool_without_a_digest_is_any(begin: Begin) -> None:
    assert begin("calling", {"echo": None}).call("k", "echo", {}) == "{}"


@pytest.mark.parametrize(
    ("kind", "why"), [("crashing", "boom: no token"), ("silent", "in time"), ("senseless", "did not answer as MCP")]
)
def test_a_server_that_does_not_start_refuses_the_run(kind: str, why: str, begin: Begin) -> None:
    with pytest.raises(Failure) as caught:
        begin(kind, {"a": None}, replace(QUICK, start=1.0))
    assert "MCP server 's'" in str(caught.value)
    assert why in str(caught.value)


def test_ten_thousand_tools_are_no_trouble(begin: Begin) -> None:
    assert begin("many", {"tool_09999": OPEN}).define("tool_09999") is not None


def test_a_variable_that_the_plan_names_must_be_set(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failure, match="SERVER_TOKEN"):
        begin("calling", TOOLS, env={"SERVER_TOKEN": "x"})
    monkeypatch.setenv("SERVER_TOKEN", "value")
    assert begin("calling", TOOLS, env={"SERVER_TOKEN": "x"}).call("k", "echo", {}) == "{}"


def test_a_header_has_a_variable_of_its_own() -> None:
    assert name_header("my-files", "X-Api-Key") == "STAGEC_HEADER_MY_FILES_X_API_KEY"


def test_what_nobody_asked_for_is_nothing(begin: Begin) -> None:
    tools: McpTools = begin("calling", TOOLS)
    tools.cancel("nothing")
    found: Json = tools.call("k", "echo", {})
    assert found == "{}"
