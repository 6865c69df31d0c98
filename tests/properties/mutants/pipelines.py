"""Operators on pipelines, their stages and their tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from properties.mutants.projects import Change, Project, Stage, drop, put, reach, rename, value_at
from properties.mutants.slips import (
    Operator,
    Patterns,
    cased,
    keys,
    lost_files,
    mistyped,
    numbers,
    places,
    removals,
    spelt,
    strings,
)
from properties.mutants.words import change_case, misspell

PATH = re.compile(r"\{\{ *([\w.\[\]]+) *\}\}")


def pipelines(project: Project) -> tuple[str, ...]:
    return (project.pipeline,) if project.pipeline else ()


def stages(project: Project) -> tuple[str, ...]:
    return project.stages


def catalogues(project: Project) -> tuple[str, ...]:
    return tuple(project.named("tools.yaml"))


HEAD: Patterns = tuple(
    (name,)
    for name in (
        "id",
        "name",
        "allowedTools",
        "completionTool",
        "completionSchema",
        "retryPolicy",
        "turnCap",
        "resolutionPolicy",
    )
)
RETRY: Patterns = (("retryPolicy", "maxAttempts"), ("retryPolicy", "backoff"))
CASE = ("next", "*", "*")
TARGETS: Patterns = (
    ("entry",),
    ("entryStage",),
    ("next", "*"),
    ("next", "*", "stages", "*"),
    ("next", "*", "nextStages", "*"),
    ("next", "*", "join"),
    (*CASE, "stages", "*"),
)
MEMBERS: Patterns = (
    *((name,) for name in ("entry", "entryStage", "next", "maxStageExecutions", "checks", "context")),
    *(("next", "*", name) for name in ("stages", "nextStages", "execution", "join")),
    (*CASE, "when"),
    (*CASE, "stages"),
    *(("checks", "*", "*", name) for name in ("when", "verdict")),
)


def case_paths(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell a path that a case or a check reads, and a value that it asks for."""
    for file in pipelines(project):
        data = project.data(file)
        for path in (*reach(data, *CASE, "when", "*"), *reach(data, "checks", "*", "*", "when", "*")):
            old = str(path[-1])
            yield project.change(
                file, rename(project.data(file), path, misspell(old, chance)), path, path[:-1], words=(old,)
            )
            wrong = "nope" if not isinstance(value_at(data, path), list) else ["nope"]
            yield project.change(file, put(project.data(file), path, wrong), path)


def misled_case(project: Project, _chance: Random) -> Iterator[Change]:
    """Write `if` for `when`, and put the case that always matches first."""
    for file in pipelines(project):
        data = project.data(file)
        for path in reach(data, *CASE, "when"):
            yield project.change(file, rename(project.data(file), path, "if"), path, path[:-1])
        for path in reach(data, "next", "*"):
            cases = value_at(data, path)
            if isinstance(cases, list) and len(cases) > 1 and "when" not in cases[-1]:
                yield project.change(file, put(project.data(file), path, [cases[-1], *cases[:-1]]), path)


def wrong_forks(project: Project, chance: Random) -> Iterator[Change]:
    """Let a fork join a sibling, and run one stage alone or twice."""
    for file in pipelines(project):
        data = project.data(file)
        for name in "stages", "nextStages":
            for path in reach(data, "next", "*", name):
                route = value_at(data, path[:-1])
                if route.get("execution") == "parallel":
                    siblings = route[name]
                    yield project.change(file, put(project.data(file), (*path[:-1], "join"), siblings[0]), path[:-1])
                    yield project.change(file, put(project.data(file), path, siblings[:1]), path)
                    yield project.change(file, put(project.data(file), path, [*siblings, siblings[0]]), path)


def unbounded(project: Project, _chance: Random) -> Iterator[Change]:
    for file in pipelines(project):
        if "maxStageExecutions" in project.data(file):
            yield project.change(
                file,
                drop(project.data(file), ("maxStageExecutions",)),
                ("next",),
                ("next", "x"),
                ("maxStageExecutions",),
            )


