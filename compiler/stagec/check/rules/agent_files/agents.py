"""Agents: their names, their tools, and keys that their program ignores."""

import json
import re
from collections.abc import Callable, Container, Iterator
from functools import partial

from stagec.check.rules.agent_files import SKILLS, correct_tools, describe_hook_fault, list_names, list_repeated, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import list_of, object_of, text_in
from stagec.core.nearest import Guess, NameIndex, guess, hint, is_slip
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.known import CLAUDE_CODE, COPILOT, OPENCODE, Known
from stagec.languages.agent_files.tool_names import (
    ToolEntry,
    ToolGroup,
    find_case,
    fold_server,
    has_texts,
    list_tools,
    list_undeclared_servers,
)
from stagec.languages.agent_files.values import find_misfits, list_handoff_targets, present


@rule(since="0.1", origin=("agent-files:unnamed-agent",))
def stg3106_unnamed_agent(document: AgentFiles) -> Iterator[Finding]:
    """An agent has no name, so Claude Code takes it for documentation.

    ## Why this matters
    Claude Code reads Markdown files below `.claude/agents` as agents only if they have a `name` that is a text. It
    says nothing of others, so that an agent with a description and tools is simply not there.

    ## How to fix
    Add a `name`. `stagec validate --unsafe-fixes` takes that of the file.
    """
    keys = document.known.keys("agent")
    pages = document.known.names("plugin-pages")
    for file in document.of("claude-agent"):
        is_page = file.where.name.rpartition("/")[2].upper() in pages
        if file.reading.is_bare and not is_page and not file.where.is_plugin and not file.tree.faults:
            told = "the file has no frontmatter, so it is not an agent: Claude Code reads it as documentation"
            yield Finding(file.at, told, severity=Severity.WARNING)
    for file in document.of("claude-agent"):
        name, others = file.members.get("name"), [key for key in file.members if key in keys and key != "name"]
        is_named = isinstance(name, str) and bool(name.strip())
        meant = file.where.name.rpartition("/")[2]
        is_page = meant.lower() == "readme"
        if is_named or is_page or not others or file.where.is_plugin or not file.reading.is_whole:
            continue
        at, change = (file.at / "name", Change.REPLACE) if "name" in file.members else (file.at, Change.INSERT)
        fix = Fix(f"write the name {quote(meant)}", (Edit(change, file.at / "name", meant),), is_safe=False)
        found = "has no 'name'" if name is None else "has a 'name' that is not a text"
        yield Finding(at, f"the agent {found}: Claude Code reads the file as documentation", (), fix)


@rule(since="0.1", origin=("agent-files:undescribed-agent",))
def stg3107_undescribed_agent(document: AgentFiles) -> Iterator[Finding]:
    """An agent has no description.

    ## Why this matters
    The description says when to use an agent. Claude Code does not load an agent without one, and GitHub requires it.

    ## How to fix
    Add a `description` that is a text.
    """
    for file in document.of("claude-agent", "copilot-agent"):
        given = file.members.get("description")
        is_copilot = file.kind.name == "copilot-agent"
        is_for_editor = is_copilot and file.members.get("target") == "vscode"
        is_named = is_copilot or isinstance(file.members.get("name"), str)
        is_told = isinstance(given, str) and (given.strip() if is_copilot else given)
        if is_told or not is_named or is_for_editor or file.where.is_plugin:
            continue
        if file.reading.is_whole:
            at = file.at / "description" if "description" in file.members else file.at
            what = "no 'description'" if given is None or given == "" else "a 'description' that is not a text"
            lost = "GitHub requires one" if is_copilot else "Claude Code does not load it"
            yield Finding(at, f"the agent has {what}: {lost}")
    yield from _judge_undescribed_plugin_agents(document)


def _judge_undescribed_plugin_agents(document: AgentFiles) -> Iterator[Finding]:
    """Yield the agents of plugins that load with a description that says nothing."""
    lists = {
        each.where.home: each.members["agents"] for each in document.of("claude-plugin") if "agents" in each.members
    }
    pages = document.known.names("plugin-pages")
    markets = [
        object_of(each) for file in document.of("claude-marketplace") for each in list_of(file.members.get("plugins"))
    ]
    is_listed_elsewhere = any("agents" in each for each in markets)
    for file in document.of("claude-agent"):
        name, is_read = file.where.name.rpartition("/")[2], file.reading.is_whole or file.reading.is_bare
        is_page = name.upper() in pages and "name" not in file.members
        if not file.where.is_plugin or not is_read or is_page or file.tree.faults or is_listed_elsewhere:
            continue
        listed = lists.get(file.where.home)
        is_loaded = listed is None or f"./agents/{file.where.name}.md" in (
            listed if isinstance(listed, list) else [listed]
        )
        if is_loaded and not text_in(file.members, "description"):
            called = quote(text_in(file.members, "name") or name)
            told = (
                f"the agent has no 'description': Claude Code loads it as {called}, and no model learns when to use it"
            )
            yield Finding(file.at, told, severity=Severity.WARNING)


