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
from stagec.templates import render

TOOLS = ("tools", "allowed-tools", "allowedTools")
"""The keys under which agent files list their tools."""
DROPPED = ("model", "provider")
"""Keys that a stage cannot have a say in."""
_KINDS = (".agent", ".prompt", ".chatmode", ".instructions")
_TOOL = re.compile(r"(?:[^,()]|\([^()]*\))+")
_LIMITED = re.compile(r"\(.*\)\s*\Z", re.DOTALL)


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
    tools = [each.strip() for key in TOOLS for each in _tools(given.get(key))]
    return Adopted(
        text=_stage(given, _stem(tree.file), tools, prompt),
        dropped=tuple(key for key in DROPPED if key in given),
        limited=tuple(each for each in tools if _LIMITED.search(each)),
        has_tools=any(key in given for key in TOOLS),
        is_open="{{" in prompt,
    )


def _stage(given: Object, stem: str, tools: list[str], prompt: str) -> str:
    """Return the text of a stage definition; all values are YAML already but the prompt."""
    name = text_in(given, "name") or stem
    identity = _kebab(name) or _kebab(stem) or "stage"
    return render(
        __package__,
        "stage.md.jinja",
        id=identity,
        name=write_value(name),
        has_description="description" in given,
        description=write_value(given.get("description")),
        has_tools=any(key in given for key in TOOLS),
        tools=[write_value(each) for each in dict.fromkeys(_LIMITED.sub("", each) for each in tools)],
        completion_tool=f"submit_{identity.replace('-', '_')}",
        metadata=tuple(_metadata(given)),
        prompt=prompt,
    )


def _metadata(given: Object) -> Iterator[tuple[str, str]]:
    """Yield the members that a stage carries along unread."""
    for key, each in given.items():
        if key not in {*MEMBERS, *TOOLS, *DROPPED}:
            yield write_value(key), write_value(each)


def _tools(given: Json) -> Iterator[str]:
    """Yield the tools of a list, or of a text with commas in which a tool may have arguments in parentheses."""
    if isinstance(given, str):
        yield from (each for each in _TOOL.findall(given) if each.strip())
    for each in given if isinstance(given, list) else ():
        if isinstance(each, str) and each.strip():
            yield each


def _stem(file: str) -> str:
    stem = posixpath.splitext(posixpath.basename(file))[0]
    if stem == "SKILL":
        stem = posixpath.basename(posixpath.dirname(file)) or stem
    return next((stem.removesuffix(kind) for kind in _KINDS if stem.endswith(kind)), stem)


def _kebab(name: str) -> str:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[^a-z0-9]+", "-", apart.lower()).strip("-")
