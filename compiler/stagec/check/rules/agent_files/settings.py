"""Settings: permission rules, hooks and what a wrong value costs."""

import re
from collections.abc import Iterator, Mapping
from itertools import product

from stagec.check.rules.agent_files import describe_hook_fault, list_lost, list_misfits, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import Object
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place, spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote, with_article
from stagec.languages.agent_files.claude_project import ClaudeSettings
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.hooks import HookEntry, Hooks, is_compared_with_tools
from stagec.languages.agent_files.known import CODEX, OPENCODE, Known
from stagec.languages.agent_files.permission_rules import (
    CONTENT_FIELDS,
    MCP_PREFIX,
    PATH_TOOLS,
    Behaviour,
    Neglect,
    PermissionRule,
    Refusal,
    split_mcp_name,
)
from stagec.languages.agent_files.tool_names import find_denied_tools
from stagec.languages.agent_files.values import Misfit, follow

_SHARED = "settings.json"
_SCOPES = {
    "user": "in the settings of the user",
    "managed": "in settings that an organisation manages",
    "local": "in settings of the user and in '.claude/settings.local.json'",
}


@rule(since="0.1", origin=("agent-files:ignored-setting",), severity=Severity.WARNING)
def stg3145_ignored_setting(files: AgentFiles) -> Iterator[Finding]:
    """A setting is in a place that its tool does not read, or has a value that it ignores.

    ## Why this matters
    The tool says nothing. The limit, the mode or the server that was asked for is not there.

    ## How to fix
    Write the setting in the file or at the place that the message names, or a value that fits. A model of OpenCode is
    `PROVIDER/MODEL`. In TOML, keys below the header of a table belong to the table.
    """
    for _, settings in files.claude.settings:
        if not settings.is_lost:
            yield from _judge_ignored_setting(settings, files)
    for file, wrong in list_misfits(files, {"claude-plugin": "plugin"}):
        if wrong.cost == "nothing" and file.reading.is_whole:
            told = "Claude Code loads the plugin without this value, which 'claude plugin validate' refuses"
            yield Finding(wrong.at, f"{told}: {wrong}")
    yield from _judge_other_configurations(files)


def _judge_other_configurations(files: AgentFiles) -> Iterator[Finding]:
    for _, wrong in list_misfits(files, {"opencode-config": "config"}, OPENCODE):
        if wrong.cost == "nothing":
            yield Finding(wrong.at, f"OpenCode finds no such model: {wrong}")
    for kind, owner in (("opencode-config", OPENCODE), ("codex-config", CODEX)):
        for file in files.of(kind):
            yield from _list_moved(file.members, file.at, files.known.aliases("moved", owner), owner)
    for file in files.of("codex-config"):
        yield from _judge_misplaced_keys(file, files.known)


def _list_moved(given: Object, at: Place, moved: Mapping[str, str], owner: str) -> Iterator[Finding]:
    """Yield the members of a configuration that count for nothing, because they belong under another key."""
    for key in (each for each in moved if each in given):
        yield Finding((at / key).key, f"{owner} reads {quote(moved[key])}, and nothing of {quote(key)} here")


def _judge_misplaced_keys(file: AgentFile, known: Known) -> Iterator[Finding]:
    """Yield the keys of a file of TOML that stand below the header of a table that does not have them."""
    misplaced = known.aliases("misplaced", CODEX)
    for table, key in product(misplaced["tables"], misplaced["keys"]):
        path = [*table.split("."), key]
        for _, at in follow(file.members, file.at, path) if ".".join(path) not in misplaced["known"] else ():
            where = quote(spell_path(at.pointer[:-1]))
            yield Finding(at.key, f"Codex reads {quote(key)} before the first table, and nothing of it in {where}")


