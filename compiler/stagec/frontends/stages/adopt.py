"""Make a stage definition of an agent file written for another program: `name`, `description`, `tools`, `model`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.value import value
from stagec.frontends.stages.document import MEMBERS
from stagec.sources.tree import Tree
from stagec.sources.yaml_text.edit import write_value

TOOLS = ("tools", "allowed-tools", "allowedTools")
"""The keys under which agent files list their tools."""
DROPPED = ("model", "provider")
"""Keys that a stage cannot have a say in."""
_KINDS = (".agent", ".prompt", ".chatmode", ".instructions")
_TOOL = re.compile(r"(?:[^,()]|\([^()]*\))+")
_LIMITED = re.compile(r"\(.*\)\s*\Z", re.DOTALL)
_DECIDE = "# yours to decide: "


@value
class Adopted:
    """The text of a stage definition, and what its author should know: keys that were left out, tools that had limits.

    `limited` are tools that the agent file allows for some arguments only, which a stage cannot say; `has_tools` tells
    whether it lists tools at all, `is_open` that its prompt has braces that a stage takes for placeholders.
    """

    text: str
    dropped: tuple[str, ...]
    limited: tuple[str, ...]
    has_tools: bool
    is_open: bool


def adopt(tree: Tree) -> Adopted:
    """Return a stage definition made of a Markdown file; `tree` has a mapping as its frontmatter, or none at all."""
    given = object_of(tree.value)
    text = tree.data.decode(errors="replace")
    prompt = text[slice(*tree.body)].strip() if tree.body is not None else ""
    stem = _stem(tree.file)
    name = text_in(given, "name") or stem
    identity = _kebab(name) or _kebab(stem) or "stage"
    tools = [each.strip() for key in TOOLS for each in _tools(given.get(key))]
    ending = "" if f"submit_{_snake(identity)}" in prompt else f"\n{_ending(identity)}\n"
    return Adopted(
        text=f"---\n{_frontmatter(given, identity, name, tools)}---\n\n{prompt}\n{ending}",
        dropped=tuple(key for key in DROPPED if key in given),
        limited=tuple(each for each in tools if _LIMITED.search(each)),
        has_tools=any(key in given for key in TOOLS),
        is_open="{{" in prompt,
    )


def _frontmatter(given: Object, identity: str, name: str, tools: list[str]) -> str:
    allowed = list(dict.fromkeys(_LIMITED.sub("", each) for each in tools))
    unknown = "" if any(key in given for key in TOOLS) else f" {_DECIDE}the tools it may call; the file named none"
    lines = [f"id: {identity}", f"name: {write_value(name)}"]
    if "description" in given:
        lines.append(f"description: {write_value(given['description'])}")
    lines += [
        f"allowedTools: [{', '.join(write_value(each) for each in allowed)}]{unknown}",
        f"completionTool: submit_{_snake(identity)}",
        f"completionSchema: {_DECIDE}what the stage hands in",
        "  type: object",
        "  required: [summary]",
        "  properties:",
        "    summary: {type: string}",
        "  additionalProperties: false",
        f"retryPolicy: {{maxAttempts: 1, backoff: none}} {_DECIDE}how often it may try",
        f"turnCap: 20 {_DECIDE}the most turns of one attempt",
        f"resolutionPolicy: fail {_DECIDE}what to do when its gate defers or blocks it",
    ]
    return "".join(f"{line}\n" for line in (*lines, *_metadata(given)))


def _metadata(given: Object) -> Iterator[str]:
    """Yield the members that a stage carries along unread."""
    for key, each in given.items():
        if key not in {*MEMBERS, *TOOLS, *DROPPED}:
            yield f"{write_value(key)}: {write_value(each)}"


def _tools(given: Json) -> Iterator[str]:
    """Yield the tools of a list, or of a text with commas in which a tool may have arguments in parentheses."""
    if isinstance(given, str):
        yield from (each for each in _TOOL.findall(given) if each.strip())
    for each in given if isinstance(given, list) else ():
        if isinstance(each, str) and each.strip():
            yield each


def _ending(identity: str) -> str:
    tool = f"submit_{_snake(identity)}"
    return f"When you are done, call `{tool}` with:\n\n- `summary`: what you did and found, in one paragraph."


def _stem(file: str) -> str:
    stem = posixpath.splitext(posixpath.basename(file))[0]
    if stem == "SKILL":
        stem = posixpath.basename(posixpath.dirname(file)) or stem
    return next((stem.removesuffix(kind) for kind in _KINDS if stem.endswith(kind)), stem)


def _kebab(name: str) -> str:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[^a-z0-9]+", "-", apart.lower()).strip("-")


def _snake(identity: str) -> str:
    return identity.replace("-", "_")