@rule(since="0.1", origin=("agent-files:refused-agent-name",))
def stg3108_refused_agent_name(document: AgentFiles) -> Iterator[Finding]:
    """The name of an agent has a colon in it, or begins with a hyphen.

    ## Why this matters
    Claude Code 2.1.218 and later does not load such an agent: a colon separates a plugin from its agents.

    ## How to fix
    Give the agent another name, such as one of lower-case letters and hyphens.
    """
    for file in document.of("claude-agent"):
        name = None if file.where.is_plugin else file.members.get("name")  # those of plugins get another one
        if isinstance(name, str) and (":" in name or name.startswith("-")):
            why = "contains ':'" if ":" in name else "begins with '-'"
            yield Finding(file.at / "name", f"the name {quote(name)} {why}: Claude Code does not load the agent")


@rule(since="0.1", origin=("agent-files:repeated-agent-name",))
def stg3109_repeated_agent_name(document: AgentFiles) -> Iterator[Finding]:
    """Two agents of one project have the same name.

    ## Why this matters
    Claude Code knows agents by `name` alone, whatever their files are called. One of the two is loaded, by the order
    in which files are read, and nothing tells which.

    ## How to fix
    Give one of them another name, or delete it.
    """
    named = ((text_in(file.members, "name"), file) for file in document.of("claude-agent") if not file.where.is_plugin)
    loaded = (((file.where.home, name), file) for name, file in named if name and _is_described(file))
    for file, other in list_repeated(loaded):
        if other.real_path != file.real_path:
            related = (Related(other.at / "name", "the same name"),)
            message = f"another agent is called {quote(str(file.members['name']))}: Claude Code loads one of the two"
            yield Finding(file.at / "name", message, related)


def _is_described(file: AgentFile) -> bool:
    return isinstance(file.members.get("description"), str)


@rule(since="0.1", origin=("agent-files:toolless-agent",))
def stg3110_toolless_agent(document: AgentFiles) -> Iterator[Finding]:
    """No entry of an agent's tools names a tool.

    ## Why this matters
    Names of tools are exact. Claude Code silently drops unknown names, and refuses an agent without any tool at its
    first use.

    ## How to fix
    Write names of Claude Code's tools, such as `Read, Grep, Bash`. `stagec validate --fix` corrects their case. Names
    of your own go to `agent-files` in the [configuration](../configuration.md#agent-files).
    """
    known = document.known
    for file in document.of("claude-agent"):
        entries, withheld = list_tools(file, known), _list_withheld(file, known)
        if entries and all(each.group is not ToolGroup.KNOWN or each.name in withheld for each in entries):
            names = listing(list(dict.fromkeys(each.name for each in entries)), "nor")
            either, verb = ("neither ", "names a tool") if len(entries) > 1 else ("", "names no tool")
            is_withheld = any(each.name in withheld for each in entries)  # the main agent of a session may get these
            whose = f"that {known.version()} gives to subagents" if is_withheld else f"of {known.version()}"
            message = f"{either}{names} {verb} {whose}: the agent is refused at its first use"
            severity = Severity.WARNING if is_withheld else None
            fix = correct_tools(file, [each for each in entries if each.group is not ToolGroup.GONE], known)
            yield Finding(file.at / "tools", message, (), fix, severity=severity)


def _list_withheld(file: AgentFile, known: Known) -> frozenset[str]:
    """Return the tools that an agent does not get, even if it lists them."""
    is_planning = file.members.get("permissionMode") == "plan"
    never = (*known.names("never-for-subagents"), *(() if is_planning else known.names("only-when-planning")))
    return frozenset(never)


