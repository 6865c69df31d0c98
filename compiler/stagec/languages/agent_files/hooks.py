"""Hooks of Claude Code as settings, plugins, agents and skills write them: entries, matchers, and what is malformed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from stagec.core.json import Json, Object, kind_of, list_of, object_of
from stagec.core.place import Mention, Place
from stagec.core.value import value
from stagec.languages.agent_files.known import CLAUDE_CODE, read_data
from stagec.languages.agent_files.values import find_expected


def is_compared_with_tools(event: str) -> bool:
    """Tell whether the matchers of an event are compared with names of tools."""
    return event in read_data()[CLAUDE_CODE]["tool-events"]


def can_refuse(event: str) -> bool:
    """Tell whether hooks of an event can refuse a call; one malformed entry costs all settings, or the agent."""
    return event in read_data()[CLAUDE_CODE]["guard-events"]


_NEEDED, _EVERY = "needed", "*"
"""Of a row of `hook-members`: what is a text that must be there, and what holds for every type."""
_UNSHOWN = frozenset({"some", "shell", "address"})
"""Kinds of texts: that something else is a text says nothing."""
_NOTHING = kind_of(None)
_EXACT = re.compile(r"[A-Za-z0-9_,| -]*")


@value
class HookFault:
    """A malformed member: its place, and a reason with the value found or the type expected."""

    at: Place
    reason: str
    event: str
    found: str = ""
    expected: str = ""

    @property
    def costs_file(self) -> bool:
        """Whether Claude Code gives up the whole file, and not this entry alone; it passes over an event of nothing."""
        is_empty = self.reason == "no list" and self.found == _NOTHING
        return self.reason == "no map" or (can_refuse(self.event) and not is_empty)


@value
class HookHandler:
    """One well-formed hook; `members` is all that is written about it."""

    at: Place
    members: Object


@value
class HookEntry:
    """One well-formed entry of an event: a matcher, if there is one, and hooks."""

    at: Place
    event: str
    matcher: str | None
    hooks: tuple[HookHandler, ...]

    def list_exact_names(self) -> tuple[str, ...]:
        """Return the names that the matcher is compared with; none if it is a regular expression or matches all."""
        if self.matcher is None or not self.matcher.strip() or _EXACT.fullmatch(self.matcher) is None:
            return ()
        return tuple(name for each in re.split(r"[,|]", self.matcher) if (name := each.strip()))


@value
class Hooks:
    """A map of hooks: the events with their places, the entries that count, and what is malformed."""

    at: Place
    events: tuple[tuple[str, Place], ...] = ()
    entries: tuple[HookEntry, ...] = ()
    faults: tuple[HookFault, ...] = ()


def read_hooks(given: Json, at: Place) -> Hooks:
    """Return the hooks in a map; of an entry with a fault only the fault."""
    if not isinstance(given, dict):
        return Hooks(at, faults=(HookFault(at, "no map", "", kind_of(given)),))
    found: list[HookEntry | HookFault] = []
    for event, entries in given.items():
        found += _EventReader(event).read(entries, at / event)
    return Hooks(
        at,
        tuple((event, (at / event).key) for event in given),
        tuple(each for each in found if isinstance(each, HookEntry)),
        tuple(each for each in found if isinstance(each, HookFault)),
    )


class _EventReader:
    """Reads the entries of one event; what is malformed is a fault, and the rest of its entry is nothing."""

    def __init__(self, event: str) -> None:
        self._event = event

    def read(self, given: Json, at: Place) -> Iterator[HookEntry | HookFault]:
        if not isinstance(given, list):
            yield self._fault(at, "no list", given)
            return
        for index, entry in enumerate(given):
            place = at / index
            faults = tuple(self._check_entry(entry, place))
            yield from faults
            if not faults:
                yield self._entry(object_of(entry), place)

    def _fault(self, at: Place, reason: str, given: Json) -> HookFault:
        return HookFault(at, reason, self._event, kind_of(given))

    def _entry(self, given: Object, at: Place) -> HookEntry:
        matcher, hooks = given.get("matcher"), list_of(given.get("hooks"))
        handlers = tuple(HookHandler(at / "hooks" / index, object_of(each)) for index, each in enumerate(hooks))
        return HookEntry(at, self._event, matcher if isinstance(matcher, str) else None, handlers)

    def _check_entry(self, given: Json, at: Place) -> Iterator[HookFault]:
        if not isinstance(given, dict):
            yield self._fault(at, "no entry", given)
            return
        if not isinstance(given.get("matcher", ""), str):
            yield self._fault(at / "matcher", "matcher", given["matcher"])
        if "hooks" not in given:
            needed = (
                "type",
                *(member for _, member, wanted in read_data()[CLAUDE_CODE]["hook-members"] if wanted == _NEEDED),
            )
            yield HookFault(at, "no hooks", self._event, next((key for key in needed if key in given), ""))
        elif not isinstance(given["hooks"], list):
            yield self._fault(at / "hooks", "hooks", given["hooks"])
        for index, hook in enumerate(list_of(given.get("hooks"))):
            yield from self._check_hook(hook, at / "hooks" / index)

    def _check_hook(self, given: Json, at: Place) -> Iterator[HookFault]:
        if not isinstance(given, dict):
            yield self._fault(at, "no hook", given)
            return
        kind = given.get("type")
        if "type" not in given:
            yield HookFault(at, "no type", self._event)
        elif not isinstance(kind, str) or kind not in read_data()[CLAUDE_CODE]["hook-types"]:
            yield HookFault(at / "type", "type", self._event, kind if isinstance(kind, str) else kind_of(kind))
        else:
            yield from self._check_members(given, at, kind)

    def _check_members(self, given: Object, at: Place, kind: str) -> Iterator[HookFault]:
        told = set()
        for type_, member, wanted in read_data()[CLAUDE_CODE]["hook-members"]:
            if type_ not in (kind, _EVERY) or member in told:
                continue
            wrong = find_expected(given[member], "text" if wanted == _NEEDED else wanted) if member in given else ""
            if wanted == _NEEDED and member not in given:
                yield HookFault(at, f"no {member}", self._event, kind)
            elif wrong:
                told.add(member)
                found = "" if wanted in _UNSHOWN else kind_of(given[member])
                yield HookFault(at / member, "member", self._event, found, wrong)


_ROOT = r"(?:\$CLAUDE_PROJECT_DIR|\$\{CLAUDE_PROJECT_DIR\})"
_PLUGIN = r"\$\{CLAUDE_PLUGIN_ROOT\}"
_RUNNERS = r"(?:bash|sh|zsh|node|python3?|ruby|perl|bun)"
"""Programs that run a file."""
_RUNNER = rf"(?:{_RUNNERS}[ ]+)?"
_WORD = r"[\w@%+=:,./-]+"
_SHELL = re.compile(
    rf"\s*{_RUNNER}(?:"
    rf"\"(?P<quoted>{_ROOT}|{_PLUGIN})/(?P<inside>[\w@%+=:,./ -]+)\""
    rf"|\"(?P<base>{_ROOT}|{_PLUGIN})\"/(?P<behind>{_WORD})"
    r"|(?:\"\"|'')(?P<bare>/\.(?:claude|opencode|cursor|github)/[\w@%+=:,./-]+)"
    rf"|(?P<plain>(?:{_ROOT}|{_PLUGIN}|\.)/|\.claude/)(?P<rest>{_WORD})"
    r")(?=[\s;&|>)]|\Z)",
    re.ASCII,
)
_OWN = ".claude/"
_MADE = frozenset({"node_modules", ".venv", "venv", "dist", "build", "out", "target", "bin", ".cache"})
"""Folders whose files are made, not written."""


def list_scripts(hooks: Hooks, *, is_plugin: bool) -> Iterator[Mention]:
    """Yield the files, relative to the project or the plugin, that the commands of hooks certainly run."""
    for entry in hooks.entries:
        for hook in entry.hooks:
            path = _find_script(hook, is_plugin=is_plugin)
            if path is not None and _MADE.isdisjoint(path.split("/")) and not path.startswith("../"):
                yield Mention(path, hook.at / "command")


_LOCAL = re.compile(rf"\s*{_RUNNER}(?P<path>\./{_WORD})(?=[\s;&|>)]|\Z)", re.ASCII)


def list_local_scripts(hooks: Hooks) -> Iterator[Mention]:
    """Yield the files that the commands of hooks look for in the folder that the session is in."""
    for entry in hooks.entries:
        for hook in entry.hooks:
            command = hook.members.get("command")
            found = _LOCAL.match(command) if isinstance(command, str) else None
            if found is not None and hook.members.get("type") == "command":
                yield Mention(found["path"], hook.at / "command")


def _find_script(hook: HookHandler, *, is_plugin: bool) -> str | None:
    command = hook.members.get("command")
    if hook.members.get("type") != "command" or not isinstance(command, str):
        return None
    arguments = hook.members.get("args")
    if isinstance(arguments, list) and arguments and re.fullmatch(_RUNNERS, command):  # the file is the first argument
        found = _SHELL.fullmatch(str(arguments[0]))
    else:
        found = _SHELL.match(command)
        found = None if found is not None and "args" in hook.members and found.end() < len(command) else found
    if found is None:
        return None
    if found["bare"]:
        return found["bare"]
    base = found["quoted"] or found["base"] or found["plain"]
    if ("PLUGIN" in base) is not is_plugin:
        return None
    written = found["inside"] or found["behind"] or found["rest"]
    return posixpath.normpath(f"{_OWN}{written}" if base == _OWN else written)
