"""An MCP server over HTTP, made with the library; it prints its port, and offers `echo` to who knows the password."""

from __future__ import annotations

import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

offered = MCPServer("remote")


@offered.tool()
def echo(text: str) -> str:
    """Return a text."""
    return text


def guarded(inner: ASGIApp) -> ASGIApp:
    """Refuse requests without the password."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        known = scope["type"] != "http" or Request(scope).headers.get("authorization") == "Bearer open"
        refused: Response = PlainTextResponse("who are you?", status_code=401)
        await (inner if known else refused)(scope, receive, send)

    return app


if __name__ == "__main__":
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(guarded(offered.streamable_http_app()), log_level="critical")
    uvicorn.Server(config).run(sockets=[listening])
