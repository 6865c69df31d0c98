"""Agents and skills of Claude Code with right and wrong values: the result of a session, and of stagec."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.diagnostic import Diagnostic
from stagec.core.value import value
from stagec.languages.agent_files.known import CLAUDE_CODE, is_off, read_data
from stagec_dev.owners.claude_session import MARK, SERVER, ClaudeSession, run_session
from stagec_dev.owners.programs import ask_all, validate

_BATCH = 40
_VALUES: Sequence[Any] = (
    *("x", "", " ", "1", "true", "no", 1, 1.5, -1, 0, True, False, None, [], ["a"], ["a", "b"], [1], [[1]]),
    *({}, {"a": "b"}, {"a": 1}, {"a": []}, {"a": {"command": "c"}}),
)
Head = Mapping[str, Any]


@value
class LoadedKind:
    """A kind of files that a session lists after loading: their paths, and the judge of one.

    `measured` and `told` return short sentences about a file, from a session and from stagec; `None` from the first
    is what the session does not show.
    """

    file: str
    heads: Callable[[], Iterator[Head]]
    starts: bool
    measured: Callable[[str, Head, ClaudeSession], frozenset[str] | None]
    told: Callable[[Head, Sequence[Diagnostic]], frozenset[str]]


def compare(program: Path, kind: LoadedKind, heads: Sequence[Head], workers: int) -> Iterator[str]:
    """Yield a line for each file of which a session shows something else than stagec says."""
    files = {f"m{index}": head for index, head in enumerate(heads)}
    names = [*files]
    batches = [{name: files[name] for name in names[at : at + _BATCH]} for at in range(0, len(names), _BATCH)]
    for _, sessions in ask_all(batches, lambda batch: _load(program, kind, batch), workers):
        for batch, session in sessions:
            yield from _judge(kind, batch, session)


def _judge(kind: LoadedKind, batch: Mapping[str, Head], session: ClaudeSession) -> Iterator[str]:
    with TemporaryDirectory() as folder:
        _write(kind, batch, Path(folder))
        diagnostics = validate(Path(folder))
    for name, head in batch.items():
        measured = kind.measured(name, head, session)
        told = kind.told(head, [each for each in diagnostics if each.at.file == kind.file.format(name)])
        if measured is not None and measured != told:
            why = session.refused.get(name, "")[:200]
            yield f"{json.dumps(head)}: stagec {sorted(told)}, claude {sorted(measured)} {why}".rstrip()


def _load(program: Path, kind: LoadedKind, batch: Mapping[str, Head]) -> list[tuple[Mapping[str, Head], ClaudeSession]]:
    """Return the files that a session has loaded; of too many for one session, two have half of them each."""
    with TemporaryDirectory() as folder:
        root = Path(folder, "project")
        _write(kind, batch, root)
        try:
            return [(batch, run_session(program, root, Path(folder, "home"), tuple(batch) if kind.starts else ()))]
        except subprocess.TimeoutExpired:
            if len(batch) == 1:
                raise
    names, middle = [*batch], len(batch) // 2
    halves = ({name: batch[name] for name in each} for each in (names[:middle], names[middle:]))
    return [pair for half in halves for pair in _load(program, kind, half)]


def _write(kind: LoadedKind, batch: Mapping[str, Head], root: Path) -> None:
    (root / ".git").mkdir(parents=True)
    for name, head in batch.items():
        file = root / kind.file.format(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_spell({"name": name, "description": "d", **head}, name), encoding="utf-8")


def _spell(head: Head, name: str) -> str:
    lines = (f"{key}: {json.dumps(each)}\n" for key, each in head.items())
    return "".join(("---\n", *lines, "---\n", MARK.format(name), "\n"))


_TOOLS = re.compile(r"(?:[^\s,()]|\([^()]*\)?)+")
_LOST = "is not loaded"
_EMPTY = "has no tools"
_UNDENIED = "denies nothing"
_EFFORT = "its effort is ignored"
_SESSION_EFFORT = "medium"


def _list_agents() -> Iterator[Head]:
    for key in read_data()[CLAUDE_CODE]["keys"]["agent"]:
        for each in _VALUES:
            if key != "name" or not isinstance(each, str) or not each.strip():  # another name is another agent
                yield {key: each}
    yield from ({"name": name} for name in (":x", "a:b", "-a", "a b", "A"))
    yield from _list_tools()
    for effort in (
        "low",
        "MAX",
        "1x",
        "x1",
        "1.5",
        "-1",
        "1e2",
        "0x10",
        "+1",
        " low ",
        ["low"],
        ["low", "x"],
        [["max"]],
    ):
        yield {"effort": effort}
    for entry in _list_entries():
        yield {"hooks": {"PreToolUse": entry}}
        yield {"hooks": {"Stop": entry}}


def _list_tools() -> Iterator[Head]:
    """Yield agents with every tool that stagec knows, with those of servers in each spelling, and with others."""
    data, one = read_data()[CLAUDE_CODE], f"mcp__{SERVER}__one"
    parts = ("", "*", SERVER, f"{SERVER}*", f"{SERVER}__", f"{SERVER}__*", f"{SERVER}__o*", f"{SERVER}__**")
    servers = [one, *(f"mcp__{part}" for part in (*parts, "*__one", "*__*"))]
    names = [*data["tools"], *data["tool-aliases"], *data["gone-tools"], *servers, "*", "read", "Nope", "Bash(ls *)"]
    for name in (each for each in names if each != "ToolSearch"):  # which is there if others wait to be found
        yield {"tools": [name]}
        yield {"tools": f"Read, {name}"}
    yield from ({"tools": [one, "Read"], "disallowedTools": [name]} for name in servers)
    yield from ({"tools": text} for text in ("Read,,Grep", ",", "Read Grep", "Read(", "Read(x, y), Grep", "read, Nope"))


def _list_entries() -> Iterator[Any]:
    """Yield the values that an event of hooks may have."""
    hook = {"type": "command", "command": "true"}
    yield from _VALUES
    for each in _VALUES:
        yield from ([each], [{"hooks": each}], [{"hooks": [each]}], [{"hooks": [hook], "matcher": each}])
        for key in ("type", "command", "timeout", "once", "if", "statusMessage", "async", "shell", "args"):
            yield [{"hooks": [{**hook, key: each}]}]
        for other in ({"type": "prompt", "prompt": each}, {"type": "http", "url": each}, {"type": "agent", "x": each}):
            yield [{"hooks": [other]}]


def _measure_agent(name: str, head: Head, session: ClaudeSession) -> frozenset[str] | None:
    called = head.get("name", name)
    if not isinstance(called, str) or called not in session.agents:
        return frozenset({_LOST})
    if name not in session.started:
        why = session.refused.get(name, "")
        names = _TOOLS.findall(why.partition("[")[2].partition("]")[0])
        is_absent = "zero tools" not in why or any(each.partition("(")[0] in _list_known() for each in names)
        return None if is_absent and "not available to subagents" not in why else frozenset({_EMPTY})
    tools, effort = session.started[name]
    found = set() if tools else {_EMPTY}
    if {"tools", "disallowedTools"} <= head.keys() and f"mcp__{SERVER}__one" in tools:
        found.add(_UNDENIED)
    if head.get("effort") is not None and effort == _SESSION_EFFORT:
        found.add(_EFFORT)
    return frozenset(found)


def _list_known() -> frozenset[str]:
    """Return the tools that Claude Code has in some sessions."""
    return frozenset(read_data()[CLAUDE_CODE]["tools"])


_OF_LOSS = frozenset({"STG3106", "STG3107", "STG3108", "STG3115"})
_OF_TOOLS = frozenset({"STG3110", "STG3111"})


def _tell_agent(head: Head, said: Sequence[Diagnostic]) -> frozenset[str]:
    codes = {each.code for each in said}
    if codes & _OF_LOSS:
        return frozenset({_LOST})
    found = {_EMPTY} if codes & _OF_TOOLS else {_UNDENIED} if "tools" in head and "STG3141" in codes else set()
    if not found and any(each.code == "STG3117" and "'effort'" in each.message for each in said):
        found.add(_EFFORT)
    return frozenset(found)


_HIDDEN, _UNDESCRIBED = "is not shown to users", "has no description for the model"


def _list_skills() -> Iterator[Head]:
    for key in read_data()[CLAUDE_CODE]["keys"]["skill"]:
        yield from ({key: each} for each in _VALUES)


def _measure_skill(name: str, head: Head, session: ClaudeSession) -> frozenset[str] | None:
    if "paths" in head:  # such a skill is shown when its files are read
        return None
    if name not in session.commands:
        return frozenset({_HIDDEN})
    return frozenset({_UNDESCRIBED} if name not in session.skills else ())


def _tell_skill(head: Head, said: Sequence[Diagnostic]) -> frozenset[str]:
    is_taken_for_off = any("reads this switch as off: 'user-invocable'" in each.message for each in said)
    if is_taken_for_off or ("user-invocable" in head and is_off(head["user-invocable"])):
        return frozenset({_HIDDEN})
    is_lost = any(each.code == "STG3125" or "drops this value: 'description'" in each.message for each in said)
    return frozenset({_UNDESCRIBED} if is_lost else ())


LOADED: Mapping[str, LoadedKind] = {
    "agent": LoadedKind(".claude/agents/{}.md", _list_agents, True, _measure_agent, _tell_agent),
    "skill": LoadedKind(".claude/skills/{}/SKILL.md", _list_skills, False, _measure_skill, _tell_skill),
}
