"""STG31xx: agent files of other tools: what the tool that owns a file cannot read, drops, or understands otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.json import text_in
from stagec.core.nearest import hint
from stagec.core.place import Place
from stagec.core.rule import Family
from stagec.core.words import listing, quote, with_article
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.known import CLAUDE_CODE
from stagec.languages.agent_files.values import Misfit, find_misfits

if TYPE_CHECKING:  # most projects have no agent files
    from stagec.languages.agent_files.hooks import HookFault
    from stagec.languages.agent_files.known import Known
    from stagec.languages.agent_files.tool_names import ToolEntry

FAMILY = Family(__name__, (range(3100, 3200),), AgentFiles)
rule = FAMILY.rule

SKILLS = ("claude-skill", "shared-skill", "opencode-skill")
"""The kinds of skills."""
_NAME = re.compile(r"[^\s,]+")
_LONGEST = 5_000
"""Characters of a list of tools that is corrected; nobody has so many."""


def list_misfits(
    files: AgentFiles, rows: Mapping[str, str], owner: str = CLAUDE_CODE
) -> Iterator[tuple[AgentFile, Misfit]]:
    """Yield the values that do not fit, by the names of the rows for each kind of files."""
    for kind, name in rows.items():
        for file in files.of(kind):
            yield from ((file, wrong) for wrong in find_misfits(file.members, file.at, files.known, name, owner))


def list_names(file: AgentFile, key: str) -> Iterator[tuple[str, Place]]:
    """Yield the names in a list, or in a text that separates them by commas, with their places."""
    given, at = file.members.get(key), file.at / key
    if isinstance(given, str):
        yield from ((name, at) for name in _NAME.findall(given))
    elif isinstance(given, list):
        yield from ((each, at / index) for index, each in enumerate(given) if isinstance(each, str))


def correct_entry(file: AgentFile, entry: ToolEntry, known: Known) -> Fix | None:
    """Return the fix that writes a tool in its own case, or takes one away that is gone."""
    from stagec.languages.agent_files.tool_names import ToolGroup, find_case

    meant = find_case(entry.name, known)
    is_long = len(text_in(file.members, "tools") or "") > _LONGEST  # each of its entries has a text of its own
    if is_long or (meant is None and entry.group is not ToolGroup.GONE):
        return None
    told = f"remove {quote(entry.name)}" if meant is None else f"write {quote(meant)}"
    given = text_in(file.members, "tools")
    if given is not None:
        return Fix(told, (Edit(Change.REPLACE, entry.at, _rewrite(given, entry, meant)),))
    if meant is None:
        return Fix(told, (Edit(Change.REMOVE, entry.at),))
    return Fix(told, (Edit(Change.REPLACE, entry.at, entry.text.replace(entry.name, meant, 1)),))


def correct_case(file: AgentFile, entries: tuple[ToolEntry, ...], known: Known) -> Fix | None:
    """Return the fix that writes all tools in their own case that differ by it alone."""
    from stagec.languages.agent_files.tool_names import find_case

    meant = {entry: case for entry in entries if (case := find_case(entry.name, known)) is not None}
    given = text_in(file.members, "tools")
    edits = tuple(
        Edit(Change.REPLACE, entry.at, entry.text.replace(entry.name, case, 1)) for entry, case in meant.items()
    )
    if given is not None and meant:
        for entry, case in meant.items():
            given = _rewrite(given, entry, case)
        edits = (Edit(Change.REPLACE, file.at / "tools", given),)
    return Fix(f"write {listing(list(dict.fromkeys(meant.values())))}", edits) if meant else None


def _rewrite(given: str, entry: ToolEntry, meant: str | None) -> str:
    """Return a text with an entry in another case, or without it."""
    found = re.compile(rf"(?<![^\s,]){re.escape(entry.text)}(?![^\s,])")
    if meant is not None:
        return found.sub(entry.text.replace(entry.name, meant, 1), given)
    return re.sub(r"(?:\s*,)*\s*\0(?=\s*(?:,|$))|\0(?:\s*,)?\s*", "", found.sub("\0", given)).strip(" ,")


_HOOK_FAULTS = {
    "no map": "'hooks' must be a map of events, found {found}",
    "no list": "the hooks of {event} must be a list of entries, found {found}",
    "no entry": "an entry of {event} must be a map with 'hooks', found {found}",
    "matcher": "a matcher of {event} must be a text, found {found}",
    "hooks": "'hooks' in an entry of {event} must be a list, found {found}",
    "no hook": "a hook of {event} must be a map, found {found}",
    "no type": "a hook of {event} has no 'type'",
    "text": "{member} in a hook of {event} must be a text, found {found}",
    "boolean": "{member} in a hook of {event} must be true or false, found {found}",
    "texts": "{member} in a hook of {event} must be a list of texts, found {found}",
    "map": "{member} in a hook of {event} must be a map, found {found}",
    "map of texts": "{member} in a hook of {event} must be a map of texts, found {found}",
    "filled": "{member} in a hook of {event} must be a text that is not empty",
    "shell": "{member} in a hook of {event} must be 'bash' or 'powershell'",
    "address": "{member} in a hook of {event} must be an address with its scheme, such as 'https:'",
    "timeout": "'timeout' in a hook of {event} must be a number of seconds above 0, found {found}",
}


def describe_hook_fault(fault: HookFault, known: Known) -> str:
    """Say what is malformed in hooks, as the end of a sentence."""
    event, last = quote(fault.event), fault.at.pointer[-1]
    if fault.reason == "no hooks":
        where = "; it is a hook itself: put it in such a list" if fault.found else ""
        return f"an entry of {event} has no list 'hooks'{where}"
    if fault.reason == "type":
        types = known.names("hook-types")
        return f"{quote(fault.found)} is not a type of hooks of {known.version()}{hint(fault.found, types)}"
    if fault.reason not in _HOOK_FAULTS:
        return f"a hook of {event} with the type {quote(fault.found)} has no {quote(fault.reason.removeprefix('no '))}"
    found = with_article(fault.found) if fault.found else ""
    return _HOOK_FAULTS[fault.reason].format(event=event, found=found, member=quote(last))