def _judge_ignored_setting(settings: ClaudeSettings, files: AgentFiles) -> Iterator[Finding]:
    elsewhere = files.known.aliases("elsewhere")
    moved = {**files.known.aliases("moved"), **{event: f"hooks.{event}" for event in files.known.names("events")}}
    yield from _list_moved(settings.members, settings.at, moved, "Claude Code")
    for wrong in settings.misfits:
        if wrong.key in elsewhere:
            where = quote(elsewhere[wrong.key])
            yield Finding(wrong.at.key, f"Claude Code reads {quote(wrong.key)} in {where}, not in settings")
        elif wrong.cost == "nothing":
            yield Finding(wrong.at, f"Claude Code ignores this value: {wrong}")
    is_shared = settings.at.file.endswith(_SHARED)
    for path, _, _, scope, _ in files.known.data["Claude Code"]["values"]["settings"]:
        for found, at in follow(settings.members, settings.at, path.split(".")):
            if found is not None and scope in _SCOPES and (is_shared or scope != "local"):
                yield Finding(at.key, f"Claude Code reads {quote(path)} only {_SCOPES[scope]}")
    for path, ignored in files.known.aliases("ignored-in-projects").items() if is_shared else ():
        for found, at in follow(settings.members, settings.at, path.split(".")):
            if isinstance(found, str) and found in ignored:
                yield Finding(at, f"Claude Code ignores {quote(found)} for {quote(path)} in settings of a project")


@rule(since="0.1", origin=("agent-files:discarded-settings",))
def stg3150_discarded_settings(files: AgentFiles) -> Iterator[Finding]:
    """A value in settings of Claude Code costs the whole file.

    ## Why this matters
    Claude Code checks a settings file as a whole. One value of a wrong type, or one malformed hook before the use of a
    tool, and nothing of the file counts: the rules that deny something and the hooks that guard something are off.
    Without a terminal it says nothing.

    ## How to fix
    Write a value of the type that the message names. To check the file, ask Claude Code for `/status`.
    """
    for _, settings in files.claude.settings:
        found = [(each.at, _describe_discarded_settings(each)) for each in settings.misfits if each.cost == "file"]
        found += [(each.at, describe_hook_fault(each, files.known)) for each in settings.hooks]
        found += [] if settings.is_object else [(settings.at, "it is not a JSON object")]
        for at, reason in found:
            yield Finding(at, f"Claude Code drops the whole file, because {reason}")


def _describe_discarded_settings(misfit: Misfit) -> str:
    doubt = hint(misfit.found, NameIndex(misfit.names)) if isinstance(misfit.found, str) else ""
    return f"{misfit}{doubt}"


_LOSS = {
    Behaviour.ALLOW: "it allows nothing",
    Behaviour.ASK: "nobody is asked",
    Behaviour.DENY: "it denies nothing",
}


@rule(since="0.1", origin=("agent-files:malformed-permission-rule",))
def stg3151_malformed_permission_rule(files: AgentFiles) -> Iterator[Finding]:
    """A permission rule is written in a way that Claude Code refuses.

    ## Why this matters
    Claude Code drops a rule that it cannot read, and keeps the others. A denied action is then allowed, and an allowed
    one is asked for again and again.

    ## How to fix
    Write `Tool` or `Tool(specifier)`: the name of the tool with a capital letter, something in the parentheses,
    nothing behind them. An allow rule can have a `*` only behind `mcp__SERVER__`. For WebFetch write
    `WebFetch(domain:HOST)`.
    """
    for _, settings in files.claude.settings:
        for each in settings.rules:
            if each.refusal is not None:
                yield Finding(
                    each.at,
                    f"{_describe_malformed_permission_rule(each)}: {_LOSS[each.behaviour]}",
                    fix=_fix(each, files.known),
                )


def _describe_malformed_permission_rule(given: PermissionRule) -> str:
    if given.refusal is Refusal.NO_TEXT:
        return f"a permission rule must be a text, found {with_article(given.kind)}"
    return f"Claude Code drops the permission rule {quote(given.given)} because {given.refusal}"


def _fix(given: PermissionRule, known: Known) -> Fix | None:
    if given.refusal is Refusal.EMPTY_PARENTHESES and given.tool in known.names("tools"):
        return Fix(f"write {quote(given.tool)}", (Edit(Change.REPLACE, given.at, given.tool),))
    return _correct_case(given, known) if given.refusal is Refusal.LOWER_CASE else None


