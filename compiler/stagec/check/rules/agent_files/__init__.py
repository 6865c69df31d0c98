"""STG31xx: content of agent files that their own tool cannot read, drops, or understands in another way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.json import text_in
from stagec.core.nearest import hint
from stagec.core.place import Place
from stagec.core.rule import Family, Finding
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
T = TypeVar("T")

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


def list_lost(files: AgentFiles, messages: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the paths that lead nowhere, each with the sentence for its use."""
    for lost in files.claude.lost:
        if lost.use in messages:
            yield Finding(lost.at, messages[lost.use].format(path=quote(lost.path)))


def list_repeated(named: Iterable[tuple[object, T]]) -> Iterator[tuple[T, T]]:
    """Yield each thing whose name another one has had before, with the first one."""
    first: dict[object, T] = {}
    for name, each in named:
        other = first.setdefault(name, each)
        if other is not each:
            yield each, other


def list_names(file: AgentFile, key: str) -> Iterator[tuple[str, Place]]:
    """Yield the names in a list, or in a text that separates them by commas, with their places."""
    given, at = file.members.get(key), file.at / key
    if isinstance(given, str):
        yield from ((name, at) for name in _NAME.findall(given))
    elif isinstance(given, list):
        yield from ((each, at / index) for index, each in enumerate(given) if isinstance(each, str))


def correct_tools(file: AgentFile, entries: Sequence[ToolEntry], known: Known) -> Fix | None:
    """Return the fix that writes tools in their own case, and takes those away that are gone."""
    from stagec.languages.agent_files.tool_names import ToolGroup, find_case

    cases = {entry: find_case(entry.name, known) for entry in entries}
    meant = {entry: case for entry, case in cases.items() if case is not None or entry.group is ToolGroup.GONE}
    given = text_in(file.members, "tools")
    if not meant or len(given or "") > _LONGEST:  # each entry of a text has the whole text for its place
        return None
    written = list(dict.fromkeys(case for case in meant.values() if case is not None))
    told = f"write {listing(written)}" if written else f"remove {listing([entry.name for entry in meant])}"
    if given is not None:
        for entry, case in meant.items():
            given = _rewrite(given, entry, case)
        return Fix(told, (Edit(Change.REPLACE, file.at / "tools", given),))
    return Fix(told, tuple(_correct(entry, case) for entry, case in meant.items()))


def _correct(entry: ToolEntry, case: str | None) -> Edit:
    if case is None:
        return Edit(Change.REMOVE, entry.at)
    return Edit(Change.REPLACE, entry.at, entry.text.replace(entry.name, case, 1))


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
}


def describe_hook_fault(fault: HookFault, known: Known) -> str:
    """Describe the malformed part of hooks, as the end of a sentence."""
    event, last = quote(fault.event), fault.at.pointer[-1]
    if fault.reason == "no hooks":
        where = "; it is a hook itself: put it in such a list" if fault.found else ""
        return f"an entry of {event} has no list 'hooks'{where}"
    if fault.reason == "type":
        types = known.names("hook-types")
        return f"{quote(fault.found)} is not a type of hooks of {known.version()}{hint(fault.found, types)}"
    if fault.expected:
        shown = f", found {with_article(fault.found)}" if fault.found else ""
        return f"{quote(last)} in a hook of {event} must be {fault.expected}{shown}"
    if fault.reason not in _HOOK_FAULTS:
        return f"a hook of {event} with the type {quote(fault.found)} has no {quote(fault.reason.removeprefix('no '))}"
    found = with_article(fault.found) if fault.found else ""
    return _HOOK_FAULTS[fault.reason].format(event=event, found=found)
