"""Markdown files with a `name` or a `description` in their frontmatter, as many programs describe agents."""

from __future__ import annotations

from stagec.core.json import object_of
from stagec.creation.readers import AgentReader, Tree
from stagec.frontends.stages.adopt import adopt
from stagec.frontends.stages.recognise import MARKDOWN, is_stage


def _recognises(tree: Tree) -> bool:
    given = object_of(tree.value)
    return not is_stage(given) and not given.keys().isdisjoint({"name", "description"})


READER = AgentReader(MARKDOWN, _recognises, adopt)