@rule(since="0.1", origin=("agent-files:unread-permission-rule",), severity=Severity.WARNING)
def stg3152_unread_permission_rule(files: AgentFiles) -> Iterator[Finding]:
    """A permission rule never matches anything.

    ## Why this matters
    Claude Code keeps the rule and never asks it. For files it reads the paths of `Read` and `Edit` rules only. A rule
    cannot name the field with the content of a call, such as `command`. The mark `:*` counts only at the end of a rule.
    And a name that no tool has matches no call. Such a rule denies nothing.

    ## How to fix
    Write path rules for `Edit`, which covers all tools that write files, or for `Read`, which covers all that read
    them. Write the command itself: `Bash(rm *)`. Correct the name of the tool, or delete the rule.
    """
    for _, settings in files.claude.settings:
        for each in settings.rules:
            if each.refusal is None:
                yield from _judge_unread_permission_rule(each, files.known)


def _judge_unread_permission_rule(given: PermissionRule, known: Known) -> Iterator[Finding]:
    text, tool = quote(given.given), given.tool
    if given.neglect is Neglect.PATH:
        meant = f"{PATH_TOOLS[tool]}({given.specifier})"
        fix = Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, given.at, meant),))
        yield Finding(given.at, f"Claude Code reads no path rules of {tool}: {text} never matches", fix=fix)
    elif given.neglect is Neglect.CONTENT_FIELD:
        yield Finding(given.at, f"Claude Code ignores {text}: no rule can name the field {quote(CONTENT_FIELDS[tool])}")
    elif given.neglect is Neglect.INNER_PREFIX_MARK:
        yield Finding(given.at, f"':*' counts only at the end of a permission rule: {text} never matches")
    elif not _is_known(tool, known):
        gone = known.aliases("gone-tools")
        doubt = "" if tool in gone else hint(tool, known.names("tools"))
        when = "no longer a tool" if tool in gone else "no tool"
        message = f"{quote(tool)} is {when} of {known.version()}: the permission rule never matches{doubt}"
        yield Finding(given.at, message, fix=_correct_case(given, known))


_OTHERS = frozenset({"Cd", "BashOutput"})
"""Names that rules can use besides tools, and an old name that rules may still use."""


def _is_known(tool: str, known: Known) -> bool:
    """Tell whether a name may be that of a tool; Claude Code warns of no name with an underscore or a star."""
    is_exempt = tool.startswith(MCP_PREFIX) or "_" in tool or "*" in tool or tool in _OTHERS
    return is_exempt or tool in known.names("tools") or tool in known.aliases("tool-aliases")


def _correct_case(given: PermissionRule, known: Known) -> Fix | None:
    name = next((each for each in known.names("tools") if each.lower() == given.tool.lower()), None)
    if name is None:
        return None
    meant = name if given.specifier is None else f"{name}({given.specifier})"
    return Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, given.at, meant),))


@rule(since="0.1", origin=("agent-files:denied-agent-tool",), severity=Severity.WARNING)
def stg3153_denied_agent_tool(files: AgentFiles) -> Iterator[Finding]:
    """An agent lists a tool that the settings of its project deny.

    ## Why this matters
    A rule in `permissions.deny` that is only the name of a tool takes it from every agent. The agent starts without
    the tool, and nothing says so.

    ## How to fix
    Remove the tool from the agent. Or deny only some of its calls in the settings: `Bash(rm *)` instead of `Bash`.
    """
    for agent in find_denied_tools(files):
        for entry, denial in () if agent.has_nothing_left else agent.denied:
            message = f"the settings deny {quote(entry.name)} to every agent: this one does not get it"
            yield Finding(entry.at, message, (Related(denial.at, "denied here"),))


@rule(since="0.1", origin=("agent-files:denied-agent-tool",))
def stg3154_disarmed_agent(files: AgentFiles) -> Iterator[Finding]:
    """The settings of a project deny every tool that an agent lists.

    ## Why this matters
    A rule in `permissions.deny` that is only the name of a tool takes it from every agent. Claude Code refuses to
    start an agent that has no tool left.

    ## How to fix
    Give the agent a tool that is not denied. Or deny only some calls in the settings: `Bash(rm *)` instead of `Bash`.
    """
    for agent in find_denied_tools(files):
        if agent.has_nothing_left:
            tools = listing(tuple(dict.fromkeys(entry.name for entry, _ in agent.denied)))
            denials = dict.fromkeys(denial.at for _, denial in agent.denied)
            related = tuple(Related(at, "denied here") for at in denials)
            message = f"the settings deny every tool of this agent: {tools}; Claude Code does not start it"
            yield Finding(agent.file.at / "tools", message, related)


