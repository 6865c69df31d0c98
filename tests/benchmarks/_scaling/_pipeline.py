"""A pipeline with its stages and tools, as large as is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise

from stagec.core.json import Json
from stagec_dev.cost import Files

DONE: Mapping[str, Json] = {"done": {"type": "boolean"}}


def stage(name: str, properties: Mapping[str, Json] = DONE, body: str = "Do it.", **members: Json) -> str:
    """Return the file of a stage that hands in an object of these properties."""
    tool = f"submit_{name.replace('-', '_')}"
    own: dict[str, Json] = {
        "id": name,
        "name": name,
        "description": name,
        "allowedTools": ["Read"],
        "completionTool": tool,
        "completionSchema": whole(properties),
        "retryPolicy": {"maxAttempts": 2, "backoff": "none"},
        "turnCap": 10,
        "resolutionPolicy": "fail",
        **members,
    }
    lines = "".join(f"{key}: {_block(value)}" for key, value in own.items())
    return f"---\n{lines}---\n\n{body}\n\nCall `{tool}`.\n"


def whole(properties: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of an object that has all of these properties and no other."""
    every: list[Json] = [*properties]
    return {"type": "object", "required": every, "properties": dict(properties), "additionalProperties": False}


def apart(files: Files, schema: Json, name: str = "large") -> Files:
    """Return files with a schema that is written beside them, as `REFERENCE`: a frontmatter cannot be that large."""
    return {**files, f"schemas/{name}.json": json.dumps(schema, indent=1)}


REFERENCE: dict[str, Json] = {"$ref": "../schemas/large.json"}


def _block(given: Json, indent: int = 1) -> str:
    """Return a value as YAML in block style, as people write it."""
    if isinstance(given, dict) and given:
        return "\n" + "".join(f"{'  ' * indent}{_text(key)}: {_block(each, indent + 1)}" for key, each in given.items())
    if isinstance(given, list) and given:
        return "\n" + "".join(f"{'  ' * indent}- {_block(each, indent + 1)}" for each in given)
    return f"{_text(given)}\n"


def _text(given: Json) -> str:
    plain = isinstance(given, str) and given.replace("_", "").replace("-", "").replace(" ", "").isalnum()
    return str(given) if plain else json.dumps(given)


def pipeline(
    stages: Mapping[str, str],
    following: Iterable[tuple[str, Json]] | None = None,
    tools: Iterable[Json] = (),
    **members: Json,
) -> Files:
    """Return a pipeline whose stages follow one another, or as is said."""
    named: dict[str, Json] = dict(pairwise(stages)) if following is None else dict(following)
    head = {"id": "large", "name": "Large", "version": "1.0.0", "entry": next(iter(stages)), "stages": ["stages/*.md"]}
    body = {**head, "tools": "tools.yaml", "maxStageExecutions": 5000, **members, "next": named}
    return {
        "pipeline.yaml": "".join(f"{key}: {_block(value)}" for key, value in body.items()),
        "tools.yaml": f"bundled: {_block(['Read', *tools])}",
        **{f"stages/{name}.md": text for name, text in stages.items()},
    }
