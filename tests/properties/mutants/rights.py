"""Operators on what nodes may do: each gives a right too many, or loosens what keeps one in."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from properties.mutants.projects import AGENT, REGISTRY, Change, Project


def sending(project: Project, _chance: Random) -> Iterator[Change]:
    """Let a stage send that comes after those that read private data and untrusted text."""
    for file in project.stages:
        if file.endswith(("answer.md", "look-up.md")):
            yield _allow(project, file, "mcp__slack__post_message")


def silent_tools(project: Project, chance: Random) -> Iterator[Change]:
    """Allow a tool that changes something, and say nothing of it."""
    for file in project.stages:
        yield _allow(project, file, chance.choice(("mcp__memory__delete_entities", "mcp__filesystem__move_file")))


def loose_modes(project: Project, chance: Random) -> Iterator[Change]:
    """Let a step ask that has another one after it, which does not."""
    for file in project.named(REGISTRY):
        data = project.data(file)
        steps = [key for key, step in data["steps"].items() if "next" in step.get("transitions", {})]
        later = {key: data["steps"][key]["transitions"]["next"].get("target") for key in steps}
        for key, target in later.items():
            if target in data["steps"] and target != key:
                changed = project.data(file)
                changed["steps"][key]["permissionMode"] = "default"
                changed["steps"][target]["permissionMode"] = chance.choice(("bypassPermissions", "acceptEdits"))
                place = (file, ("steps", target, "permissionMode"))
                yield Change({file: project.write(file, changed)}, (place,))


def open_shells(project: Project, _chance: Random) -> Iterator[Change]:
    """Put a text into a program of a shell that closes a step."""
    (agent,) = project.named(AGENT)
    definition = project.data(agent)
    definition["parameters"]["issue"]["type"] = "string"
    for file in project.named(REGISTRY):
        for key, step in project.data(file)["steps"].items():
            if step.get("stepKind") == "closure":
                changed = project.data(file)
                changed["steps"][key]["runner"] = {"command": "bash", "args": ["-c", "gh issue close ${context.issue}"]}
                files = {file: project.write(file, changed), agent: project.write(agent, definition)}
                yield Change(files, ((file, ("steps", key, "runner", "args", 1)),))


def _allow(project: Project, file: str, tool: str) -> Change:
    """Declare a tool and allow it in a stage."""
    (catalogue,) = project.named("tools.yaml")
    data, tools = project.data(file), project.data(catalogue)
    data["allowedTools"] = [*data["allowedTools"], tool]
    tools["discovered"] = [*tools["discovered"], tool]
    files = {file: project.write(file, data), catalogue: project.write(catalogue, tools)}
    return Change(files, ((file, ("allowedTools", len(data["allowedTools"]) - 1)),))


OPERATORS = {
    "STG551": sending,
    "STG552": silent_tools,
    "STG553": loose_modes,
    "STG554": open_shells,
}
"""By the rule that tells what each does."""
