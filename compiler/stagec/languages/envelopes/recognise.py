"""Recognise stage plans and envelopes, by the beginning of their text and by their members."""

from __future__ import annotations

import re

from stagec.core.json import Json, Object, list_of, object_of
from stagec.languages.envelopes.document import MEMBERS
from stagec.sources.read import Sources, legible
from stagec.sources.tree import Tree

_SUFFIXES = (".json", ".yaml", ".yml")
_GLANCE = 16_000
"""Bytes of a file in which there has to be an envelope for the file to be noticed."""
_ID = re.compile(rb"""["']?\bstageId["']?\s*:\s*["']?[A-Za-z]""")
_OTHER = re.compile(
    rb"""["']?\b(?:goal|inputs|outputs|maxDurationSec|dependencies|retryable|checkpointAfter)["']?\s*:"""
)
_TELLING = ("stageId", "goal", "maxDurationSec", "checkpointAfter")
_ENOUGH = 3
"""So many members of an envelope make one, if an id is missing."""
_FOREIGN = ("checkpointId", "manifestSha256")
"""Members of checkpoints, which name their stage in the same way."""
_PLAN = ("reportTitle", "runId")
_PIPELINE = ("entry", "entryStage", "next")
"""Members of pipelines, which have stages too."""


def considers(file: str) -> bool:
    """Tell whether a file may be a stage plan or an envelope by its name."""
    return file.endswith(_SUFFIXES)


def sees(sources: Sources, file: str) -> bool:
    """Tell whether a file that nobody named has the id of a stage and something else that envelopes say."""
    data = legible(sources.glance(file, _GLANCE))
    return b"stageId" in data and _ID.search(data) is not None and _OTHER.search(data) is not None


def recognises(tree: Tree) -> bool:
    """Tell whether a file reads like an envelope, a list of them, or an object with such a list."""
    return is_envelope(tree.value) or is_plan(tree.value)


def is_envelope(given: Json) -> bool:
    """Tell whether an object is an envelope: it has the id of a stage, or enough else that only envelopes have."""
    members = object_of(given)
    if not members or not members.keys().isdisjoint(_FOREIGN):
        return False
    if "stageId" in members and "stages" not in members:
        return not members.keys().isdisjoint(MEMBERS[1:])
    return len(members.keys() & set(MEMBERS)) >= _ENOUGH and not members.keys().isdisjoint(_TELLING)


def is_plan(given: Json) -> bool:
    """Tell whether a document lists envelopes: alone, or as the stages of a plan."""
    members = object_of(given)
    stages = given if isinstance(given, list) else list_of(members.get(find_stages(members)))
    # whether an object without any envelope is a plan by what else it says
    if any(map(_is_listed, stages)) or given == []:
        return True
    if "stages" not in members or not members.keys().isdisjoint(_PIPELINE):
        return False
    return members["stages"] == [] or not members.keys().isdisjoint(_PLAN)


def find_stages(members: Object) -> str:
    """Return the member that lists envelopes: `stages`, or what is written in its place."""
    if STAGES in members:
        return STAGES
    return next((name for name, given in members.items() if any(map(_is_listed, list_of(given)))), STAGES)


STAGES = "stages"


def _is_listed(given: Json) -> bool:
    return is_envelope(given) or isinstance(object_of(given).get("stageId"), str)
