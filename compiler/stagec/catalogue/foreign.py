"""How other programs write the tools of MCP servers: with the name of the server before that of the tool."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NO_LETTER = re.compile(r"[^\w-]")


def foreign_name(name: str, servers: Iterable[str]) -> tuple[str, str] | None:
    """Return the server and the tool that a name such as `mcp__files__read_file` or `files/read_file` means.

    The tool is empty, or `*`, where a name means all that the server offers.
    """
    for server in servers:
        for prefix in (f"mcp__{_NO_LETTER.sub('_', server)}", server):
            rest = name.removeprefix(prefix)
            tool = rest.lstrip("_/.:")
            if name.startswith(prefix) and (tool != rest or not rest):
                return server, tool
    return None
