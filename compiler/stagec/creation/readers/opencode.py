"""Agents and modes of OpenCode."""

from __future__ import annotations

from stagec.core.json import object_of
from stagec.creation.readers import Adopted, AgentReader, AgentText, Around
from stagec.creation.taking import Kept, take_over
from stagec.creation.tool_names import choose_claude, choose_opencode


def read_opencode(given: AgentText, around: Around) -> Adopted:
    """Return the stage of a file of OpenCode."""
    members = given.members
    key = "tools" if "tools" in members or "permission" not in members else "permission"
    said = members.get(key)
    is_map = isinstance(said, dict)
    chosen = choose_opencode(object_of(said), around) if is_map else choose_claude(said, around, is_exact=False)
    return take_over(given, Kept(chosen, key, done=("tools", "permission")))


READER = AgentReader(("opencode-agent", "opencode-mode"), (), read_opencode)
