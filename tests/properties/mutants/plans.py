"""Operators on stage plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from properties.mutants.projects import Change, Pointer, Project, drop, put, value_at, walk
from properties.mutants.slips import Operator, keys, mistyped, numbers, places, removals, spelt
from properties.mutants.words import misspell

STAGE = ("stages", "*")
MEMBERS = ("stageId", "goal", "inputs", "outputs", "maxDurationSec", "dependencies", "retryable", "checkpointAfter")


def plans(project: Project) -> tuple[str, ...]:
    return tuple(project.named("plan.yaml"))


def _call_everywhere(data: Any, old: str, new: str) -> Any:
    """Return a plan in which a stage has another id, wherever it is named."""
    for path, found in list(walk(data)):
        if isinstance(found, str) and (found == old or found.startswith(f"{old}/")):
            put(data, path, f"{new}{found.removeprefix(old)}")
    return data


def renamed(*spellings: Callable[[str, str, str], str]) -> Operator:
    """Return the operator that writes ids in another form, also where they are named."""

    def change(project: Project, _chance: Random) -> Iterator[Change]:
        for file, path in places(project, plans, ((*STAGE, "stageId"),)):
            old = value_at(project.data(file), path)
            number, verb, noun = old.split("_", 2)
            for spell in spellings:
                new = spell(number, verb, noun)
                yield project.change(file, _call_everywhere(project.data(file), old, new), path, words=(new,))

    return change


def misspelt_ids(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell the id of a stage that others name, or take that of the stage before."""
    for file, path in places(project, plans, ((*STAGE, "stageId"),)):
        data = project.data(file)
        old = value_at(data, path)
        if any(old in stage["dependencies"] for stage in data["stages"]):
            new = misspell(old, chance)
            yield project.change(file, put(project.data(file), path, new), path, words=(old, new))
        if path[1]:
            before = data["stages"][path[1] - 1]["stageId"]
            yield project.change(file, put(project.data(file), path, before), path, words=(before,))