@rule(since="0.1", origin=("agent-files:emptied-tools",), severity=Severity.WARNING)
def stg3111_emptied_tools(document: AgentFiles) -> Iterator[Finding]:
    """The tools of an agent are empty, so that it has none.

    ## Why this matters
    Without the key `tools` an agent of Claude Code may use every tool; with nothing behind it the agent has none at
    all. A map of tools is the form of OpenCode, which Claude Code does not read.

    ## How to fix
    Delete the line if the agent may use every tool, as `stagec validate --unsafe-fixes` does, or name the tools.
    """
    for file in document.of("claude-agent"):
        given = file.members.get("tools", "absent")
        is_blank = given is None or (isinstance(given, str | list | dict) and not given)
        if is_blank or isinstance(given, dict) or (isinstance(given, str) and not given.strip(" ,\n")):
            what = "are a map" if isinstance(given, dict) and given else "are empty"
            edits = (Edit(Change.REMOVE, file.at / "tools"),)
            fix = Fix("delete 'tools'", edits, is_safe=False) if given is None else None
            yield Finding(file.at / "tools", f"the tools of this agent {what}: Claude Code gives it none", (), fix)
        elif given != "absent" and not has_texts(given):
            told = "the tools of this agent are not texts: Claude Code gives it none"
            yield Finding(file.at / "tools", told)


@rule(since="0.1", origin=("agent-files:unknown-agent-tool",), severity=Severity.WARNING)
def stg3112_unknown_agent_tool(document: AgentFiles) -> Iterator[Finding]:
    """Some of an agent's tools name nothing.

    ## Why this matters
    Claude Code drops names that it does not know in silence: the agent does less than its author thinks. Names are
    exact, also in their case. Some tools were renamed or taken away.

    ## How to fix
    Write the name that the message suggests, or take the entry away. `stagec validate --fix` corrects the case of
    names, and takes those away whose tools are gone. Names of your own go to `agent-files` in the
    [configuration](../configuration.md#agent-files).
    """
    known = document.known
    for file in document.of("claude-agent"):
        entries = list_tools(file, known)
        unknown = [each for each in entries if each.group is not ToolGroup.KNOWN]
        if len(unknown) == len(entries):
            continue  # then the agent has no tools at all
        for each in unknown:
            yield Finding(each.at, _describe(each, known), (), correct_tools(file, [each], known))


def _describe(entry: ToolEntry, known: Known) -> str:
    near = find_case(entry.name, known) or known.names("tools").slip(entry.name)
    if entry.group is ToolGroup.GONE:
        now = known.aliases("gone-tools").get(entry.name)
        instead = f"; use {quote(now)}" if now else ""
        return f"{quote(entry.name)} is no longer a tool of {known.version()}{instead}"
    doubt = f"; did you mean {quote(near)}?" if near else ""
    return f"{quote(entry.name)} is not a tool of {known.version()}, which drops it{doubt}"


_MISNAMED = ("allowed-tools", "allowedTools", "Tools", "tool")


@rule(since="0.1", origin=("agent-files:misnamed-tools-key",))
def stg3113_misnamed_tools_key(document: AgentFiles) -> Iterator[Finding]:
    """The tools of an agent or a skill stand under a key that its kind does not have.

    ## Why this matters
    An agent of Claude Code limits its tools with `tools`. Under `allowed-tools`, which is the key of skills, or
    another spelling, the limit is not there: the agent may use **every** tool. A skill or a command with `tools`
    allows nothing with it.

    ## How to fix
    Write `tools` in agents, as `stagec validate --fix` does. Write `allowed-tools` in skills and commands for tools
    that need no permission.
    """
    for file in document.of("claude-agent"):
        key = next((key for key in _MISNAMED if key in file.members), None)
        if key is not None and "tools" not in file.members:
            message = f"{quote(key)} has no effect in an agent: without 'tools', the agent may use every tool"
            fix = Fix("rename it to 'tools'", (Edit(Change.RENAME, file.at / key, "tools"),))
            yield Finding((file.at / key).key, message, (), fix)
    for file in document.of("claude-skill", "claude-command"):
        if "tools" in file.members:
            message = f"'tools' has no effect in a {file.title}: it neither allows these tools nor forbids others"
            yield Finding((file.at / "tools").key, message, severity=Severity.WARNING)


