"""The rights of agents of other tools, each agent alone, as the owner of the file reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Mention, Place
from stagec.core.value import replace, value
from stagec.ir.catalogue.document import LabelBook, pick, read_data
from stagec.ir.catalogue.read import find_nearby
from stagec.ir.rights import FlowRights, Label, Labelled, PermissionMode, Right, Rights, ShellText, Teller, stand_alone
from stagec.languages.agent_files.claude_project import ClaudeProject, ClaudeSettings
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.hooks import HookEntry, can_refuse
from stagec.languages.agent_files.known import COPILOT, OPENCODE
from stagec.languages.agent_files.permission_rules import Behaviour
from stagec.languages.agent_files.tool_names import Denials, ToolGroup, list_tools
from stagec.languages.agent_files.values import find_misfits
from stagec.sources.read import Sources

_TOOLS = ("read", "grep", "glob", "list", "edit", "write", "patch", "bash", "webfetch", "websearch", "task", "skill")
_EDIT, _EDITING = "edit", frozenset({"edit", "write", "patch", "apply_patch"})
_GUARDS = frozenset({"external_directory", "doom_loop"})
"""Permissions that are about what tools are given, and are no tools."""
_OPENCODE_RIGHTS_EVERY, _DENY = "*", "deny"
_OF_SERVER = "\0"
"""Stands for a tool that no rule names."""


@value
class AllowedTools:
    """The tools that an agent may call, each with its rule, and the tools that are `denied` to it.

    `is_open` tells whether it may call others.
    """

    tools: tuple[Mention, ...]
    is_open: bool
    denied: tuple[str, ...] = ()


@value
class _Rule:
    """The effect of a rule on the calls of a tool, or on those whose argument fits a pattern."""

    tool: str
    pattern: str
    action: str
    at: Place


def read_allowed(members: Object, at: Place) -> AllowedTools:
    """Return the allowed tools in the frontmatter of an agent; the configuration decides about others."""
    rules = tuple(_list_rules(_merge(members, at)))
    named = (each.tool for each in rules if each.tool not in _GUARDS and each.tool != _OPENCODE_RIGHTS_EVERY)
    found: list[Mention] = []
    for name in dict.fromkeys((*_TOOLS, *named)):
        rule = _decide(rules, name)
        if rule is not None and rule.action != _DENY:
            found.append(Mention(name, rule.at))
    other = _decide(rules, _OF_SERVER)
    decided = {name: _decide(rules, name) for name in _TOOLS}
    denied = tuple(name for name, rule in decided.items() if rule is not None and rule.action == _DENY)
    return AllowedTools(tuple(found), other is None or other.action != _DENY, denied)


def _merge(members: Object, at: Place) -> Mapping[str, tuple[Json, Place]]:
    """Return the value of each permission, in the order that OpenCode reads; `permission` overrides `tools`."""
    merged: dict[str, tuple[Json, Place]] = {}
    for name, is_on in object_of(members.get("tools")).items():
        merged[_EDIT if name in _EDITING else name] = ("allow" if is_on else _DENY, at / "tools" / name)
    given = members.get("permission")
    if isinstance(given, str):
        merged[_OPENCODE_RIGHTS_EVERY] = (given, at / "permission")
    return merged | {name: (each, at / "permission" / name) for name, each in object_of(given).items()}


def _list_rules(merged: Mapping[str, tuple[Json, Place]]) -> Iterator[_Rule]:
    for tool, (given, at) in merged.items():
        if isinstance(given, str):
            yield _Rule(tool, _OPENCODE_RIGHTS_EVERY, given, at)
        for pattern, action in object_of(given).items():
            if isinstance(action, str):
                yield _Rule(tool, pattern, action, at / pattern)


def _decide(rules: tuple[_Rule, ...], name: str) -> _Rule | None:
    """Return the rule by which a tool can be called, or by which no call of it can pass; the last that fits counts."""
    found: _Rule | None = None
    permission = _EDIT if name in _EDITING else name
    for rule in rules:
        fits = rule.tool == name or fnmatchcase(permission, rule.tool.replace("[", "[[]"))
        if fits and (rule.action != _DENY or rule.pattern == _OPENCODE_RIGHTS_EVERY):
            found = rule
    return found


_LISTING = {
    "claude-agent": "tools",
    "claude-command": "allowed-tools",
    "claude-skill": "allowed-tools",
    "copilot-agent": "tools",
    "copilot-chat-mode": "tools",
    "copilot-prompt": "tools",
}
_TOLD = ("opencode-agent", "opencode-mode", "opencode-command", "gh-aw-workflow")
_RIGHTS_EVERY, _SET = "*", "/"
_SCRIPT = re.compile(r"!`([^`\n]*)`")
_ARGUMENT = re.compile(r"\$(?:ARGUMENTS\b|\d+)")


def list_accesses(files: AgentFiles, sources: Sources) -> Iterator[FlowRights]:
    """Yield the rights of each agent, command, skill, prompt and workflow, as the tool that owns the file reads it."""
    books: dict[str, LabelBook] = {}
    for file in files.of(*_LISTING, *_TOLD):
        home = file.where.home
        if home not in books:
            books[home] = LabelBook(find_nearby(sources, f"{home}/." if home else "."))
        rights = _RightsReader(files, file, books[home]).find_rights()
        if rights is not None:
            name = text_in(file.members, "name") or file.where.name
            yield stand_alone(name, file.at, rights, file.title)


class _RightsReader:
    """Reads what one file allows."""

    def __init__(self, files: AgentFiles, file: AgentFile, book: LabelBook) -> None:
        self._files, self._file, self._book = files, file, book
        self._kind = file.kind.name
        # what the agent is told, and what others are told of it
        text = file.tree.data.decode(errors="replace")
        told = (text_in(file.members, "description"), text_in(file.members, "prompt"))
        body = text[slice(*(file.tree.body or (0, len(text))))]
        self._prompts = (*(each or "" for each in told), body)

    def find_rights(self) -> Rights | None:
        """Return the rights in the file; None for an agent that its tool does not load."""
        if self._kind in _LISTING:
            return self._read_list(_LISTING[self._kind])
        if self._kind == "gh-aw-workflow":
            workflow = WorkflowRights(self._file.members, self._file.at, self._book)
            return Rights(tuple(workflow.list_rights()), workflow.is_open, prompts=self._prompts)
        return self._read_opencode()

    def _read_list(self, key: str) -> Rights:
        """Return the rights in a list of tools, without the denied ones."""
        files, file = self._files, self._file
        settings = [each for home, each in files.claude.settings if home == file.where.home]
        is_claude = self._kind.startswith("claude")
        denials = Denials((rule for each in settings if is_claude for rule in each.list_denied()), files.known)
        denied = list_tools(file, files.known, "disallowedTools") if is_claude else ()
        taken = {each.name for each in denied if each.group is ToolGroup.KNOWN}
        tools: dict[str, Right] = {}
        listed = list_tools(file, files.known, key)
        for each in listed:
            if each.name not in taken and denials.find(each.name) is None and each.name != _RIGHTS_EVERY:
                tools.setdefault(each.name, Right(each.name, each.at, self._find(each.name)))
        given = text_in(file.members, "permissionMode") if self._kind == "claude-agent" else None
        mode = PermissionMode(given, file.at / "permissionMode") if given is not None else None
        shell = tuple(_list_shell_texts(file)) if key == "allowed-tools" else ()
        is_open = key not in file.members or any(each.name == _RIGHTS_EVERY for each in listed)
        if is_claude and is_open:
            taken |= {each for each in files.known.names("tools") if denials.find(each) is not None}
        without = tuple(sorted(taken)) if is_open else ()
        return Rights(tuple(tools.values()), is_open, mode, prompts=self._prompts, shell=shell, without=without)

    def _read_opencode(self) -> Rights | None:
        """Return the rights of an agent in OpenCode; a command has the tools of the agent that runs it."""
        members, at = self._file.members, self._file.at
        if self._kind == "opencode-command":
            return Rights((), is_open=True, prompts=self._prompts, shell=tuple(_list_shell_texts(self._file)))
        if members.get("disable") is True or self._has_misfit():
            return None
        allowed = read_allowed(members, at)
        tools = tuple(Right(each.name, each.at, self._find(each.name)) for each in allowed.tools)
        return Rights(tools, allowed.is_open, prompts=self._prompts, without=allowed.denied if allowed.is_open else ())

    def _has_misfit(self) -> bool:
        file = self._file
        return any(True for _ in find_misfits(file.members, file.at, self._files.known, "agent", OPENCODE))

    def _find(self, name: str) -> Labelled:
        """Return the effects of a tool under its owner's name: `server/tool`, `set/tool` or `server_tool`."""
        for each in self._list_names(name):
            found = self._book.find(each)
            if found.teller is not Teller.NOBODY:
                return found
        return Labelled()

    def _list_names(self, name: str) -> Iterator[str]:
        """Yield the names by which catalogues and stagec's list may know a tool, the most exact first."""
        yield name
        if self._kind.startswith("copilot"):
            known = self._files.known
            head, slash, tail = (known.aliases("renamed-tools", COPILOT).get(name) or name).partition(_SET)
            if head.lower() in known.names("tools", COPILOT):
                yield from (tail, head)
            elif slash:
                yield f"mcp__{head}__{tail}"
        elif self._kind.startswith("opencode"):
            parts = name.split("_")
            for at in range(len(parts) - 1, 0, -1):
                yield f"mcp__{'_'.join(parts[:at])}__{'_'.join(parts[at:])}"


