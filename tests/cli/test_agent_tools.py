"""The tools of `stagec mcp`, called by the official client: in this process, and once in one of their own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from stagec.cli.agent_tools.tools import INSTRUCTIONS, make_tools
from stagec.cli.app import run, stagec
from stagec.core.failure import Exit, Failure
from stagec.runtime.world.mcp import first_error
from stagec.runtime.world.tool_server import make_server

EXAMPLES = Path(__file__).parents[2] / "registries"
COMPILER = Path(__file__).parents[2] / "compiler"
Json = dict[str, Any]
Call = Callable[..., Json]


def invoke(words: list[str]) -> int:
    try:
        with stagec.make_context("stagec", words) as context:
            stagec.invoke(context)
    except click.exceptions.Exit as asked:
        return asked.exit_code
    return 0


class Host:
    """A program that offers the tools to an agent."""

    def __init__(self, folder: Path) -> None:
        self.server = make_server(make_tools(folder, invoke), INSTRUCTIONS)

    def list_tools(self) -> list[Any]:
        async def ask() -> list[Any]:
            async with Client(self.server) as client:
                return list((await client.list_tools()).tools)

        return asyncio.run(ask())

    def call(self, name: str, **arguments: Any) -> Json:
        """Return the answer of a tool; raise `Failure` for a refusal."""

        async def ask() -> Any:
            async with Client(self.server) as client:
                await client.list_tools()  # the client judges answers by the schemas that it knows
                return await client.call_tool(name, arguments)

        result = asyncio.run(ask())
        if result.is_error:
            raise Failure(result.content[0].text)
        assert json.loads(result.content[0].text) == result.structured_content
        answer: Json = result.structured_content
        return answer


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Host]:
    """Open a copy of an example."""

    def start(example: str) -> Host:
        shutil.copytree(EXAMPLES / example, tmp_path / example)
        monkeypatch.chdir(tmp_path / example)
        return Host(tmp_path / example)

    return start


def test_each_tool_has_schemas_and_says_that_it_changes_nothing(host: Callable[[str], Host]) -> None:
    tools = host("guest-book").list_tools()
    assert len(tools) == 9
    for each in tools:
        Draft202012Validator.check_schema(each.input_schema)
        Draft202012Validator.check_schema(each.output_schema)
        assert each.annotations.read_only_hint
        assert not each.annotations.destructive_hint
        assert each.description.endswith(".")
    # hosts give the whole list to a model
    listed = [each.model_dump(by_alias=True, exclude_none=True, exclude={"output_schema"}) for each in tools]
    assert len(json.dumps(listed)) < 8_000


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("validate", {}),
        ("validate", {"details": True}),
        ("explain", {"rule": "unknown-target"}),
        ("search_rules", {"words": "target step"}),
        ("describe_flow", {}),
        ("describe_flow", {"flow": "guest-book"}),
        ("describe_flow", {"node": "thank"}),
        ("draw", {"focus": "thank", "depth": 1}),
        ("bounds", {}),
        ("paths", {"to": "title"}),
        ("permissions", {}),
        ("compare", {"old": "stages/../"}),
    ],
)
def test_answers_have_their_schemas_and_are_short(host: Callable[[str], Host], name: str, arguments: Json) -> None:
    opened = host("guest-book")
    (schema,) = [each.output_schema for each in opened.list_tools() if each.name == name]
    answer = opened.call(name, **arguments)
    Draft202012Validator(schema).validate(answer)
    assert len(json.dumps(answer)) < 3_000


@pytest.mark.parametrize("name", ["bounds", "paths", "permissions"])
def test_details_are_the_document_of_the_command(host: Callable[[str], Host], name: str) -> None:
    opened = host("guest-book")
    document = opened.call(name, details=True)["document"]
    assert document["flows"][0]["flow"] == "guest-book"
    Draft202012Validator(json.loads((EXAMPLES.parent / "schemas" / f"{name}.schema.json").read_text())).validate(
        document
    )


def test_a_node_is_described_with_what_is_around_it(host: Callable[[str], Host]) -> None:
    node = host("guest-book").call("describe_flow", node="thank")["node"]
    assert [each["from"] for each in node["comes_from"]] == ["read"]
    assert node["made_of"]
    assert any(each["to"] == ["title"] for each in node["leads_to"])


def test_long_lists_come_in_parts(host: Callable[[str], Host]) -> None:
    opened = host("broken-on-purpose")
    first = opened.call("validate", limit=4)
    rest = opened.call("validate", limit=4, offset=first["next"])
    assert (first["errors"], first["found"], first["next"], rest["next"]) == (6, 6, 4, None)
    whole = [each["rule"] for each in (*first["findings"], *rest["findings"])]
    assert whole == [each["rule"] for each in opened.call("validate")["findings"]]
    assert opened.call("validate", rule="STG201")["found"] == 1
    assert opened.call("validate", file="agent.json", severity="error")["found"] == 1


def test_texts_stand_for_files_and_nothing_is_written(host: Callable[[str], Host]) -> None:
    opened = host("broken-on-purpose")
    before = Path("steps_registry.json").read_text(encoding="utf-8")
    fixed = before.replace("continuation.qestion", "continuation.question")
    assert opened.call("validate", texts={"steps_registry.json": fixed})["errors"] == 5
    assert opened.call("validate")["errors"] == 6
    assert Path("steps_registry.json").read_text(encoding="utf-8") == before
    # a file that has changed is read again
    Path("steps_registry.json").write_text(fixed, encoding="utf-8")
    assert opened.call("validate")["errors"] == 5


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("validate", {"texts": {"../x.json": "{}"}}, "'../x.json' is not inside the project"),
        ("validate", {"texts": {"/etc/passwd": ""}}, "'/etc/passwd' is not inside the project"),
        ("validate", {"texts": {"link/x.json": ""}}, "'link/x.json' is not inside the project"),
        ("validate", {"file": "no.json"}, "'no.json' is no file that stagec reads in this project"),
        ("validate", {"files": "x"}, "there is no argument 'files'; did you mean 'file'?"),
        ("validate", {"limit": "3"}, "the argument 'limit' must be of type integer"),
        ("validate", {"limit": True}, "the argument 'limit' must be of type integer"),
        ("validate", {"limit": -1}, "the argument 'limit' must be of type integer"),
        ("validate", {"texts": {"a": 1}}, "the argument 'texts' must be an object of texts"),
        ("validate", {"severity": "bad"}, "the argument 'severity' must be one of error, warning, note"),
        ("explain", {}, "the argument 'rule' is missing"),
        ("explain", {"rule": "STG20"}, "means"),
        ("explain", {"rule": "STG20199"}, "no rule, family or group is called 'STG20199'"),
        ("describe_flow", {"flow": "x"}, "no flow is called 'x'"),
        ("describe_flow", {"node": "thanks"}, "no node is called 'thanks'; did you mean 'thank'?"),
        ("compare", {"old": "../"}, "'../' is not inside the project"),
        ("compare", {"old": "/etc"}, "'/etc' is not inside the project"),
        ("compare", {"old": "HEAD:../other"}, "'HEAD:../other' may lie outside the project"),
        ("compare", {"old": "--help"}, "'--help'"),
        ("draw", {"flow": "--output=x"}, "no flow is called '--output=x'"),
        ("paths", {"to": "nowhere"}, "has no stage 'nowhere'"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(
    host: Callable[[str], Host], tmp_path: Path, name: str, arguments: Json, told: str
) -> None:
    opened = host("guest-book")
    Path("link").symlink_to(tmp_path)
    before = sorted(Path().rglob("*"))
    with pytest.raises(Failure, match=re.escape(told)):
        opened.call(name, **arguments)
    assert sorted(Path().rglob("*")) == before


def test_an_unknown_tool_is_an_error_of_the_protocol(host: Callable[[str], Host]) -> None:
    with pytest.raises(BaseExceptionGroup) as caught:
        host("guest-book").call("write")
    error = first_error(caught.value)
    assert isinstance(error, MCPError)
    assert error.message == "there is no tool 'write'"


def test_without_the_extra_the_command_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert run(["mcp"]) == Exit.USAGE
    assert "'stagec mcp' needs libraries of the extra 'mcp'" in capsys.readouterr().err


class Agent:
    """Repairs a project: it asks what is wrong, tries an edit, and writes the file if less is wrong then."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def repair(self) -> int:
        """Repair as much as possible; return how many errors are left."""
        while True:
            told = self.host.call("validate", details=True, severity="error")
            if not any(self._try(each, told["errors"]) for each in told["findings"]):
                left: int = told["errors"]
                return left

    def _try(self, finding: Json, errors: int) -> bool:
        file = Path(finding["file"])
        text = file.read_text(encoding="utf-8")
        for edited in self._list_ideas(finding, text):
            if self.host.call("validate", texts={finding["file"]: edited})["errors"] < errors:
                file.write_text(edited, encoding="utf-8")
                return True
        return False

    def _list_ideas(self, finding: Json, text: str) -> Iterator[str]:
        """Yield what might help: the fix, else what somebody would try who reads the message and the page."""
        lines = text.splitlines(keepends=True)
        for each in finding["edits"]:
            old, at = each["old"], each["line"] - 1
            count = len(old.splitlines())
            assert "".join(lines[at : at + count]) == old
            yield "".join([*lines[:at], each["new"], *lines[at + count :]])
        at = finding["line"] - 1
        page = self.host.call("explain", rule=finding["rule"])["page"]
        if "twice" in page:
            yield "".join([*lines[:at], *lines[at + 1 :]])
        if "expected ','" in finding["message"]:
            yield "".join([*lines[: at - 1], lines[at - 1].rstrip() + ",\n", *lines[at:]])
        lacking = re.search(r" lacks '([^']+)'", finding["message"])
        if lacking:
            begin = lines[at][: finding["column"] - 1]
            rest = lines[at][finding["column"] - 1 :].replace("[", f'["{lacking[1]}", ', 1)
            yield "".join([*lines[:at], begin + rest, *lines[at + 1 :]])


def test_an_agent_repairs_the_broken_example_by_tools_alone(host: Callable[[str], Host]) -> None:
    opened = host("broken-on-purpose")
    assert Agent(opened).repair() == 0
    assert opened.call("bounds")["flows"][0]["bounded"]


def test_the_process_serves_a_client_and_ends_with_it(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "broken-on-purpose", tmp_path / "x")
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "stagec", "mcp", str(tmp_path / "x")],
        env={**os.environ, "PYTHONPATH": str(COMPILER)},
    )

    async def ask() -> Any:
        async with Client(stdio_client(started)) as client:
            assert client.instructions == INSTRUCTIONS
            drawn = await client.call_tool("draw", {})  # a command writes to standard output, and a note elsewhere
            assert drawn.structured_content["mermaid"].startswith("flowchart")
            return await client.call_tool("validate", {})

    assert asyncio.run(ask()).structured_content["errors"] == 6
