"""Names of the tools of MCP servers, as Claude Code makes them: `mcp__SERVER__TOOL`."""

from __future__ import annotations

import re

_MCP = re.compile(r"mcp__(?P<server>.+?)(?:__(?P<tool>.+))?", re.DOTALL)
MCP_PREFIX = "mcp__"


def split_mcp_name(name: str) -> tuple[str, str | None] | None:
    """Return the server and the tool that a name such as `mcp__files__read` means; nothing for any other name."""
    found = _MCP.fullmatch(name)
    return None if found is None else (found["server"], found["tool"])
