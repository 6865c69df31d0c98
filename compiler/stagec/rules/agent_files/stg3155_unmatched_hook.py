"""A hook of Claude Code can never run: nothing has the name that it waits for.

## Why this matters
Claude Code passes over an event that it does not know. A matcher of letters and `|` is compared with whole names of
tools, in the same case. A guard that waits for `bash` never runs, and what it was to stop goes through.

## How to fix
Write the event or the tool as Claude Code calls it. For all tools of an MCP server write `mcp__SERVER__.*`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.nearest import hint
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.hooks import TOOL_EVENTS, HookEntry, Hooks
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.mcp_names import split_mcp_name
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unmatched-hook",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for each in files.claude.hooks:
        yield from _judge_events(each.hooks, files.known)
        for entry in each.hooks.entries:
            yield from _judge_matcher(entry, files.known)
            names = entry.list_exact_names() if entry.event in TOOL_EVENTS else ()
            if names and not any(_is_tool(name, files.known) for name in names):
                yield _judge_names(entry, names, files.known)


def _judge_events(hooks: Hooks, known: Known) -> Iterator[Finding]:
    events = known.names("events")
    written = {event for event, _ in hooks.events}
    for event, at in hooks.events:
        if event not in events:
            meant = next((each for each in events if each.lower() == event.lower()), None)
            fix = Fix(f"rename it to {quote(meant)}", (Edit(Change.RENAME, at, meant),)) if meant else None
            message = f"{quote(event)} is no event of {known.version()}: its hooks never run{hint(event, events)}"
            yield Finding(at, message, fix=None if meant in written else fix)


def _judge_matcher(entry: HookEntry, known: Known) -> Iterator[Finding]:
    """Yield what is wrong with the matcher of an event that is not about tools."""
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
    which = "is no tool" if len(names) == 1 else "are no tools"
    message = f"{listing(names)} {which} of {known.version()}: the hooks of {quote(entry.event)} here never run{doubt}"
    return Finding(at, message, fix=fix)


def _is_tool(name: str, known: Known) -> bool:
    mcp = split_mcp_name(name)
    if mcp is not None:
        return mcp[1] is not None
    return name in known.names("tools") or name in known.aliases("tool-aliases") or "_" in name