@rule(since="0.1", origin=("agent-files:unmatched-hook",), severity=Severity.WARNING)
def stg3155_unmatched_hook(files: AgentFiles) -> Iterator[Finding]:
    """A hook of Claude Code can never run: nothing has the name that it waits for.

    ## Why this matters
    Claude Code passes over an event that it does not know. A matcher of letters and `|` is compared with whole names of
    tools, in the same case. A guard that waits for `bash` never runs and stops nothing.

    ## How to fix
    Write the event or the tool as Claude Code calls it. For all tools of an MCP server write `mcp__SERVER__.*`. What a
    call must be like, such as `Bash(git commit *)`, is the `if` of a hook; the matcher is `Bash`.
    """
    for each in files.claude.hooks:
        yield from _judge_events(each.hooks, files.known)
        for entry in each.hooks.entries:
            yield from _judge_matcher(entry, files.known)
            names = entry.list_exact_names() if is_compared_with_tools(entry.event) else ()
            if names and not any(_is_tool(name, files.known) for name in names):
                yield _judge_names(entry, names, files.known)
            elif is_compared_with_tools(entry.event) and _is_written_as_rule(entry.matcher or "", files.known):
                told = "a matcher is a pattern for the names of tools, and no tool fits"
                message = f"the hooks of {quote(entry.event)} here never run: {told} {quote(str(entry.matcher))}"
                yield Finding(entry.at / "matcher", message)


def _judge_events(hooks: Hooks, known: Known) -> Iterator[Finding]:
    events = known.names("events")
    written = {event for event, _ in hooks.events}
    for event, at in hooks.events:
        if event not in events:
            meant = next((each for each in events if each.lower() == event.lower()), None)
            fix = Fix(f"rename it to {quote(meant)}", (Edit(Change.RENAME, at, meant),)) if meant else None
            message = f"{quote(event)} is not an event of {known.version()}: its hooks never run{hint(event, events)}"
            yield Finding(at, message, fix=None if meant in written else fix)


def _judge_matcher(entry: HookEntry, known: Known) -> Iterator[Finding]:
    """Yield the mistakes in the matcher of an event that is not about tools."""
    at, names = entry.at / "matcher", entry.list_exact_names()
    wanted = known.aliases("matchers").get(entry.event, ())
    if wanted and names and not any(name in wanted for name in names):
        which = f"{listing(names)} {'is' if len(names) == 1 else 'are'} none of {listing(wanted)}"
        yield Finding(at, f"the hooks of {quote(entry.event)} here never run: {which}")
    is_any = entry.matcher is None or entry.matcher.strip() in {"", "*", ".*"}
    if entry.event in known.names("unmatched-events") and not is_any:
        yield Finding(at, f"{quote(entry.event)} has no matchers: the hooks run each time")


def _judge_names(entry: HookEntry, names: tuple[str, ...], known: Known) -> Finding:
    at: Place = entry.at / "matcher"
    tools = known.names("tools")
    folded = {each.lower(): each for each in tools}
    doubt = hint(names[0], tools) if len(names) == 1 else ""
    meant = "|".join(folded.get(name.lower(), name) for name in names)
    is_case = all(name.lower() in folded for name in names)
    fix = Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, at, meant),)) if is_case else None
    if len(names) == 1 and (server := split_mcp_name(names[0])) is not None and server[0]:
        meant = f"{MCP_PREFIX}{server[0]}__.*"
        fix = Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, at, meant),), is_safe=False)
        doubt = f"; the tools of the server are {quote(meant)}"
    which = "is not a tool" if len(names) == 1 else "are not tools"
    message = f"{listing(names)} {which} of {known.version()}: the hooks of {quote(entry.event)} here never run{doubt}"
    return Finding(at, message, fix=fix)


def _is_tool(name: str, known: Known) -> bool:
    mcp = split_mcp_name(name)
    if mcp is not None:
        return mcp[1] is not None
    if name.startswith(MCP_PREFIX):
        return False
    return name in known.names("tools") or name in known.aliases("tool-aliases") or "_" in name


