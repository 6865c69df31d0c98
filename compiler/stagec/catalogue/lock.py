"""What MCP servers offered when they were last asked: `tools.lock.json`, read and written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum

from stagec.core.json import Json, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import value

VERSION = 1


class Effects(StrEnum):
    """What calling a tool may do."""

    READ = "read"
    MUTATING = "mutating"
    UNKNOWN = "unknown"


EFFECTS: Mapping[str, Effects] = {each.value: each for each in Effects}


@value
class LockedTool:
    """One tool of a server; `schema` is the digest of its input schema, `at` where its name is written."""

    name: str
    at: Place
    effects: Effects
    schema: str


@value
class LockedServer:
    """One server; `launch` is the digest of how it was started, `at` all that the lock says of it."""

    name: str
    at: Place
    launch: str
    tools: Mapping[str, LockedTool]


@value
class Lock:
    """What the lock says, without what is broken in it."""

    at: Place
    servers: Mapping[str, LockedServer]


def read_lock(at: Place, given: Json) -> Lock:
    """Return what a lock says that was read from a file."""
    return Lock(at, {each.name: each for each in _servers(at, given)})


def _servers(at: Place, given: Json) -> Iterator[LockedServer]:
    for name, body in object_of(object_of(given).get("servers")).items():
        launch, tools = text_in(object_of(body), "launch"), object_of(body).get("tools")
        if launch is not None and isinstance(tools, dict):
            inside = at / "servers" / name
            yield LockedServer(name, inside, launch, {each.name: each for each in _tools(inside / "tools", tools)})


def _tools(at: Place, given: Mapping[str, Json]) -> Iterator[LockedTool]:
    for name, body in given.items():
        effects, schema = text_in(object_of(body), "effects"), text_in(object_of(body), "schema")
        if schema is not None and effects is not None and effects in EFFECTS:
            yield LockedTool(name, (at / name).key, EFFECTS[effects], schema)


def render_lock(lock: Lock) -> bytes:
    """Return the file of a lock: sorted, one line for each tool, the same bytes for the same tools."""
    servers = ",\n".join(_server(each) for _, each in sorted(lock.servers.items()))
    inside = f"{{\n{servers}\n  }}" if servers else "{}"
    return f'{{\n  "version": {VERSION},\n  "servers": {inside}\n}}\n'.encode()


def _server(each: LockedServer) -> str:
    tools = ",\n".join(_tool(tool) for _, tool in sorted(each.tools.items()))
    inside = f"{{\n{tools}\n      }}" if tools else "{}"
    return (
        f'    {json.dumps(each.name)}: {{\n      "launch": {json.dumps(each.launch)},\n      "tools": {inside}\n    }}'
    )


def _tool(each: LockedTool) -> str:
    return f"        {json.dumps(each.name)}: {json.dumps({'effects': each.effects.value, 'schema': each.schema})}"


def digest(given: object) -> str:
    """Return the SHA-256 of a JSON value written with sorted keys and without blanks, in hexadecimal digits."""
    from hashlib import sha256  # with its library it takes longer to load than most projects take to check

    text = json.dumps(given, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
