"""The arguments of commands and skills: what their bodies read of them becomes part of the context of a run."""

from __future__ import annotations

import re

from stagec.core.json import list_of
from stagec.creation.adopted import escape_prompt
from stagec.creation.collected import AgentText
from stagec.creation.tool_names import list_entries

_NAME = re.compile(r"[A-Za-z_]\w*")


def read_arguments(given: AgentText) -> tuple[str, tuple[str, ...]]:
    """Return the prompt of a command or a skill, and the names of the context that it reads."""
    named = given.members.get("arguments")
    listed = list_entries(named) if isinstance(named, str) else map(str, list_of(named))
    names = "|".join(each for each in listed if _NAME.fullmatch(each)) or "(?!)"
    pattern = rf"\$ARGUMENTS\[(?P<index>\d{{1,3}})\]|\$(?P<at>\d)(?!\d)|\$(?P<name>{names})\b|\$ARGUMENTS\b"
    reads: dict[str, None] = {}

    def put(found: re.Match[str]) -> str:
        index = found["index"] or found["at"]
        name = f"arg{index}" if index else found["name"] or "arguments"
        reads[name] = None
        return f"{{{{ctx.{name}}}}}"

    return re.sub(pattern, put, escape_prompt(given.body)), tuple(reads)