_RULE = re.compile(r"(?P<tool>[A-Z][A-Za-z]*)\((?P<inside>[^()\[\]{}\\^$+]*)\)")
_RULES = re.compile(rf"{re.sub(r'[?]P<[a-z]+>', '?:', _RULE.pattern)}(?:\|(?!\Z)|\Z)")
_CERTAIN = re.compile(r"(?:[^*?.](?![*?]))*")
"""What a part of a pattern certainly begins with: letters before the first that can be absent."""


def _is_written_as_rule(matcher: str, known: Known) -> bool:
    """Tell whether a matcher is one or more permission rules, none of which fits a name of a tool."""
    tools = (*known.names("tools"), *known.aliases("tool-aliases"))
    rules, position = [], 0
    while (found := _RULES.match(matcher, position)) is not None:
        rules += _RULE.findall(found[0])
        position = found.end()
    parts = [(tool, part) for tool, inside in rules for part in inside.split("|")]
    begins = [(tool, found[0]) for tool, part in parts if (found := _CERTAIN.match(part)) is not None]
    is_meant = bool(rules) and position == len(matcher) and all(tool in tools and part for tool, part in begins)
    return is_meant and not any(f"{tool}{part}" in name for tool, part in begins for name in tools)


_LOST = frozenset({"claude-settings", "claude-agent", "claude-plugin", "claude-hooks"})
_SPARED = frozenset({"claude-skill", "claude-command"})
"""Kinds of files that a malformed guard costs as a whole; other rules report that."""


@rule(since="0.1", origin=("agent-files:discarded-settings", "agent-files:unmatched-hook"), severity=Severity.WARNING)
def stg3156_dropped_hook_entry(files: AgentFiles) -> Iterator[Finding]:
    """An entry of hooks is malformed, and Claude Code leaves it out.

    ## Why this matters
    The entry is dropped without a word, with all hooks in it. The other entries still run. In a skill or a command, a
    malformed entry of `PreToolUse` or `PermissionRequest` costs all hooks, and `allowed-tools` too.

    ## How to fix
    Write every entry of an event as `{"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}`. The matcher
    can be absent. A hook of another type has a `prompt`, a `url`, or a `server` and a `tool` instead of a `command`.
    """
    events = files.known.names("events")
    for each in files.claude.hooks:
        yield from _judge_types(each.hooks, files.known)
        for fault in each.hooks.faults:
            is_told = fault.event not in events or (fault.costs_file and each.kind in _LOST)
            if not is_told:
                reason = describe_hook_fault(fault, files.known)
                is_all = fault.costs_file and each.kind in _SPARED
                lost = "all hooks and 'allowed-tools' of this file" if is_all else "this entry of hooks"
                yield Finding(fault.at, f"Claude Code leaves {lost} out, because {reason}")


def _judge_types(hooks: Hooks, known: Known) -> Iterator[Finding]:
    """Yield the hooks of a type that their event does not run."""
    unfit = known.aliases("unfit-hook-types")
    for entry, hook in [(each, hook) for each in hooks.entries for hook in each.hooks]:
        if hook.members.get("type") in unfit.get(entry.event, ()):
            told = f"hooks of the type {quote(hook.members['type'])} fail for {quote(entry.event)}"
            yield Finding(hook.at / "type", told)


_SCRIPT_SENTENCES = {
    "script": "the hook does nothing: the project has no file {path}",
    "script of a plugin": "the hook does nothing: the plugin has no file {path}",
    "local script": "the hook looks for {path} in the folder of the session, not of the plugin: begin the path with "
    "'${{CLAUDE_PLUGIN_ROOT}}/'",
}


@rule(since="0.1", origin=("agent-files:missing-hook-script",), severity=Severity.WARNING)
def stg3157_missing_hook_script(files: AgentFiles) -> Iterator[Finding]:
    """The command of a hook begins with a file that is not where the command looks for it.

    ## Why this matters
    A command that cannot be started is no objection: Claude Code goes on as if the hook had agreed. The hook stops
    nothing.

    ## How to fix
    Correct the path, or add the file. The path begins at the folder in which Claude Code starts: the parent of the
    `.claude` folder. `$CLAUDE_PROJECT_DIR` names it wherever the session is, and `${CLAUDE_PLUGIN_ROOT}` that of a
    plugin.
    """
    return list_lost(files, _SCRIPT_SENTENCES)
