"""The schemas of what hand-offs write, as far as they lie in the project."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.value import NOTHING, value
from stagec.sources.read import Sources, join
from stagec.sources.shape import judge_schema

AGENTS = ".agent"
"""The folder of orchestrator files and of agents."""
_SCHEMAS = "agents/common/schemas"


@value
class Artifacts:
    """The folder of schemas, whether it is there, and the schemas by the names that hand-offs have for them.

    `has_payload` tells whether the file is there that is named as the schema of payloads.
    """

    folder: str = _SCHEMAS
    has_folder: bool = False
    schemas: Mapping[str, Json] = NOTHING
    has_payload: bool = False


def find_project(file: str) -> str:
    """Return the folder of the project that an orchestrator file belongs to: the one that has `.agent`."""
    folder = posixpath.dirname(file)
    return posixpath.dirname(folder) if posixpath.basename(folder) == AGENTS else ""


def find_artifacts(sources: Sources, file: str, root: Object, names: Iterable[str]) -> Artifacts:
    """Return the schemas under some names, and that of payloads."""
    project = find_project(file)
    folder = posixpath.join(project, _SCHEMAS)
    known = {name: _read(sources, join(folder, f"{name}.json")) for name in dict.fromkeys(names)}
    named = text_in(object_of(root.get("payloadSchema")), "$ref")
    path = join(project, named) if named is not None else None
    _read(sources, path)  # what is wrong with it is told there
    return Artifacts(
        folder=folder,
        has_folder=sources.has_folder(folder),
        schemas=known,
        has_payload=path is not None and sources.exists(path),
    )


def _read(sources: Sources, path: str | None) -> Json:
    """Return what a schema file holds, having judged it; nothing where it is not there or cannot be read."""
    tree = sources.tree(path, "schema") if path is not None and sources.exists(path) else None
    if tree is None or not tree.readable:
        return None
    sources.replace(judge_schema(tree, sources.budgets, sources.patterns))
    return tree.value