@rule(since="0.1", origin=("agent-files:unavailable-agent-tool",), severity=Severity.WARNING)
def stg3114_unavailable_agent_tool(document: AgentFiles) -> Iterator[Finding]:
    """An agent lists a tool that no agent gets.

    ## Why this matters
    Some tools belong to the session alone, such as the one that asks the user. Claude Code takes them from every agent
    that it starts, without a word: instructions that rely on them cannot be followed.

    ## How to fix
    Take the tool out of the list, and let the agent return its question as its result. `ExitPlanMode` needs
    `permissionMode: plan`.
    """
    known = document.known
    for file in document.of("claude-agent"):
        entries, withheld = list_tools(file, known), _list_withheld(file, known)
        is_any_left = any(each.group is ToolGroup.KNOWN and each.name not in withheld for each in entries)
        for each in entries if is_any_left else ():  # otherwise the agent has no tools at all
            if each.name in withheld:
                yield Finding(each.at, f"{quote(each.name)} is never given to an agent by {known.version()}")


@rule(since="0.1", origin=("agent-files:unloadable-agent-hooks",))
def stg3115_unloadable_agent_hooks(files: AgentFiles) -> Iterator[Finding]:
    """The hooks of an agent are malformed, so that Claude Code does not load it.

    ## Why this matters
    One malformed entry of `PreToolUse` or `PermissionRequest`, or `hooks` that is not a map, loses the whole agent.
    Neither a message nor the log tells why. A malformed entry of another event costs that entry alone, which `STG3156`
    reports.

    ## How to fix
    Write a map of events. Each has a list of entries with an optional `matcher` and a list `hooks`. Each hook has a
    `type` and what its type needs: a `command`, a `prompt`, a `url`, or a `server` and a `tool`. A `timeout` is a
    number of seconds.
    """
    for each in files.claude.hooks:
        for fault in each.hooks.faults if each.kind == "claude-agent" else ():
            if fault.costs_file:
                reason = describe_hook_fault(fault, files.known)
                yield Finding(fault.at, f"Claude Code does not load the agent, because {reason}")


@rule(since="0.1", origin=("agent-files:unknown-permission-mode",), severity=Severity.WARNING)
def stg3116_ignored_permission_mode(document: AgentFiles) -> Iterator[Finding]:
    """The permission mode of an agent is none that Claude Code knows.

    ## Why this matters
    The mode says what the agent may do without asking. Claude Code ignores an unknown word: the agent gets the mode of
    the session that starts it, which may allow more.

    ## How to fix
    Write one of the modes that the message lists.
    """
    modes = document.known.names("permission-modes")
    for file in document.of("claude-agent"):
        given = file.members.get("permissionMode")
        if given is None or (isinstance(given, str) and given in modes) or file.where.is_plugin:
            continue
        shown = quote(given if isinstance(given, str) else json.dumps(given))
        told = f"{shown} is not a permission mode of {document.known.version()}, which ignores it"
        near = guess(given, modes) if isinstance(given, str) else None
        message = f"{told}; write {listing(list(modes), 'or')}"
        yield Finding(file.at / "permissionMode", message, (), near)


@rule(since="0.1", origin=("agent-files:ignored-agent-value",), severity=Severity.WARNING)
def stg3117_ignored_agent_value(document: AgentFiles) -> Iterator[Finding]:
    """A value of an agent is of a kind that Claude Code ignores.

    ## Why this matters
    Claude Code does not refuse an agent because of such a value, and does not tell: the limit, the memory or the
    isolation that was asked for is not there.

    ## How to fix
    Write a value that the message names.
    """
    known = document.known
    for file in document.of("claude-agent"):
        for wrong in find_misfits(present(file.members), file.at, known, "agent"):
            yield Finding(wrong.at, f"Claude Code ignores this value: {wrong}")
        for index, each in enumerate(list_of(file.members.get("mcpServers"))):
            at = file.at / "mcpServers" / index
            if file.where.is_plugin:
                continue
            if not (isinstance(each, str | dict) and each):
                told = "Claude Code drops this server: it must be a name, or a map of a name to its configuration"
                yield Finding(at, told)
            for wrong in find_misfits(object_of(each), at, known, "agent-servers"):
                why = " (a server with a 'url' needs a 'type')" if "url" in object_of(wrong.found) else ""
                yield Finding(wrong.at, f"Claude Code drops this server: {wrong}{why}")