def _list_shell_texts(file: AgentFile) -> Iterator[ShellText]:
    """Yield the texts of the user of a command that a shell reads before the model does."""
    for found in _SCRIPT.finditer(file.text):
        named = _ARGUMENT.search(found[1])
        if named is not None:
            at = replace(Place(file.tree.file), range=found.span(1))
            yield ShellText(named[0], at, "the shell")


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
        """Yield the rights of the agent, in the order of the file."""
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
        """Yield the outputs that are written for the agent after its end, unless they are only shown."""
        if given.get("staged") is True:
            return
        table = read_data()["safe-outputs"]
        for name, each in given.items():
            labels = pick(table, name)
            if labels is not None and each not in _OFF:
                declared = self._book.find(name)
                known = declared if declared.teller is not Teller.NOBODY else Labelled(labels, Teller.LIST)
                yield Right(name, self._at / "safe-outputs" / name, known)


_SHOWN_OF_HOOKS: Mapping[str, str] = {"command": "command", "http": "url", "mcp_tool": "tool"}
"""The member of a hook that shows what it starts; a hook of another type asks a model."""


@value
class ProjectGrant:
    """One permission rule, permission mode, folder, hook or server: its file, noun and name.

    Two that are equal but for `definition` are the same one before and after a change; `told` shows the definition.
    With one that `widens`, agents may do more or programs start; one that `guards` can refuse what agents do.
    """

    file: str
    noun: str
    name: str
    told: str
    definition: str
    widens: bool
    guards: bool


