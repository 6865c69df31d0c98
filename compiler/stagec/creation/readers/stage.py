"""Stage definitions, which are taken as they are."""

from __future__ import annotations

from stagec.core.json import list_of, text_in
from stagec.creation.collected import STAGE
from stagec.creation.readers import Adopted, AgentReader, AgentText, Around


def read_stage(given: AgentText, _around: Around) -> Adopted:
    """Return a stage definition as it is."""
    tools = tuple(each for each in list_of(given.members.get("allowedTools")) if isinstance(each, str) and each)
    return Adopted(name=text_in(given.members, "id") or given.called, tools=tools, text=given.text)


READER = AgentReader((STAGE,), (), read_stage)