@rule(since="0.1", origin=("agent-files:misspelt-agent-key",), severity=Severity.WARNING)
def stg3118_misspelt_agent_key(document: AgentFiles) -> Iterator[Finding]:
    """A key of an agent, a skill or a command is one letter or its case away from one that its tool reads.

    ## Why this matters
    Claude Code and Copilot keep quiet about keys that they do not know, so that a limit or a mode with a slip in its
    name is not there. OpenCode hands them to the model: `permissions` denies nothing.

    ## How to fix
    Write the key that the message names, as `stagec validate --unsafe-fixes` does.
    """
    known = document.known
    claude, skill = known.keys("agent"), known.keys("skill")
    copilot, opencode = known.keys("copilot-agent", COPILOT), known.keys("opencode-agent", OPENCODE)
    foreign = {*copilot, *opencode, *_MISNAMED}
    for file in document.of("claude-agent"):
        yield from _judge_misspelt_agent_key(file, known, partial(_guess, keys=claude, foreign=foreign), claude)
    for file in document.of("claude-skill", "claude-command"):
        yield from _judge_misspelt_agent_key(file, known, skill.slip, skill)
    foreign = {*claude, *copilot, *opencode}
    for file in document.of("copilot-agent", "copilot-prompt", "copilot-instructions"):
        keys = known.keys(file.kind.keys, COPILOT)
        yield from _judge_misspelt_agent_key(file, known, partial(_guess, keys=keys, foreign=foreign), keys, COPILOT)
    for file in document.of("opencode-agent", "opencode-mode"):
        yield from _judge_misspelt_agent_key(file, known, partial(_guess_form, keys=opencode), opencode, OPENCODE)


def _judge_misspelt_agent_key(
    file: AgentFile, known: Known, find: Callable[[str], str | None], keys: NameIndex, owner: str = CLAUDE_CODE
) -> Iterator[Finding]:
    for key in file.members:
        meant = None if key in keys else find(key)
        if meant is not None:
            edits = (Edit(Change.RENAME, file.at / key, meant),)
            fix = None if meant in file.members else Fix(f"rename it to {quote(meant)}", edits, is_safe=False)
            message = f"{known.version(owner)} has no key {quote(key)}; did you mean {quote(meant)}?"
            yield Finding((file.at / key).key, message, (), fix)


def _guess(key: str, keys: NameIndex, foreign: Container[str]) -> str | None:
    """Return the key that another one differs from by its case, a letter, or the plural; none for a foreign one."""
    if key in foreign:
        return None
    return next((each for each in keys if is_slip(key, each) or f"{key}s" == each or key == f"{each}s"), None)


def _guess_form(key: str, keys: NameIndex) -> str | None:
    """Return the key that another one differs from by its case or the plural alone."""
    return next((each for each in keys if key.lower() in {each.lower(), f"{each}s"} or f"{key}s" == each), None)


_NAMED = re.compile(r"@agent-([\w-]+)|subagent_type:[ ]*[\"']?([\w-]+)")


@rule(since="0.1", origin=("agent-files:unknown-delegate",), severity=Severity.WARNING, groups=("pedantic",))
def stg3131_unknown_delegate(document: AgentFiles) -> Iterator[Finding]:
    """The text of an agent, a skill or a command delegates to an agent that the project does not have.

    ## Why this matters
    The model looks for an agent that is not there, and does something else instead. stagec sees only the project: the
    agent may be the user's own, so this rule is an opinion.

    ## How to fix
    Correct the name, or add the agent.
    """
    known = {*document.known.names("built-in-agents")}
    known |= {str(file.members.get("name")) for file in document.of("claude-agent")}
    for file in document.of("claude-agent", "claude-skill", "claude-command") if known else ():
        start = (file.tree.body or (0, 0))[0]
        for found in _NAMED.finditer(file.text, start):
            name = found[1] or found[2]
            if name not in known:
                at = Place(file.at.file, range=found.span(1 if found[1] else 2))
                yield Finding(at, f"the project has no agent {quote(name)}")


@rule(since="0.1", origin=("agent-files:unread-agent-key",), severity=Severity.NOTE, groups=("pedantic",))
def stg3132_unread_agent_key(document: AgentFiles) -> Iterator[Finding]:
    """An agent has a key that Claude Code does not read.

    ## Why this matters
    Claude Code ignores the key. It may be meant for people or for another tool, so this rule is an opinion.

    ## How to fix
    Delete the key, or add it to the `keys` of `agent-files` in the [configuration](../configuration.md#agent-files).
    """
    keys = document.known.keys("agent")
    for file in document.of("claude-agent"):
        for key in file.members:
            if key not in keys:
                yield Finding((file.at / key).key, f"{document.known.version()} does not read {quote(key)}")


