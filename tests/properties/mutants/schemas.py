"""Operators on the JSON Schemas of answers, those in files of a registry and those in stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from properties.mutants.projects import Change, Pointer, Project, put, reach, rename, value_at, walk
from properties.mutants.registries import GATE, used_schemas
from properties.mutants.slips import Operator
from properties.mutants.words import misspell

TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
KEYWORDS = (
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "$ref",
    "additionalProperties",
    "allOf",
    "minItems",
    "$defs",
)


def each_schema(project: Project) -> Iterator[tuple[str, Pointer, Any]]:
    """Yield every part of every schema that a step or a stage answers by."""
    for file in (*used_schemas(project), *project.stages):
        data = project.data(file)
        start: Pointer = ("completionSchema",) if file in project.stages else ()
        if not isinstance(value_at(data, start), dict):
            continue
        for at, found in walk(value_at(data, start), start):
            if isinstance(found, dict) and (
                not at or at[-1] not in {"properties", "$defs"} or at[-2:-1] == ("properties",)
            ):
                yield file, at, found


def on_members(change: Callable[[Project, str, Pointer, Any, Random], Iterator[Change]]) -> Operator:
    def every(project: Project, chance: Random) -> Iterator[Change]:
        for file, at, found in each_schema(project):
            yield from change(project, file, at, found, chance)

    return every


def type_misspelt(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    if found.get("type") in TYPES if isinstance(found.get("type"), str) else False:
        path = (*at, "type")
        yield project.change(file, put(project.data(file), path, misspell(found["type"], chance)), path)


def type_exchanged(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    """Give a part another type through which a gate, a case or a prompt reads."""
    if found.get("type") == "object" and reads_through(project, at, found):
        path = (*at, "type")
        words = tuple(found["properties"])
        yield project.change(file, put(project.data(file), path, "string"), at, path, words=words)


def reads_through(project: Project, at: Pointer, found: Any) -> bool:
    """Tell whether paths that somebody reads lead through a part of a schema."""
    names = read_names(project)
    return bool(at) and at[-1] in names and not names.isdisjoint(found.get("properties", ()))


def read_names(project: Project) -> frozenset[str]:
    """Return every part of a path that a gate or a case reads."""
    registry, pipeline = project.registry, project.pipeline
    paths: list[Any] = []
    if registry is not None:
        data = project.data(registry)
        for pattern in (*GATE, "intentField"), (*GATE, "handoffFields", "*"):
            paths += [value_at(data, each) for each in reach(data, *pattern)]
    if pipeline is not None:
        paths += [each[-1] for each in reach(project.data(pipeline), "next", "*", "*", "when", "*")]
    return frozenset(part for path in paths for part in str(path).split("."))


def property_misspelt(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    for name in found.get("properties", ()) if isinstance(found.get("required"), list) else ():
        if name in found["required"]:
            new = misspell(name, chance)
            path = (*at, "properties", name)
            yield project.change(
                file,
                rename(project.data(file), path, new),
                path,
                (*path[:-1], new),
                at,
                (*at, "required"),
                words=(name, new),
            )


def required_misspelt(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    for index, name in enumerate(found.get("required", ())) if isinstance(found.get("required"), list) else ():
        if isinstance(name, str):
            path = (*at, "required", index)
            yield project.change(file, put(project.data(file), path, misspell(name, chance)), path, at, words=(name,))


def keyword_misspelt(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    for name in KEYWORDS:
        if name in found:
            new = misspell(name, chance)
            path = (*at, name)
            yield project.change(file, rename(project.data(file), path, new), path, (*at, new))


def keyword_mistyped(project: Project, file: str, at: Pointer, found: Any, _chance: Random) -> Iterator[Change]:
    wrong = {"type": 7, "properties": [1], "required": "x", "items": "x", "enum": "x", "$ref": 7, "minItems": "x"}
    for name, value in wrong.items():
        if name in found:
            path = (*at, name)
            yield project.change(file, put(project.data(file), path, value), path)


def enum_misspelt(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    listed = found.get("enum")
    if (
        isinstance(listed, list)
        and listed
        and {"next", "repeat", "closing"} & {each for each in listed if isinstance(each, str)}
    ):
        index = chance.randrange(len(listed))
        path = (*at, "enum", index)
        yield project.change(file, put(project.data(file), path, misspell(str(listed[index]), chance)), path)


def enum_shortened(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    listed = found.get("enum")
    if (
        isinstance(listed, list)
        and len(listed) > 1
        and {"next", "repeat", "closing"} & {each for each in listed if isinstance(each, str)}
    ):
        path = (*at, "enum")
        yield project.change(
            file, put(project.data(file), path, listed[1:]), path, words=("allowedIntents", "transitions")
        )


def reference_misspelt(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    if isinstance(found.get("$ref"), str):
        head, slash, name = found["$ref"].rpartition("/")
        path = (*at, "$ref")
        yield project.change(file, put(project.data(file), path, f"{head}{slash}{misspell(name, chance)}"), path)


def definition_misspelt(project: Project, file: str, at: Pointer, found: Any, chance: Random) -> Iterator[Change]:
    for group in ("$defs", "definitions"):
        for name in found.get(group, ()) if isinstance(found.get(group), dict) else ():
            new = misspell(name, chance)
            path = (*at, group, name)
            yield project.change(
                file, rename(project.data(file), path, new), path, (*path[:-1], new), words=(name, new)
            )


OPERATORS: dict[str, Operator] = {
    "schema: type misspelt": on_members(type_misspelt),
    "schema: other type": on_members(type_exchanged),
    "schema: property misspelt": on_members(property_misspelt),
    "schema: required misspelt": on_members(required_misspelt),
    "schema: keyword misspelt": on_members(keyword_misspelt),
    "schema: keyword mistyped": on_members(keyword_mistyped),
    "schema: intent misspelt": on_members(enum_misspelt),
    "schema: intent left out": on_members(enum_shortened),
    "schema: reference misspelt": on_members(reference_misspelt),
    "schema: definition misspelt": on_members(definition_misspelt),
}
