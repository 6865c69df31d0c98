"""Servers of `.mcp.json` as Claude Code reads them: which it drops, and under which names their tools appear."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.core.json import Object, list_of, object_of
from stagec.core.place import Place
from stagec.core.value import value
from stagec.languages.agent_files.known import Known
from stagec.sources.tree import Tree

_FOREIGN_ADDRESSES = ("serverUrl", "httpUrl")
"""Under which keys other hosts keep an address."""
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")
_OF_CURSOR = re.compile(r"\$\{env:[^}]*\}")


@value
class ServerFault:
    """Why a server is dropped or not what its author means: a reason, the place, and what stands there."""

    at: Place
    reason: str
    found: str = ""


@value
class McpServer:
    """One server of a file and what is written about it; `tool_name` stands for it in the names of its tools."""

    name: str
    at: Place
    members: Object
    faults: tuple[ServerFault, ...] = ()

    @property
    def tool_name(self) -> str:
        """What stands for the server in the names of its tools."""
        return _OUTSIDE.sub("_", self.name)


def read_servers(tree: Tree, known: Known) -> tuple[McpServer, ...]:
    """Return the servers of a file; all else in it is none of this tool's."""
    servers = object_of(object_of(tree.value).get("mcpServers"))
    at = tree.at / "mcpServers"
    return tuple(
        McpServer(name, at / name, given, tuple(_check(name, given, at / name, known)))
        if isinstance(given, dict)
        else McpServer(name, at / name, {})
        for name, given in servers.items()
    )


def _check(name: str, given: Object, at: Place, known: Known) -> Iterator[ServerFault]:
    """Yield what is wrong with a server, as far as it is not wrong for every host: others say that."""
    if given.get("disabled") is True:
        yield ServerFault(at / "disabled", "disabled")
        return
    if name in known.names("reserved-servers"):
        yield ServerFault(at.key, "reserved", name)
    foreign = next((key for key in _FOREIGN_ADDRESSES if key in given), None)
    if "command" not in given and "url" in given and "type" not in given:
        yield ServerFault(at.key, "untyped", str(given["url"]))
    elif "command" not in given and "url" not in given and foreign is not None:
        yield ServerFault((at / foreign).key, "foreign address", foreign)
    kind = given.get("type")
    if isinstance(kind, str) and kind not in known.names("server-types"):
        yield ServerFault(at / "type", "type", kind)
    texts = [(at / key, given.get(key)) for key in ("command", "url")]
    texts += [(at / "args" / index, each) for index, each in enumerate(list_of(given.get("args")))]
    texts += [(at / key / name, each) for key in ("env", "headers") for name, each in object_of(given.get(key)).items()]
    for place, each in texts:
        found = _OF_CURSOR.search(each) if isinstance(each, str) else None
        if found is not None:
            yield ServerFault(place, "foreign variable", found[0])
