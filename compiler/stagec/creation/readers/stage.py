"""Stage definitions, which are taken as they are."""

from __future__ import annotations

from stagec.core.json import object_of, text_in
from stagec.creation.readers import Adopted, AgentReader, Tree
from stagec.frontends.stages.adopt import list_tools
from stagec.frontends.stages.recognise import MARKDOWN, is_stage


def _recognises(tree: Tree) -> bool:
    return is_stage(object_of(tree.value))


def _read(tree: Tree) -> Adopted:
    given = object_of(tree.value)
    return Adopted(
        id=text_in(given, "id") or "",
        text=tree.data.decode(errors="replace"),
        tools=tuple(list_tools(given)),
        has_tools=True,
    )


READER = AgentReader(MARKDOWN, _recognises, _read)
