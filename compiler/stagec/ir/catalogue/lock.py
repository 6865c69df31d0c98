"""The tools that MCP servers offered at the last request: `tools.lock.json`, read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum

from stagec.core.json import Json, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import value

VERSION = 1


class Effects(StrEnum):
    """The effects of calling a tool."""

    READ = "read"
    MUTATING = "mutating"
    UNKNOWN = "unknown"


EFFECTS: Mapping[str, Effects] = {each.value: each for each in Effects}
_WORLDS: Mapping[str, bool] = {"open": True, "closed": False}


@value
class LockedTool:
    """One tool of a server; `schema` is the digest of its input schema, `at` where its name is written.

    `is_open` tells whether it has to do with the world outside, None where the server does not say. `description` is
    the digest of its description, which is the empty text where it has none; None in locks of earlier versions.
    """

    name: str
    at: Place
    effects: Effects
    schema: str
    is_open: bool | None = None
    description: str | None = None


@value
class LockedServer:
    """One server; `launch` is the digest of how it was started, `at` all that the lock says of it."""

    name: str
    at: Place
    launch: str
    tools: Mapping[str, LockedTool]


@value
class Lock:
    """The content of the lock, without its broken parts."""

    at: Place
    servers: Mapping[str, LockedServer]


def read_lock(at: Place, given: Json) -> Lock:
    """Return the lock in the JSON of a file."""
    servers: dict[str, LockedServer] = {}
    for name, body in object_of(object_of(given).get("servers")).items():
        launch, listed = text_in(object_of(body), "launch"), object_of(body).get("tools")
        if launch is None or not isinstance(listed, dict):
            continue
        inside = at / "servers" / name
        tools: dict[str, LockedTool] = {}
        for tool, said in listed.items():
            effects, schema = text_in(object_of(said), "effects"), text_in(object_of(said), "schema")
            if schema is not None and effects is not None and effects in EFFECTS:
                is_open = _WORLDS.get(text_in(object_of(said), "world") or "")
                text, at_tool = text_in(object_of(said), "description"), (inside / "tools" / tool).key
                tools[tool] = LockedTool(tool, at_tool, EFFECTS[effects], schema, is_open, text)
        servers[name] = LockedServer(name, inside, launch, tools)
    return Lock(at, servers)


def render_lock(lock: Lock) -> bytes:
    """Return the file of a lock: sorted, one line for each tool, the same bytes for the same tools."""
    servers: list[str] = []
    for name, server in sorted(lock.servers.items()):
        said = {tool: _write_tool(each) for tool, each in server.tools.items()}
        lines = ",\n".join(f"        {json.dumps(tool)}: {json.dumps(said[tool])}" for tool in sorted(said))
        tools = f"{{\n{lines}\n      }}" if lines else "{}"
        members = f'"launch": {json.dumps(server.launch)},\n      "tools": {tools}'
        servers.append(f"    {json.dumps(name)}: {{\n      {members}\n    }}")
    inside = "{\n" + ",\n".join(servers) + "\n  }" if servers else "{}"
    return f'{{\n  "version": {VERSION},\n  "servers": {inside}\n}}\n'.encode()


def _write_tool(tool: LockedTool) -> dict[str, str]:
    said = {"effects": tool.effects.value, "schema": tool.schema}
    if tool.is_open is not None:
        said["world"] = "open" if tool.is_open else "closed"
    return said if tool.description is None else {**said, "description": tool.description}


def digest(given: object) -> str:
    """Return the SHA-256 of a JSON value written with sorted keys and without blanks, in hexadecimal digits."""
    from hashlib import sha256  # with its library it takes longer to load than most projects take to check

    text = json.dumps(given, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
