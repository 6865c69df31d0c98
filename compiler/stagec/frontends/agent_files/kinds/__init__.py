"""Shelf: one child per tool whose agent files are read, each defining the `AgentKinds` of its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from stagec.core.value import value
from stagec.frontends.agent_files.loaders import Loader

__all__ = ["AgentKind", "AgentKinds", "Loader", "Where", "below", "either", "inside_plugin"]


@value
class Where:
    """What the path of a file says of it.

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


@value
class AgentKinds:
    """The kinds of files of one tool, in the order in which they are asked whether a file is theirs."""

    every: tuple[AgentKind, ...]


def below(folder: str, name: str) -> Callable[[str], Iterator[Where]]:
    """Return how files are found whose path below a folder, at any depth of a project, is like a pattern.

    The group `name` of the pattern is what the file is called, without it the whole path.
    """
    inside = f"{folder}/" if folder else ""
    pattern = re.compile(rf"(?:(?P<home>.+{'?' if folder else ''})/)?{inside}{name}", re.DOTALL)

    def find(file: str) -> Iterator[Where]:
        found = pattern.fullmatch(file)
        if found is not None:
            yield Where(found["home"] or "", found.groupdict().get("name") or file)

    return find


def either(*ways: Callable[[str], Iterator[Where]]) -> Callable[[str], Iterator[Where]]:
    """Return how files are found in one of several ways."""
    return lambda file: (where for way in ways for where in way(file))


def inside_plugin(folder: str, name: str, owner: str = "Claude Code") -> Callable[[str], Iterator[Where]]:
    """Return how files of a tool's plugins are found, in a folder of the plugin's root."""
    inside, called = re.compile(rf"(?:^|/)(?=({folder})/)"), re.compile(name, re.DOTALL)

    def find(file: str) -> Iterator[Where]:
        for split in inside.finditer(file):
            found = called.fullmatch(file, split.end(1) + 1)
            if found is not None:
                yield Where(file[: split.start()], found["name"], plugin_of=owner)

    return find


@cache
def list_kinds() -> tuple[AgentKind, ...]:
    """Return every kind, in the order in which they are asked whether a file is theirs."""
    from stagec.core.shelf import members
    from stagec.frontends.agent_files import kinds

    return tuple(kind for each in members(kinds, AgentKinds) for kind in each.every)