def dependencies(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell a dependency, shorten it, write it twice, leave it out, or name the stage itself."""
    for file, path in places(project, plans, ((*STAGE, "dependencies", "*"),)):
        data = project.data(file)
        name, listed, stage = value_at(data, path), value_at(data, path[:-1]), value_at(data, path[:2])
        for new in misspell(name, chance), name[:3]:
            yield project.change(file, put(project.data(file), path, new), path, words=(new,))
        yield project.change(file, put(project.data(file), path[:-1], [*listed, name]), path[:-1])
        yield project.change(file, put(project.data(file), path[:-1], [*listed, stage["stageId"]]), path[:-1])
        others = [each for each in listed if each != name]
        is_read = any(each.startswith(f"{name}/") for each in stage["inputs"].values())
        if is_read and not any(_precedes(data, name, each) for each in others):
            yield project.change(file, drop(project.data(file), path), (*path[:2], "inputs"), words=(name,))


def _precedes(data: Any, name: str, stage: str) -> bool:
    """Tell whether a stage waits for another, directly or not."""
    needs = {each["stageId"]: each["dependencies"] for each in data["stages"]}
    waiting = [stage]
    for each in waiting:  # grows while it is read
        waiting.extend(need for need in needs[each] if need not in waiting)
    return name in waiting


def cycles(project: Project, _chance: Random) -> Iterator[Change]:
    """Let a stage depend on one that depends on it."""
    for file, path in places(project, plans, ((*STAGE, "dependencies", "*"),)):
        data = project.data(file)
        index = next(at for at, each in enumerate(data["stages"]) if each["stageId"] == value_at(data, path))
        later, at = data["stages"][path[1]]["stageId"], ("stages", index, "dependencies")
        changed = put(project.data(file), at, [*data["stages"][index]["dependencies"], later])
        yield project.change(file, changed, at, words=(later,))


def lost_dependencies(project: Project, _chance: Random) -> Iterator[Change]:
    """Leave out all that a stage depends on."""
    for file, path in places(project, plans, ((*STAGE, "dependencies"),)):
        if value_at(project.data(file), path):
            yield project.change(file, put(project.data(file), path, []), (*path[:2], "inputs"))


def inputs(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell the stage or the file of an input, leave the stage out, or read the own output."""
    for file, path in places(project, plans, ((*STAGE, "inputs", "*"),)):
        data = project.data(file)
        stage, slash, name = value_at(data, path).partition("/")
        if not slash or not stage.startswith("S0"):
            continue
        own = data["stages"][path[1]]
        made = next(iter(own["outputs"].values()))
        news = (
            f"{misspell(stage, chance)}/{name}",
            f"{stage}/{misspell(name, chance)}",
            name,
            f"{own['stageId']}/{made}",
        )
        for new in news:
            yield project.change(file, put(project.data(file), path, new), path)


WRONG_PATHS = (
    "/data/{path}",
    "../{path}",
    "a/./{path}",
    "C:\\{path}",
    "{path}.",
    "nul.txt",
    "",
    "{path}\u200b",
    "plots/",
    "what?.csv",
    "{path}",
    "{path}/more.csv",
    "{upper}",
    "{own}/more.csv",
    "{other}/more.csv",
    "rows.parquet",
    "notes.md",
)
"""Paths of one more output, after the example of another one."""


def outputs(project: Project, _chance: Random) -> Iterator[Change]:
    """Add an output with a wrong path."""
    for file, path in places(project, plans, (STAGE,)):
        data = project.data(file)
        stage, other = value_at(data, path), data["stages"][path[1] - 1]["stageId"]
        first = next(iter(stage["outputs"].values()))
        for pattern in WRONG_PATHS:
            new = pattern.format(path=first, upper=first.upper(), own=stage["stageId"], other=other)
            at = (*path, "outputs", "more")
            yield project.change(file, put(project.data(file), at, new), at)


def goals(project: Project, _chance: Random) -> Iterator[Change]:
    for file, path in places(project, plans, ((*STAGE, "goal"),)):
        for new in ("Short", "x" * 201, " " * 40):
            yield project.change(file, put(project.data(file), path, new), path)


def effects(project: Project, _chance: Random) -> Iterator[Change]:
    """Let a stage with a side effect run again, or leave no checkpoint; lose much work at once."""
    for file, path in places(project, plans, (STAGE,)):
        stage = value_at(project.data(file), path)
        if not stage["retryable"]:
            for name, new in (("retryable", True), ("checkpointAfter", False)):
                yield project.change(
                    file, put(project.data(file), (*path, name), new), (*path, name), (*path, "stageId")
                )
        elif any(stage["stageId"] in each["dependencies"] for each in project.data(file)["stages"]):
            data = put(project.data(file), (*path, "checkpointAfter"), False)
            yield project.change(file, put(data, (*path, "maxDurationSec"), 230), (*path, "checkpointAfter"))


def commands(project: Project, _chance: Random) -> Iterator[Change]:
    """Write a command as a text, as nothing, or with something that is no text."""
    for file, path in places(project, plans, ((*STAGE, "run"),)):
        words = value_at(project.data(file), path)
        for new in (" ".join(words), [], [*words, 7]):
            yield project.change(file, put(project.data(file), path, new), path)


def run_names(project: Project, _chance: Random) -> Iterator[Change]:
    for file in plans(project):
        pairs: tuple[tuple[str, Any], ...] = (
            ("reportTitle", "Wine Quality"),
            ("reportTitle", "wine/quality"),
            ("reportTitle", 7),
            ("runId", "checkpoints"),
            ("runId", "run 1"),
            ("maxParallel", 0),
            ("maxParallel", "many"),
        )
        for name, new in pairs:
            yield project.change(file, put(project.data(file), (name,), new), (name,))


def _every(name: str) -> tuple[Pointer, ...]:
    return ((*STAGE, name),)


OPERATORS: dict[str, Operator] = {
    "id in another form": renamed(
        lambda number, verb, noun: f"{number}-{verb}-{noun}",
        lambda number, verb, noun: f"{number}_{verb.title()}{noun.title()}",
        lambda number, verb, noun: f"S{number[2:]}_{verb}_{noun}",
        lambda number, verb, noun: f"stage{number[1:]}_{verb}_{noun}",
    ),
    "id with a wrong number": renamed(lambda _, verb, noun: f"S00_{verb}_{noun}"),
    "id without a verb": renamed(lambda number, _, noun: f"{number}_{noun}"),
    "id without a noun": renamed(lambda number, verb, _: f"{number}_{'tune' if verb == 'notify' else verb}"),
    "id with a digit": renamed(lambda number, verb, noun: f"{number}_{verb}_{noun}2"),
    "id with a stray underscore": renamed(lambda number, verb, noun: f"{number}_{verb}__{noun}"),
    "id that says nothing": renamed(
        lambda number, _verb, _noun: f"{number}_do_stuff", lambda number, _, noun: f"{number}_handle_{noun}"
    ),
    "id with an unknown verb": renamed(lambda number, _, noun: f"{number}_prepare_{noun}"),
    "misspelt id": misspelt_ids,
    "wrong dependency": dependencies,
    "cycle": cycles,
    "lost dependencies": lost_dependencies,
    "wrong input": inputs,
    "wrong output": outputs,
    "wrong goal": goals,
    "wrong duration": numbers(plans, _every("maxDurationSec"), 0, 29, 300, 500, 580, 601),
    "wrong effect": effects,
    "wrong command": commands,
    "wrong name of a run": run_names,
    "lost member": removals(plans, tuple((*STAGE, name) for name in MEMBERS[:5])),
    "misspelt member": keys(plans, tuple((*STAGE, name) for name in MEMBERS), spelt),
    "mistyped text": mistyped(plans, (*_every("stageId"), *_every("goal")), "string"),
    "mistyped object": mistyped(plans, (*_every("inputs"), *_every("outputs")), "object"),
    "mistyped path": mistyped(plans, ((*STAGE, "inputs", "*"), (*STAGE, "outputs", "*")), "string"),
    "mistyped number": mistyped(plans, _every("maxDurationSec"), "number"),
    "mistyped list": mistyped(plans, _every("dependencies"), "array"),
    "mistyped dependency": mistyped(plans, ((*STAGE, "dependencies", "*"),), "string"),
    "mistyped choice": mistyped(plans, (*_every("retryable"), *_every("checkpointAfter")), "boolean"),
}
