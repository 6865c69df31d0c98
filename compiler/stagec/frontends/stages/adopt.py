"""Make a stage definition of an agent file written for another program: `name`, `description`, `tools`, `model`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.value import value
from stagec.frontends.stages.document import MEMBERS
from stagec.frontends.stages.template import escape
from stagec.sources.tree import Tree
from stagec.sources.yaml_text.edit import write_value
from stagec.templates import render

TOOLS = ("tools", "allowed-tools", "allowedTools")
"""The keys under which agent files list their tools."""
DROPPED = ("model", "provider")
"""Keys that a stage cannot have a say in."""
_KINDS = (".agent", ".prompt", ".chatmode", ".instructions")
_LONGEST = 80
"""Characters of an id; it also names a file."""
_TOOL = re.compile(r"(?:[^,()]|\([^()]*\))+")
_LIMITED = re.compile(r"\(.*\)\s*\Z", re.DOTALL)


@value
class Adopted:
    """A stage definition: its id, its text, the tools it allows, and what its author should know of how it was made.

    `dropped` are keys that were left out. `limited` are tools that the agent file allows for some arguments only, which
    a stage cannot say; `has_tools` tells whether it lists tools at all, `is_escaped` that its prompt has braces that
    were escaped, so that they stay as they are.
    """

    id: str
    text: str
    tools: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    has_tools: bool = True
    is_escaped: bool = False


def adopt(tree: Tree) -> Adopted:
    """Return a stage definition made of a Markdown file; `tree` has a mapping as its frontmatter, or none at all."""
    given = object_of(tree.value)
    text = tree.data.decode(errors="replace")
    prompt = text[slice(*tree.body)].strip() if tree.body is not None else ""
    listed = list_tools(given)
    stem = _stem(tree.file)
    name = text_in(given, "name") or stem
    identity = make_id(name) or make_id(stem) or "stage"
    tools = tuple(dict.fromkeys(_LIMITED.sub("", each) for each in listed))
    return Adopted(
        id=identity,
        text=_stage(given, identity, name, tools, escape(prompt)),
        tools=tools,
        dropped=tuple(key for key in DROPPED if key in given),
        limited=tuple(each for each in listed if _LIMITED.search(each)),
        has_tools=any(key in given for key in TOOLS),
        is_escaped="{{" in prompt,
    )


def list_tools(given: Object) -> list[str]:
    """Return the tools that a frontmatter lists, as it writes them."""
    return [each.strip() for key in TOOLS for each in _tools(given.get(key))]


def _stage(given: Object, identity: str, name: str, tools: tuple[str, ...], prompt: str) -> str:
    """Return the text of a stage definition; all values are YAML already but the prompt."""
    known = {*MEMBERS, *TOOLS, *DROPPED}  # a stage carries other members along unread
    return render(
        __package__,
        "stage.md.jinja",
        id=identity,
        name=write_value(name),
        has_description="description" in given,
        description=write_value(given.get("description")),
        has_tools=any(key in given for key in TOOLS),
        tools=[write_value(each) for each in tools],
        completion_tool=f"submit_{identity.replace('-', '_')}",
        metadata=[(write_value(key), write_value(each)) for key, each in given.items() if key not in known],
        prompt=prompt,
    )


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


def make_id(name: str) -> str:
    """Return the id of a stage for a name: words in lower case, joined by hyphens; nothing if it has none."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[^a-z0-9]+", "-", apart.lower()).strip("-")[:_LONGEST].strip("-")