def list_grants(project: ClaudeProject) -> Iterator[ProjectGrant]:
    """Yield the grants and denials of a project, without those that Claude Code drops."""
    for _, settings in project.settings:
        if not settings.is_lost:
            yield from _list_of_settings(settings)
    lost = {settings.at.file for _, settings in project.settings if settings.is_lost}
    entries = (entry for owned in project.hooks for entry in owned.hooks.entries)
    yield from (grant for each in entries if each.at.file not in lost for grant in _list_of_hooks(each))
    for server in project.servers:
        if not any(each.reason == "disabled" for each in server.faults):
            started = server.members.get("url") or server.members.get("command")
            told = _join([*([started] if started else ()), *list_of(server.members.get("args"))])
            if started:
                yield _make(server.at.file, "server", server.name, told, server.members)


def _list_of_settings(settings: ClaudeSettings) -> Iterator[ProjectGrant]:
    file = settings.at.file
    for rule in settings.rules:
        if rule.refusal is None and rule.neglect is None:
            allows = rule.behaviour is Behaviour.ALLOW
            name = f"{rule.behaviour} {rule.given}"
            yield ProjectGrant(file, "rule", name, "", "", widens=allows, guards=not allows)
    permissions = object_of(settings.members.get("permissions"))
    if isinstance(mode := permissions.get("defaultMode"), str):
        yield _make(file, "permission mode", "", mode, mode)
    for folder in list_of(permissions.get("additionalDirectories")):
        if isinstance(folder, str):
            yield _make(file, "folder", folder, "", folder)


def _list_of_hooks(entry: HookEntry) -> Iterator[ProjectGrant]:
    matched = f"{entry.event}({entry.matcher})" if entry.matcher else entry.event
    for hook in entry.hooks:
        told = hook.members.get(_SHOWN_OF_HOOKS.get(str(hook.members.get("type")), "prompt"))
        yield ProjectGrant(
            entry.at.file,
            "hook",
            f"{matched}: {_join(told)}",
            "",
            _define(hook.members),
            widens=True,
            guards=can_refuse(entry.event),
        )


def _make(file: str, noun: str, name: str, told: str, definition: Json | Object) -> ProjectGrant:
    return ProjectGrant(file, noun, name, told, _define(definition), widens=True, guards=False)


def _define(given: Json | Object) -> str:
    """Return a text for a value that is equal for equal values; unlike canonical JSON, there is one for each value."""
    return json.dumps(given, sort_keys=True)


def _join(words: Json) -> str:
    return " ".join(map(str, words)) if isinstance(words, list) else str(words or "")
