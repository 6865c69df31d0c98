"""What the agents of workflows of gh-aw may do."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.ir.catalogue.document import LabelBook, pick, read_data
from stagec.ir.rights import Label, Labelled, Right, Teller

_OFF: tuple[Json, ...] = (False,)
_EVERYTHING = frozenset({"*", ":*"})
_SAFE = ("cat", "echo", "head", "ls")
"""The name of the commands that a workflow gets by default: they read, and do nothing else."""
_NO_TOOLS = frozenset({"timeout", "startup-timeout", "cli-proxy", "bash", "github"})
_CHECKED = frozenset({"approved", "merged"})
"""Integrity of what the GitHub tools show: only what people who are trusted have written or taken over."""


class WorkflowRights:
    """Reads what the frontmatter of one workflow allows."""

    def __init__(self, members: Object, at: Place, book: LabelBook) -> None:
        self._members, self._at, self._book = members, at, book
        self._tools = object_of(members.get("tools"))

    @property
    def is_open(self) -> bool:
        """Whether the agent may do more: imports bring tools, and a sandbox brings a shell and an editor."""
        return "imports" in self._members or not {"bash", "edit"} <= {*self._tools}

    def list_rights(self) -> Iterator[Right]:
        """Yield what the agent may do, in the order of the file."""
        for name, given in self._tools.items():
            at = self._at / "tools" / name
            if given in _OFF:
                continue
            if name == "bash":
                yield from self._list_commands(given, at)
            elif name == "github":
                yield from self._list_github(object_of(given), at)
            elif name not in _NO_TOOLS:
                yield from self._list_server(name, object_of(given), at)
        for name, given in object_of(self._members.get("mcp-servers")).items():
            yield from self._list_server(name, object_of(given), self._at / "mcp-servers" / name, is_server=True)
        yield from self._list_outputs(object_of(self._members.get("safe-outputs")))

    def _list_commands(self, given: Json, at: Place) -> Iterator[Right]:
        """Yield the shell: with all commands, or with what those do that are listed."""
        listed = [each for each in list_of(given) if isinstance(each, str)]
        if given is True or _EVERYTHING & {*listed}:
            yield Right("bash", at, self._book.find("bash"))
            return
        if isinstance(given, list) and not listed:
            return
        found = [self._book.find_program(tuple(each.replace(":", " ").split())) for each in listed or _SAFE]
        labels = frozenset[Label]().union(*(each.labels for each in found))
        known = any(each.teller is not Teller.NOBODY for each in found)
        yield Right("bash", at, Labelled(labels, Teller.LIST if known else Teller.NOBODY))

    def _list_github(self, given: Object, at: Place) -> Iterator[Right]:
        """Yield the tools of GitHub: they read, and write only with a declared toolset and a token that allows it."""
        named = [
            each if isinstance(each, str) else text_in(object_of(each), "name")
            for each in list_of(given.get("allowed"))
        ]
        allowed = [each for each in named if each and each != "*"]
        is_checked = text_in(given, "min-integrity") in _CHECKED
        for name in allowed or ("*",):
            found = self._book.find(f"mcp__github__{name}")
            labels = found.labels
            if found.teller is Teller.LIST and not self._writes(given):
                labels = frozenset({Label.PRIVATE, Label.UNTRUSTED})
            labels -= {Label.UNTRUSTED} if is_checked else frozenset()
            where = at if name == "*" else at / "allowed" / named.index(name)
            yield Right(f"github/{name}", where, replace(found, labels=labels))

    def _writes(self, given: Object) -> bool:
        permissions = self._members.get("permissions")
        may = permissions == "write-all" or "write" in object_of(permissions).values() or "github-token" in given
        return given.get("read-only") is False and may

    def _list_server(self, name: str, given: Object, at: Place, *, is_server: bool = False) -> Iterator[Right]:
        """Yield a tool of gh-aw, or those of a server that are allowed."""
        allowed = [each for each in list_of(given.get("allowed")) if isinstance(each, str)]
        if allowed and "*" not in allowed:
            for index, each in enumerate(allowed):
                yield Right(f"{name}/{each}", at / "allowed" / index, self._book.find(f"mcp__{name}__{each}"))
            return
        own = Labelled() if is_server else self._book.find(name.replace("-", ""))
        found = own if own.teller is not Teller.NOBODY else self._book.find(f"mcp__{name}__*")
        yield Right(f"{name}/*" if is_server else name, at, found)

    def _list_outputs(self, given: Object) -> Iterator[Right]:
        """Yield what is written for the agent after it has ended, unless that is only shown."""
        if given.get("staged") is True:
            return
        table = read_data()["safe-outputs"]
        for name, each in given.items():
            labels = pick(table, name)
            if labels is not None and each not in _OFF:
                declared = self._book.find(name)
                known = declared if declared.teller is not Teller.NOBODY else Labelled(labels, Teller.LIST)
                yield Right(name, self._at / "safe-outputs" / name, known)