@rule(since="0.1", origin=("agent-files:unlimited-agent",), severity=Severity.NOTE, groups=("pedantic",))
def stg3133_unlimited_agent(document: AgentFiles) -> Iterator[Finding]:
    """An agent may use every tool.

    ## Why this matters
    Without `tools` an agent has every tool of the session, those of servers included. That may be what its author
    wants, so this rule is an opinion.

    ## How to fix
    Name the tools that the agent needs.
    """
    for file in document.of("claude-agent"):
        if "tools" not in file.members and "name" in file.members and file.reading.is_whole:
            yield Finding(file.at, "without 'tools' this agent may use every tool")


@rule(since="0.1", origin=("agent-files:scoped-agent-tool",), severity=Severity.WARNING, groups=("pedantic",))
def stg3134_scoped_agent_tool(document: AgentFiles) -> Iterator[Finding]:
    """A tool of an agent has a limit in parentheses, which does not count there.

    ## Why this matters
    In the `tools` of an agent `Bash(git:*)` gives `Bash` for every command. Only permissions and `allowed-tools` of
    skills read the text in parentheses.

    ## How to fix
    Write the name alone, and the limit as a permission in `.claude/settings.json`.
    """
    for file in document.of("claude-agent"):
        for each in list_tools(file, document.known):
            if each.text != each.name and each.name not in {"Agent", "Task"}:
                yield Finding(each.at, f"{quote(each.text)} gives this agent all of {quote(each.name)}")


@rule(since="0.1", origin=("agent-files:bypassing-agent",), severity=Severity.WARNING, groups=("pedantic",))
def stg3138_bypassing_agent(document: AgentFiles) -> Iterator[Finding]:
    """An agent may do everything without asking.

    ## Why this matters
    With `permissionMode: bypassPermissions` nobody is asked before a command runs or a file changes. That may be what
    its author wants in a sandbox, so this rule is an opinion.

    ## How to fix
    Choose `acceptEdits` or `plan`, and allow single tools in `.claude/settings.json`.
    """
    for file in document.of("claude-agent"):
        if file.members.get("permissionMode") == "bypassPermissions" and not file.where.is_plugin:
            yield Finding(file.at / "permissionMode", "this agent may do everything without asking")


_TIMES = re.compile(r"\b(?:when|whenever|after|before|if|for|use)\b", re.IGNORECASE)


@rule(since="0.1", origin=("agent-files:timeless-description",), severity=Severity.NOTE, groups=("pedantic",))
def stg3139_timeless_description(document: AgentFiles) -> Iterator[Finding]:
    """A description does not say when to use an agent or a skill.

    ## Why this matters
    The model chooses agents and skills by their descriptions. One that says only what they do is chosen too often or
    never.

    ## How to fix
    Say when to use it: "Use when …", "after …", "before …".
    """
    for file in document.of("claude-agent", *SKILLS):
        given = file.members.get("description")
        if isinstance(given, str) and given.strip() and not _TIMES.search(given):
            yield Finding(file.at / "description", f"the description does not say when to use this {file.title}")


_BY_NAME = frozenset({"Agent", "Task", "Skill"})
"""Tools of which nobody has measured what parentheses do here."""


@rule(since="0.1", origin=("agent-files:ineffective-denial",), severity=Severity.WARNING)
def stg3141_ineffective_denial(files: AgentFiles) -> Iterator[Finding]:
    """An entry of an agent's `disallowedTools` denies nothing, or more than it seems to.

    ## Why this matters
    Names of tools are exact: `bash` denies nothing. The text in parentheses does not count: `Bash(git push *)` takes
    all of `Bash` from the agent.

    ## How to fix
    Write names of tools as Claude Code does. Deny single calls with `permissions.deny` in `.claude/settings.json`.
    """
    for file in files.of("claude-agent"):
        given = file.members.get("disallowedTools")
        if given and not has_texts(given):
            yield Finding(file.at / "disallowedTools", "this denies nothing: it must be names of tools")
        for each in list_tools(file, files.known, "disallowedTools"):
            if each.name == "*":
                yield Finding(each.at, "'*' denies nothing: it is not the name of a tool")
            elif each.group is ToolGroup.UNKNOWN:
                near = find_case(each.name, files.known) or files.known.names("tools").slip(each.name)
                doubt = f"; did you mean {quote(near)}?" if near else ""
                told = f"{quote(each.name)} denies nothing: it is not a tool of {files.known.version()}{doubt}"
                yield Finding(each.at, told)
            elif each.text != each.name and each.name not in _BY_NAME and each.group is ToolGroup.KNOWN:
                yield Finding(each.at, f"{quote(each.text)} takes all of {quote(each.name)} from the agent")


