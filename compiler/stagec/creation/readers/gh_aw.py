"""Agentic workflows of GitHub (gh-aw)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from stagec.core.json import Json, list_of, object_of
from stagec.creation.adopted import Handoff
from stagec.creation.new_project import Loss
from stagec.creation.readers import Adopted, AgentReader, AgentText, Around
from stagec.creation.taking import Kept, lose, take_over
from stagec.creation.tool_names import choose_workflow

_KEPT = frozenset({"name", "description", "tools", "imports", "model", "hooks", "skills", "metadata"})
_AGENTS = ".github/agents/"


def read_workflow(given: AgentText, around: Around) -> Adopted:
    """Return the stage of an agentic workflow."""
    return take_over(
        given,
        Kept(
            choose_workflow(given.members.get("tools"), around),
            handoffs=tuple(_list_imported(given)),
            losses=tuple(_list_lost(given)),
            done=tuple(key for key in given.members if key not in {"metadata", "model", "hooks", "skills"}),
        ),
    )


def _list_imports(given: Json) -> list[str]:
    every = list_of(given) or list_of(object_of(given).get("aw"))
    return [each for one in every if isinstance(each := object_of(one).get("path", one), str)]


def _list_imported(given: AgentText) -> Iterator[Handoff]:
    """Yield the one agent that a workflow may import."""
    for each in _list_imports(given.members.get("imports")):
        file = each if _AGENTS in each else posixpath.normpath(posixpath.join(posixpath.dirname(given.file), each))
        if _AGENTS in file and "@" not in file:
            name = posixpath.basename(file).removesuffix(".md").removesuffix(".agent")
            yield Handoff(name, f"imports: {each}", given.find_line("imports"))


def _list_lost(given: AgentText) -> Iterator[Loss]:
    known = {each.label.removeprefix("imports: ") for each in _list_imported(given)}
    parts = [each for each in _list_imports(given.members.get("imports")) if each not in known]
    if parts:
        yield lose(given, "imports", f"the texts of {', '.join(parts)} are not part of the prompt")
    for key in given.members:
        if key == "safe-outputs":
            outputs = ", ".join(object_of(given.members[key]))
            yield lose(given, key, f"is left out: {outputs} could be what the completion tool hands in")
        elif key not in _KEPT and isinstance(key, str):
            yield lose(given, key, "belongs to the workflow: a stage has nothing for it")


READER = AgentReader(("gh-aw-workflow",), (), read_workflow)
