"""Operators on step registries, the agents beside them, and their files."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from properties.mutants.projects import AGENT, REGISTRY, Change, Project, drop, put, reach, rename, value_at
from properties.mutants.slips import (
    Operator,
    Patterns,
    cased,
    keys,
    lost_files,
    mistyped,
    moved_files,
    numbers,
    parts,
    removals,
    spelt,
    strings,
)
from properties.mutants.words import misspell

STEP = ("steps", "*")
GATE = (*STEP, "structuredGate")
MOVE = (*STEP, "transitions", "*")
OUTPUT = (*STEP, "outputSchemaRef")
GUARD = ("validationSteps", "*")
VALIDATOR = ("validators", "*")
PATTERN = ("failurePatterns", "*")
INTENTS = ("next", "repeat", "jump", "handoff", "closing", "escalate", "abort")


def registries(project: Project) -> tuple[str, ...]:
    return tuple(project.named(REGISTRY))


def agents(project: Project) -> tuple[str, ...]:
    return tuple(project.named(AGENT)) if project.registry else ()


def step_prompts(project: Project) -> tuple[str, ...]:
    """Return the prompts that steps are run with, those that nothing names left out."""
    registry = project.registry
    if registry is None:
        return ()
    data, folder = project.data(registry), registry.removesuffix(REGISTRY)
    wanted = {
        f"{folder}prompts/{data['c1']}/{step['c2']}/{step['c3']}/f_{step.get('edition', 'default')}.md"
        for step in data["steps"].values()
        if "adaptation" not in step
    }
    return tuple(sorted(wanted & project.files.keys()))


def used_schemas(project: Project) -> tuple[str, ...]:
    registry = project.registry
    if registry is None:
        return ()
    data = project.data(registry)
    named = {value_at(data, path) for path in reach(data, *OUTPUT, "file")}
    return tuple(file for file in project.schemas if file.rpartition("/")[2] in named)


REQUIRED: Patterns = (
    *((name,) for name in ("agentId", "version", "c1", "steps")),
    *((*STEP, name) for name in ("stepId", "c2", "c3", "outputSchemaRef", "structuredGate", "transitions")),
    *((*GATE, name) for name in ("allowedIntents", "intentSchemaRef", "intentField")),
    *((*OUTPUT, name) for name in ("file", "schema")),
    (*MOVE, "target"),
    (*MOVE, "condition"),
    *((*VALIDATOR, name) for name in ("type", "command", "successWhen", "failurePattern")),
    *((*PATTERN, name) for name in ("description", "edition")),
    *((*GUARD, name) for name in ("stepId", "name", "c2", "c3")),
    (*GUARD, "validationConditions", "*", "validator"),
    (*GUARD, "onFailure", "action"),
)
KNOWN: Patterns = (
    *REQUIRED,
    ("entryStepMapping",),
    ("validators",),
    ("failurePatterns",),
    ("validationSteps",),
    *((*STEP, name) for name in ("stepKind", "uvVariables", "usesStdin", "edition", "inputs", "adaptation", "runner")),
    *((*GATE, name) for name in ("handoffFields", "targetField", "targetMode", "failFast", "fallbackIntent")),
    (*MOVE, "fallback"),
    (*MOVE, "targets"),
    (*GUARD, "onFailure"),
    (*GUARD, "onFailure", "maxAttempts"),
    (*GUARD, "validationConditions"),
)
AGENT_REQUIRED: Patterns = (
    *((name,) for name in ("version", "name", "displayName", "description", "parameters", "runner")),
    *(("parameters", "*", name) for name in ("type", "description", "cli")),
    *(("runner", name) for name in ("flow", "verdict", "boundaries")),
    ("runner", "verdict", "type"),
    ("runner", "verdict", "config"),
    ("runner", "verdict", "config", "maxIterations"),
    ("runner", "flow", "systemPromptPath"),
)
TARGETS: Patterns = (
    ("entryStep",),
    ("entryStepMapping", "*"),
    (*MOVE, "target"),
    (*MOVE, "fallback"),
    (*MOVE, "targets", "*"),
)


def intents(project: Project, chance: Random) -> Iterator[Change]:
    """Take an intent out of a gate, put one in, and misspell one, in the gate and in the transitions."""
    for file in registries(project):
        data = project.data(file)
        for path in reach(data, *GATE, "allowedIntents"):
            listed = value_at(data, path)
            step = value_at(data, path[:2])
            words = (step["structuredGate"].get("intentSchemaRef"),)
            spots = (path, (*path[:2], "transitions"), *((*path[:2], "transitions", each) for each in INTENTS))
            for new in (
                without(listed),
                [*listed, chance.choice([each for each in INTENTS if each not in {*listed, "abort"}])],
            ):
                if new:
                    yield with_schema(
                        project, project.change(file, put(project.data(file), path, new), *spots, words=words)
                    )
            at = chance.randrange(len(listed))
            new = [*listed[:at], misspell(listed[at], chance), *listed[at + 1 :]]
            yield project.change(file, put(project.data(file), path, new), path)


def without(listed: list[str]) -> list[str]:
    return [each for each in listed if each != "repeat"][1:] and [each for each in listed if each != listed[0]]


def with_schema(project: Project, change: Change) -> Change:
    """Let what a mutant is told by stand in the schema as well: two lists against one."""
    return change._replace(words=change.words | {"action", "enum"})


def transitions(project: Project, chance: Random) -> Iterator[Change]:
    """Leave a transition out, misspell its intent, and lead to nothing."""
    for file in registries(project):
        data = project.data(file)
        for path in reach(data, *MOVE):
            gate = ((*path[:2], "structuredGate", "allowedIntents"), path[:3], path)
            if path[-1] != "repeat" and len(value_at(data, path[:3])) > 1:
                yield with_schema(project, project.change(file, drop(project.data(file), path), *gate))
            new = misspell(str(path[-1]), chance)
            yield project.change(file, rename(project.data(file), path, new), *gate, (*path[:3], new))
            if path[-1] != "closing" and "target" in value_at(data, path):
                yield project.change(file, put(project.data(file), (*path, "target"), None), path)


def neighbours(project: Project, _chance: Random) -> Iterator[Change]:
    """Give a step the output schema of another kind of step."""
    for file in registries(project):
        data = project.data(file)
        steps = [key for key, step in data["steps"].items() if "structuredGate" in step and "outputSchemaRef" in step]
        for key in steps:
            for other in steps:
                mine, its = data["steps"][key], data["steps"][other]
                if set(mine["structuredGate"]["allowedIntents"]) != set(its["structuredGate"]["allowedIntents"]):
                    path = ("steps", key, "outputSchemaRef")
                    yield project.change(file, put(project.data(file), path, its["outputSchemaRef"]), path)


def steps(project: Project, chance: Random) -> Iterator[Change]:
    """Delete a step that others lead to, and misspell its key or its id."""
    for file in registries(project):
        data = project.data(file)
        named = {value_at(data, path) for pattern in TARGETS for path in reach(data, *pattern)}
        for key in [key for key in data["steps"] if key in named]:
            path = ("steps", key)
            yield project.change(file, drop(project.data(file), path), path, words=(key,))
            new = misspell(key, chance)
            yield project.change(file, rename(project.data(file), path, new), ("steps", new), words=(key, new))
            yield project.change(file, put(project.data(file), (*path, "stepId"), new), path, words=(key, new))


def kinds(project: Project, chance: Random) -> Iterator[Change]:
    """Give a step a kind that does not go with what it does."""
    for file in registries(project):
        data = project.data(file)
        for path in reach(data, *STEP, "stepKind"):
            kind = value_at(data, path)
            wrong = {"work": "closure", "closure": "work", "verification": "closure"}[kind]
            yield project.change(
                file,
                put(project.data(file), path, wrong),
                path,
                path[:2],
                (*path[:2], "structuredGate", "allowedIntents"),
                (*path[:2], "transitions"),
            )


def variables(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell a variable where a step declares it."""
    for file in agents(project) and registries(project):
        data = project.data(file)
        for path in reach(data, *STEP, "uvVariables", "*"):
            old = value_at(data, path)
            new = misspell(old, chance)
            yield project.change(
                file, put(project.data(file), path, new), path, words=(old, new, f"uv-{old}", f"uv-{new}")
            )