_MOST = 30_000


@rule(since="0.1", origin=("agent-files:dropped-handoff",), severity=Severity.WARNING)
def stg3164_oversized_agent_prompt(files: AgentFiles) -> Iterator[Finding]:
    """The text of a Copilot agent is longer than GitHub takes.

    ## Why this matters
    GitHub takes at most 30,000 characters below the frontmatter of an agent. A longer agent works in VS Code only.

    ## How to fix
    Shorten the text, or write `target: vscode` if the agent is for that only.
    """
    for file in files.of("copilot-agent"):
        start, end = file.tree.body or (0, 0)
        length = len(file.text[start:end].strip())
        if length > _MOST and file.members.get("target") != "vscode":
            yield Finding(file.at, f"the text of the agent has {length:,} characters; GitHub takes at most {_MOST:,}")


_OTHERS = frozenset({"default", "best", "opusplan"})
"""Aliases of sessions, which agents may have too."""
_FREE = "/:$@"
"""Marks in names that gateways give to models."""


@rule(since="0.1", origin=("agent-files:unknown-agent-model",), severity=Severity.WARNING)
def stg3171_unknown_agent_model(files: AgentFiles) -> Iterator[Finding]:
    """An agent of Claude Code names a model that looks like none of Anthropic's.

    ## Why this matters
    Claude Code does not check the name. It sends it with the first request of the agent, which then fails.

    ## How to fix
    Write `sonnet`, `opus`, `haiku`, `fable` or `inherit`, or the full id of a model, such as `claude-sonnet-4-5`.
    """
    for file in files.of("claude-agent") if not files.claude.is_redirected else ():
        given = file.members.get("model")
        if isinstance(given, str) and given.strip() and not _may_be_known(given.strip().lower(), files.known):
            known = files.known
            message = (
                f"{quote(given)} is neither a model of {known.version()} nor the id of one"
                f"{hint(given, known.names('models'))}"
            )
            yield Finding(file.at / "model", message)


def _may_be_known(given: str, known: Known) -> bool:
    name = given.removesuffix("[1m]")
    beginnings = tuple(known.names("model-beginnings"))
    is_alias = name in known.names("models") or name in _OTHERS
    return is_alias or name.startswith(beginnings) or any(mark in name for mark in _FREE)


@rule(since="0.1", origin=("agent-files:nearly-named",), severity=Severity.WARNING)
def stg3178_nearly_named(files: AgentFiles) -> Iterator[Finding]:
    """A name is nearly that of a skill, an agent or a server of the project.

    ## Why this matters
    Names are exact. The tool finds nothing, and goes on without it.

    ## How to fix
    Write the name that the message suggests.
    """
    skills = [skill.where for skill in files.of("claude-skill")]
    for file in files.of("claude-agent"):
        known = NameIndex(each.name for each in skills if each.home == file.where.home)
        for name, at in list_names(file, "skills") if not file.where.is_plugin else ():
            yield from _judge_nearly_named("skill", name, at, known)
    agents = tuple(files.of("copilot-agent", "copilot-chat-mode", "claude-agent"))
    named = (called for each in agents if (called := text_in(each.members, "name")) is not None)
    every = NameIndex((*(each.where.name for each in agents), *named))
    for file in agents:
        for target in list_handoff_targets(file.members.get("handoffs"), file.at / "handoffs"):
            yield from _judge_nearly_named("agent", target.name, target.at, every)
    servers = NameIndex(sorted(files.claude.declared))
    folded = {fold_server(each) for each in servers}
    for mention in list_undeclared_servers(files):
        if fold_server(mention.name) not in folded:  # another rule speaks of those
            yield from _judge_nearly_named("MCP server", mention.name, mention.at, servers)


def _judge_nearly_named(what: str, name: str, at: Place, known: NameIndex) -> Iterator[Finding]:
    meant = None if name in known else known.slip(name)
    if meant is not None:
        is_alone = at.pointer[-1:] != ("skills",) and what != "MCP server"
        told = f"the project has no {what} {quote(name)}; did you mean {quote(meant)}?"
        yield Finding(at, told, (), Guess(name, meant) if is_alone else None)
