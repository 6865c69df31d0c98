"""Edits that change nothing of what a project means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import yaml
from properties.mutants.pipelines import pipelines, stages
from properties.mutants.plans import plans
from properties.mutants.projects import Change, Pointer, Project, Stage, put, reach, rename, value_at, walk
from properties.mutants.registries import (
    GATE,
    GUARD,
    OUTPUT,
    STEP,
    VALIDATOR,
    agents,
    registries,
    step_prompts,
    used_schemas,
)
from properties.mutants.slips import Operator, places


def documents(project: Project) -> tuple[str, ...]:
    return (
        *registries(project),
        *agents(project),
        *used_schemas(project),
        *project.stages,
        *((project.pipeline,) if project.pipeline else ()),
        *project.named("tools.yaml"),
        *plans(project),
    )


def reformatted(project: Project, chance: Random) -> Iterator[Change]:
    """Other white space; of YAML other quotes, and flow style instead of block style."""
    for file in documents(project):
        data = project.data(file)
        if file.endswith(".json"):
            for text in (
                json.dumps(data),
                json.dumps(data, indent=chance.randrange(1, 9)),
                json.dumps(data, indent="\t", ensure_ascii=False),
            ):
                yield Change({file: f"{text}\n\n".encode()}, ())
            continue
        found = project.files[file]
        for text in (
            f"{json.dumps(data)}\n",
            f"{json.dumps(data, indent=4)}\n",
            yaml.safe_dump(data, sort_keys=False, default_flow_style=True, width=10_000),
        ):
            if default_types(text, data):
                yield Change(
                    {file: (f"---\n{text}---\n{found.body}" if isinstance(found, Stage) else text).encode()}, ()
                )


def default_types(text: str, data: Any) -> bool:
    return bool(yaml.safe_load(text) == data)


def reordered(project: Project, chance: Random) -> Iterator[Change]:
    """Members in another order."""
    for file in documents(project):
        for order in (
            sorted,
            lambda keys: sorted(keys, reverse=True),
            lambda keys: chance.sample(list(keys), len(keys)),
        ):
            yield project.change(file, in_order(project.data(file), order))


def in_order(data: Any, order: Any) -> Any:
    if isinstance(data, dict):
        return {key: in_order(data[key], order) for key in order(data.keys())}
    return [in_order(each, order) for each in data] if isinstance(data, list) else data


def described(project: Project, _chance: Random) -> Iterator[Change]:
    """Other words where words are free."""
    for file in documents(project):
        for path, found in walk(project.data(file)):
            is_free = path and path[-1] in {"description", "displayName", "name", "title"} and isinstance(found, str)
            if is_free and says_nothing(path, of_agent=file in agents(project)):
                yield project.change(file, put(project.data(file), path, f"{found}, in other words."))


def says_nothing(path: Pointer, *, of_agent: bool) -> bool:
    """Tell whether a text is for people only: names of steps and pipelines are, those of agents and tools are not."""
    is_name = path[-1] == "name" and path[:1] != ("steps",) and (path != ("name",) or of_agent)
    return not is_name and {"bundled", "discovered"}.isdisjoint(path) and "properties" not in path[-2:]


OPTIONAL: tuple[tuple[Any, tuple[Any, ...], str, Any], ...] = (
    (registries, STEP, "description", "What the step does."),
    (registries, STEP, "model", "opus"),
    (registries, GATE, "failFast", True),
    (registries, GATE, "targetMode", "explicit"),
    (registries, (), "$schema", "https://example.org/steps_registry.schema.json"),
    (registries, GUARD, "description", "What is checked."),
    (used_schemas, (), "$comment", "Anything."),
    (used_schemas, (), "title", "Anything"),
    (stages, (), "tags", ["one", "two"]),
    (stages, (), "description", "What the stage does."),
    (stages, ("completionSchema",), "description", "What is handed in."),
    (stages, ("completionSchema",), "title", "Result"),
    (stages, ("completionSchema",), "$comment", "Anything."),
    (pipelines, (), "description", "What it does."),
    (pipelines, (), "maxParallel", 4),
    (plans, (), "maxParallel", 4),
    (plans, (), "runId", "run-001"),
    (plans, ("stages", "*"), "comment", "Anything."),
)
ANNOTATIONS = (("description", "What it is."), ("$comment", "Anything."), ("examples", []))


def documented(project: Project, _chance: Random) -> Iterator[Change]:
    """Add optional members that are documented and change nothing."""
    for files, pattern, name, value in OPTIONAL:
        for file, path in places(project, files, (pattern,)):
            yield from added(project, file, path, name, value)
    for file in used_schemas(project):
        for path, _ in walk(project.data(file)):
            for name, value in ANNOTATIONS if path[-2:-1] == ("properties",) else ():
                yield from added(project, file, path, name, value)


def added(project: Project, file: str, path: Pointer, name: str, value: Any) -> Iterator[Change]:
    """Yield the file with one more member of an object, unless it is there."""
    data = project.data(file)
    owner = value_at(data, path)
    if isinstance(owner, dict) and name not in owner:
        yield project.change(file, put(data, (*path, name), value))


def prose(project: Project, _chance: Random) -> Iterator[Change]:
    """More words in a prompt."""
    for file in step_prompts(project):
        yield Change({file: f"{project.files[file]}\nTake your time.\n".encode()}, ())
    for file in project.stages:
        written = project.write(file, project.data(file))
        yield Change({file: written + b"\nTake your time.\n"}, ())


def renamed(project: Project, _chance: Random) -> Iterator[Change]:
    """Another name, wherever it is said."""
    for file in registries(project):
        data = project.data(file)
        for section, references in (
            ("validators", ((*GUARD, "validationConditions", "*", "validator"),)),
            ("failurePatterns", ((*VALIDATOR, "failurePattern"),)),
        ):
            for path in reach(data, section, "*"):
                yield project.change(file, renamed_in(project.data(file), path, f"{path[-1]}-too", references))
        for path in reach(data, *OUTPUT):
            yield from renamed_definition(project, file, path)
    for file in project.stages:
        yield from renamed_stage(project, file)
        yield from renamed_tool(project, file)


def renamed_in(data: Any, path: Pointer, new: str, references: tuple[tuple[str, ...], ...]) -> Any:
    for pattern in references:
        for each in list(reach(data, *pattern)):
            if value_at(data, each) == path[-1]:
                put(data, each, new)
    return rename(data, path, new)


def renamed_definition(project: Project, file: str, path: Pointer) -> Iterator[Change]:
    data = project.data(file)
    reference = value_at(data, path)
    schema = next((each for each in project.schemas if each.rpartition("/")[2] == reference["file"]), None)
    name = reference["schema"]
    if schema is None or not isinstance(project.data(schema), dict):
        return
    held = project.data(schema)
    inside = held.get("definitions") or held.get("$defs") or held
    text = json.dumps(project.files)
    if name not in inside or f'/{name}"' in text:
        return
    for each in [*reach(data, *OUTPUT), *reach(data, *GUARD, "outputSchemaRef")]:
        if value_at(data, each) == reference:
            put(data, (*each, "schema"), f"{name}.too")
    moved = {(f"{name}.too" if key == name else key): found for key, found in inside.items()}
    whole = moved if inside is held else {key: (moved if found is inside else found) for key, found in held.items()}
    yield Change({file: project.write(file, data), schema: project.write(schema, whole)}, ())


def renamed_stage(project: Project, file: str) -> Iterator[Change]:
    """Give a stage another id, in its own file and in the pipeline."""
    pipeline = project.pipeline
    old = project.data(file)["id"]
    if pipeline is None:
        return
    new = f"{old}-too"
    data = json.loads(json.dumps(project.data(pipeline)))
    for path, found in list(walk(data)):
        if found == old and path[-1] not in {"execution", "verdict", "id", "name"}:
            put(data, path, new)
    for section in "next", "checks", "gate":
        if old in data.get(section, ()):
            rename(data, (section, old), new)
    moved = file.replace(f"{old}.md", f"{new}.md")  # a glob finds it under the new name, too
    head = project.write(file, put(project.data(file), ("id",), new))
    yield Change({file: None, moved: head, pipeline: project.write(pipeline, data)}, ())


def renamed_tool(project: Project, file: str) -> Iterator[Change]:
    """Give a completion tool another name, in the frontmatter and in the prompt."""
    old = project.data(file)["completionTool"]
    written = project.write(file, put(project.data(file), ("completionTool",), f"{old}_too")).decode()
    head, mark, body = written.partition("\n---\n")
    yield Change({file: f"{head}{mark}{body.replace(old, f'{old}_too')}".encode()}, ())


OPERATORS: dict[str, Operator] = {
    "reformatted": reformatted,
    "reordered": reordered,
    "described": described,
    "documented": documented,
    "more prose": prose,
    "renamed": renamed,
}