def prompt_variables(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell a variable in a prompt."""
    for file in step_prompts(project):
        text = project.files[file]
        at = [index for index in range(len(text)) if text.startswith("{uv-", index) and "}" in text[index:]]
        for index in at:
            name = text[index + 4 : text.index("}", index)]
            if name.replace("_", "").isalnum():
                new = misspell(name, chance)
                written = f"{text[: index + 4]}{new}{text[index + 4 + len(name) :]}"
                yield Change({file: written.encode()}, ((file, ()),), frozenset({name, new}))


def entered(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell the verdict type, where the agent names it and where the registry maps it."""
    for file in agents(project):
        path = ("runner", "verdict", "type")
        old = value_at(project.data(file), path)
        yield project.change(file, put(project.data(file), path, misspell(old, chance)), path, words=(old,))
    for file in registries(project):
        data = project.data(file)
        verdicts = {value_at(project.data(each), ("runner", "verdict", "type")) for each in agents(project)}
        for each in reach(data, "entryStepMapping", "*"):
            if each[-1] in verdicts and not data.get("entryStep"):
                yield project.change(
                    file,
                    rename(project.data(file), each, misspell(str(each[-1]), chance)),
                    each,
                    each[:1],
                    words=(each[-1],),
                )


def identities(project: Project, chance: Random) -> Iterator[Change]:
    """Let the agent and its registry name two agents."""
    for file in agents(project) and registries(project):
        old = project.data(file)["agentId"]
        yield project.change(
            file, put(project.data(file), ("agentId",), misspell(old, chance)), ("agentId",), words=(old,)
        )


OPERATORS: dict[str, Operator] = {
    "registry: key misspelt": keys(registries, KNOWN, spelt),
    "registry: key in another case": keys(registries, KNOWN, cased),
    "registry: key left out": removals(registries, REQUIRED),
    "registry: text mistyped": mistyped(
        registries,
        (
            *((*STEP, name) for name in ("stepId", "c2", "c3", "edition")),
            (*OUTPUT, "file"),
            (*GATE, "intentField"),
            ("agentId",),
            (*VALIDATOR, "command"),
        ),
        "string",
    ),
    "registry: object mistyped": mistyped(
        registries,
        (
            ("steps",),
            ("validators",),
            ("entryStepMapping",),
            STEP,
            GATE,
            (*STEP, "transitions"),
            MOVE,
            OUTPUT,
            VALIDATOR,
            GUARD,
        ),
        "object",
    ),
    "registry: list mistyped": mistyped(
        registries,
        ((*STEP, "uvVariables"), (*GATE, "allowedIntents"), (*GATE, "handoffFields"), (*GUARD, "validationConditions")),
        "array",
    ),
    "registry: number out of range": numbers(registries, ((*GUARD, "onFailure", "maxAttempts"),), 0, -1, 1.5),
    "registry: target misspelt": strings(registries, TARGETS, spelt),
    "registry: target in another case": strings(registries, TARGETS, cased),
    "registry: validator misspelt": strings(registries, ((*GUARD, "validationConditions", "*", "validator"),), spelt),
    "registry: failure pattern misspelt": strings(registries, ((*VALIDATOR, "failurePattern"),), spelt),
    "registry: declared validator misspelt": keys(registries, (VALIDATOR, PATTERN), spelt),
    "registry: guarded step misspelt": keys(registries, (GUARD,), spelt),
    "registry: schema file misspelt": strings(registries, ((*OUTPUT, "file"),), spelt),
    "registry: schema name misspelt": strings(registries, ((*OUTPUT, "schema"),), spelt),
    "registry: gate path misspelt": parts(
        registries, ((*GATE, "intentField"), (*GATE, "handoffFields", "*"), (*GATE, "targetField")), "."
    ),
    "registry: intent pointer misspelt": parts(registries, ((*GATE, "intentSchemaRef"),), "/"),
    "registry: coordinate misspelt": strings(
        registries, (("c1",), (*STEP, "c2"), (*STEP, "c3"), (*STEP, "edition"), (*GUARD, "c2"), (*GUARD, "c3")), spelt
    ),
    "registry: type or kind misspelt": strings(
        registries, ((*STEP, "stepKind"), (*STEP, "type"), (*VALIDATOR, "type"), (*GUARD, "onFailure", "action")), spelt
    ),
    "registry: input misspelt": parts(registries, ((*STEP, "inputs", "*", "from"),), "."),
    "registry: other intents": intents,
    "registry: other transitions": transitions,
    "registry: neighbour's schema": neighbours,
    "registry: step lost": steps,
    "registry: other kind": kinds,
    "registry: variable misspelt": variables,
    "registry: variable misspelt in a prompt": prompt_variables,
    "registry: two agents": identities,
    "agent: verdict misspelt": entered,
    "agent: key misspelt": keys(agents, AGENT_REQUIRED, spelt),
    "agent: key left out": removals(agents, AGENT_REQUIRED),
    "agent: text mistyped": mistyped(
        agents,
        (
            ("name",),
            ("runner", "verdict", "type"),
            ("runner", "flow", "systemPromptPath"),
            ("parameters", "*", "type"),
            ("parameters", "*", "cli"),
        ),
        "string",
    ),
    "agent: number out of range": numbers(agents, (("runner", "verdict", "config", "maxIterations"),), 0, -3, "5"),
    "agent: type misspelt": strings(
        agents,
        (
            ("parameters", "*", "type"),
            ("runner", "flow", "systemPromptPath"),
            ("runner", "boundaries", "permissionMode"),
            ("runner", "flow", "prompts", "registry"),
        ),
        spelt,
    ),
    "registry: file lost": lost_files(lambda project: (*used_schemas(project), *step_prompts(project))),
    "registry: file misnamed": moved_files(lambda project: (*used_schemas(project), *step_prompts(project))),
}