def ids(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell the id of a stage, write it in another case, or take that of another stage."""
    known = {file: project.data(file)["id"] for file in project.stages}
    for file, old in known.items():
        others = [each for each in known.values() if each != old]
        for new in (misspell(old, chance), old.upper(), chance.choice(others)):
            yield project.change(file, put(project.data(file), ("id",), new), ("id",), words=(old, new))


def placeholders(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell a part of a placeholder, or its braces."""
    for file in project.stages:
        body = project.files[file].body
        for found in PATH.finditer(body):
            path = found[1].split(".")
            for at in range(len(path)):
                wrong = ".".join([*path[:at], misspell(path[at], chance), *path[at + 1 :]])
                yield with_body(project, file, body[: found.start(1)] + wrong + body[found.end(1) :])
            for braced in f"{{{found[1]}}}", f"${{{found[1]}}}", f"{{{{{found[1]}}}", f"{{%{found[1]}%}}":
                yield with_body(project, file, body[: found.start()] + braced + body[found.end() :])


def with_body(project: Project, file: str, body: str) -> Change:
    written = Project(project.root, {**project.files, file: Stage(project.files[file].head, body)})
    return Change({file: written.write(file, written.data(file))}, ((file, ()),))


def list_tools(project: Project) -> frozenset[str]:
    """Return the names of the tools that a project declares."""
    patterns = (("bundled", "*"), ("discovered", "*"))
    found = (value_at(project.data(file), path) for file, path in places(project, catalogues, patterns))
    return frozenset(each if isinstance(each, str) else each["name"] for each in found)


def tools(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell a tool, write it in another case, and take the completion tool for one."""
    known = list_tools(project)
    for file, path in places(project, stages, (("allowedTools", "*"),)):
        old = value_at(project.data(file), path)
        for new in (misspell(old, chance), change_case(old)) if old in known else ():
            yield project.change(file, put(project.data(file), path, new), path, words=(old,))
    for file in project.stages:
        data = project.data(file)
        listed = [*data.get("allowedTools", ()), data["completionTool"]]
        yield project.change(file, put(data, ("allowedTools",), listed), ("allowedTools",), ("completionTool",))


def lost_tools(project: Project, _chance: Random) -> Iterator[Change]:
    """Declare a tool no more that a stage allows."""
    allowed = {value_at(project.data(file), path) for file, path in places(project, stages, (("allowedTools", "*"),))}
    for file, path in places(project, catalogues, (("bundled", "*"), ("discovered", "*"))):
        found = value_at(project.data(file), path)
        name = found if isinstance(found, str) else found["name"]
        if name in allowed:
            yield project.change(file, drop(project.data(file), path), path, words=(name,))


def contexts(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell a name that the pipeline declares and a prompt reads."""
    for file in pipelines(project):
        for path in reach(project.data(file), "context", "*"):
            yield project.change(
                file, rename(project.data(file), path, misspell(str(path[-1]), chance)), path, words=(path[-1],)
            )


def indentation(project: Project, chance: Random) -> Iterator[Change]:
    """Move a line by one blank, or indent it by a tab."""
    for file in (*project.stages, *project.named("pipeline.yaml")):
        text = project.write(file, project.data(file)).decode()
        head, mark, rest = text.partition("\n---\n") if file in project.stages else (text, "", "")
        lines = head.split("\n")
        at = [index for index, line in enumerate(lines) if line.startswith("  ") and lines[index - 1].startswith("  ")]
        for index in at:
            for moved in f" {lines[index]}", f"\t{lines[index].lstrip()}":
                changed = "\n".join([*lines[:index], moved, *lines[index + 1 :]])
                yield Change({file: f"{changed}{mark}{rest}".encode()}, ((file, ()),))


OPERATORS: dict[str, Operator] = {
    "stage: key misspelt": keys(stages, (*HEAD, *RETRY), spelt),
    "stage: key in another case": keys(stages, HEAD, cased),
    "stage: key left out": removals(stages, (*HEAD, *RETRY)),
    "stage: text mistyped": mistyped(
        stages, tuple((name,) for name in ("id", "name", "completionTool", "resolutionPolicy")), "string"
    ),
    "stage: list mistyped": mistyped(
        stages,
        (("allowedTools",), ("allowedTools", "*"), ("retryPolicy",), ("completionSchema",)),
        "array",
        "object",
        "string",
        "boolean",
    ),
    "stage: number out of range": numbers(
        stages, (("turnCap",), ("retryPolicy", "maxAttempts")), 0, -1, 1.5, "3", True
    ),
    "stage: policy misspelt": strings(stages, (("resolutionPolicy",), ("retryPolicy", "backoff")), spelt),
    "stage: other id": ids,
    "stage: placeholder misspelt": placeholders,
    "stage: tool misspelt": tools,
    "tools: tool left out": lost_tools,
    "stage: file lost": lost_files(stages),
    "pipeline: key misspelt": keys(pipelines, MEMBERS, spelt),
    "pipeline: routed stage misspelt": keys(pipelines, (("next", "*"), ("checks", "*")), spelt),
    "pipeline: target misspelt": strings(pipelines, TARGETS, spelt),
    "pipeline: target in another case": strings(pipelines, TARGETS, cased),
    "pipeline: execution misspelt": strings(
        pipelines, (("next", "*", "execution"), ("checks", "*", "*", "verdict")), spelt
    ),
    "pipeline: value mistyped": mistyped(
        pipelines, (("next",), ("next", "*"), (*CASE, "when"), ("context",)), "object", "array", "string", "null"
    ),
    "pipeline: number out of range": numbers(pipelines, (("maxStageExecutions",), ("maxParallel",)), 0, -1, "x"),
    "pipeline: condition misspelt": case_paths,
    "pipeline: case misled": misled_case,
    "pipeline: wrong fork": wrong_forks,
    "pipeline: no bound": unbounded,
    "pipeline: context misspelt": contexts,
    "pipeline: indentation": indentation,
}
