"""Serve tools to a program that speaks the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from stagec.core.failure import Failure
from stagec.core.interrupts import HeldRequests
from stagec.core.json import Json, Object
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.runtime.world.mcp import require_library


@value
class ServedTool:
    """A tool that changes nothing: its name, what it is for, the schemas of its arguments and of its answer.

    `answer` gets arguments that nobody has checked. It raises `Failure` with a sentence for whoever called the tool.
    """

    name: str
    description: str
    input_schema: Object
    output_schema: Object
    answer: Callable[[Object], Object]


def serve_tools(tools: Sequence[ServedTool], instructions: str) -> None:
    """Answer a client until it closes standard input; one call after the other is answered.

    Raise `Failure` when the library is not installed.
    """
    require_library("'stagec mcp' needs")
    try:
        asyncio.run(_serve_unless_interrupted(make_server(tools, instructions)))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _serve_unless_interrupted(server: Any) -> None:
    from mcp.server.stdio import stdio_server

    # the transport keeps standard output for its messages: what else is printed goes to standard error
    async with stdio_server() as (messages, answers):
        work = asyncio.create_task(server.run(messages, answers, server.create_initialization_options()))
        with HeldRequests(lambda: asyncio.get_running_loop().call_soon_threadsafe(work.cancel)):
            await work


def make_server(tools: Sequence[ServedTool], instructions: str) -> Any:
    """Return a server of the library that offers tools."""
    from mcp import MCPError
    from mcp.server.lowlevel import Server
    from mcp_types import INVALID_PARAMS, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

    known = {each.name: each for each in tools}
    # a check must not see the project of another one, and the work is done by one thread anyway
    turn = asyncio.Lock()
    harmless = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

    async def list_tools(_context: Any, _params: Any) -> Any:
        return ListToolsResult(
            tools=[
                Tool(
                    name=each.name,
                    description=each.description,
                    input_schema={**each.input_schema},
                    output_schema={**each.output_schema},
                    annotations=harmless,
                )
                for each in tools
            ]
        )

    async def call_tool(_context: Any, params: Any) -> Any:
        tool = known.get(params.name)
        if tool is None:
            raise MCPError(code=INVALID_PARAMS, message=f"there is no tool {params.name!r}")
        try:
            async with turn:
                answer = await asyncio.to_thread(tool.answer, params.arguments or {})
        except Failure as failure:
            told = "\n".join((str(failure), *failure.hints))
            return CallToolResult(content=[TextContent(text=told)], is_error=True)
        return CallToolResult(content=[TextContent(text=_write(answer))], structured_content=answer)

    return Server(
        "stagec",
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _write(answer: Json) -> str:
    return json.dumps(answer, ensure_ascii=False)
