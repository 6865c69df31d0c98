"""Kinds of agent files: where they are, and how their tool reads one, by the rows in the data."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from stagec.core.value import value
from stagec.languages.agent_files import loaders
from stagec.languages.agent_files.known import read_data
from stagec.languages.agent_files.loaders import Loader


@value
class Where:
    """The meaning of a file's path.

    `home` is the folder that has the tool's own folder, such as `.claude`, or the root of a plugin; `name` is what the
    file is called below that. What is in a plugin counts only if `home` is a plugin of the tool `plugin_of`. Anything
    else counts only if one of the files `proofs` is there, or the file begins with a `sign`; with neither it counts in
    any case, unless the file `refutation` is there.
    """

    home: str
    name: str
    proofs: tuple[str, ...] = ()
    plugin_of: str | None = None
    sign: re.Pattern[bytes] | None = None
    refutation: str | None = None

    @property
    def is_plugin(self) -> bool:
        """Whether the file is part of a plugin."""
        return self.plugin_of is not None


@value
class AgentKind:
    """A kind of agent files: where they are, and how the tool that owns them reads one.

    `find(file)` yields what a path may mean, the likeliest first. `title` is what messages call such a file, `keys`
    names the keys in the data about tools that a file may have; without them every key counts. A file that `is_shared`
    is read by another system, too, and its tree is left as that made it. What is not `is_read` is a file that the tool
    does not find.
    """

    name: str
    title: str
    owner: str
    find: Callable[[str], Iterator[Where]]
    load: Loader
    keys: str = ""
    is_read: bool = True
    is_shared: bool = False


_LOADERS: Mapping[str, Loader] = {
    "claude": loaders.load_claude_code,
    "cursor": loaders.load_cursor,
    "json": loaders.load_json,
    "jsonc": loaders.load_jsonc,
    "opencode": loaders.load_opencode,
    "prose": loaders.load_prose,
    "strict": loaders.load_strict,
    "toml": loaders.load_toml,
    "unread": loaders.load_unread,
}


@cache
def list_kinds() -> tuple[AgentKind, ...]:
    """Return every kind, in the order in which they are asked whether a file is theirs."""
    every = ((owner, row) for owner, data in read_data().items() for row in data.get("kinds", ()))
    return tuple(_make_kind(owner, row) for owner, row in every)


def _make_kind(owner: str, row: Mapping[str, Any]) -> AgentKind:
    ways = [_below(row, *row["below"])] if "below" in row else []
    ways += [_inside_plugin(row, row.get("plugin_owner", owner), *row["plugin"])] if "plugin" in row else []
    return AgentKind(
        row["name"],
        row["title"],
        row.get("owner", owner),
        lambda file: (where for way in ways for where in way(file)),
        _LOADERS[row["load"]],
        row.get("keys", ""),
        row.get("found", True),
        row.get("shared", False),
    )


def _below(row: Mapping[str, Any], folder: str, name: str) -> Callable[[str], Iterator[Where]]:
    """Return how files are found whose path below a folder, at any depth of a project, is like a pattern."""
    inside = f"{folder}/" if folder else ""
    pattern = re.compile(rf"(?:(?P<home>.+{'?' if folder else ''})/)?{inside}{name}", re.DOTALL)
    compiled, refuted_by = row.get("compiled"), row.get("refuted_by")
    sign = re.compile(row["sign"].encode()) if "sign" in row else None

    def find(file: str) -> Iterator[Where]:
        found = pattern.fullmatch(file)
        if found is not None:
            called = found.groupdict().get("name") or file
            proofs = () if compiled is None else (posixpath.splitext(file)[0] + compiled,)
            refutation = None
            if refuted_by is not None:  # what is in a folder with that file is a part of it
                refutation = f"{file.removesuffix(called)}{called.partition('/')[0]}/{refuted_by}"
            yield Where(found["home"] or "", called, proofs, None, sign, refutation)

    return find


def _inside_plugin(row: Mapping[str, Any], owner: str, folder: str, name: str) -> Callable[[str], Iterator[Where]]:
    """Return how files of a tool's plugins are found, in a folder of the plugin's root."""
    inside, called = re.compile(rf"(?:^|/)(?=({folder})/)"), re.compile(name, re.DOTALL)

    def find(file: str) -> Iterator[Where]:
        for split in inside.finditer(file):
            found = called.fullmatch(file, split.end(1) + 1)
            if found is not None:
                first = file[split.end(1) + 1 :].partition("/")[0]
                refutation = f"{file[: split.end(1)]}/{first}/{row['refuted_by']}" if "refuted_by" in row else None
                yield Where(file[: split.start()], found["name"], plugin_of=owner, refutation=refutation)

    return find
