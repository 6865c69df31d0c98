"""What a stage is made of that was an agent file, and its text."""

from __future__ import annotations

import re

from stagec.core.json import Json, Object
from stagec.core.value import NOTHING, value
from stagec.creation.new_project import Loss
from stagec.frontends.stages.template import escape
from stagec.sources.yaml_text.edit import write_value
from stagec.templates import render


@value
class Handoff:
    """A stage that surely comes next: the name by which the file mentions it, what it says of that, and the line."""

    target: str
    label: str
    line: int


@value
class Mentioned:
    """Another agent that a file seems to call, without saying so in a way that counts: its name, the text, the line."""

    target: str
    excerpt: str
    line: int


@value
class Adopted:
    """A stage that is made of one agent file.

    `tools` are those it allows; `undecided` says why its author must choose them, where the file does not. `turns` is
    None where the file does not limit them. `members` is what it carries along as metadata, `servers` the definitions
    of MCP servers in it, `named_servers` the servers whose tools it allows. `reads` are names of the context that its
    prompt reads. `losses` is all that the file says and the stage does not. `text` is a stage definition that is
    taken as it is.
    """

    name: str
    tools: tuple[str, ...] = ()
    undecided: str = ""
    prompt: str = ""
    turns: int | None = None
    description: Json = None
    members: Object = NOTHING
    servers: Object = NOTHING
    found_tools: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
    handoffs: tuple[Handoff, ...] = ()
    mentions: tuple[Mentioned, ...] = ()
    losses: tuple[Loss, ...] = ()
    text: str | None = None


def write_stage(adopted: Adopted, identity: str, choices: tuple[str, ...] = ()) -> str:
    """Return the text of a stage definition; `choices` are the values among which its result tells what comes next."""
    if adopted.text is not None:
        return adopted.text
    completion = f"submit_{identity.replace('-', '_')}"
    return render(
        __package__,
        "stage.md.jinja",
        id=identity,
        name=write_value(adopted.name),
        has_description=adopted.description is not None,
        description=write_value(adopted.description),
        undecided=adopted.undecided,
        tools=[write_value(each) for each in adopted.tools],
        completion_tool=completion,
        choices=[write_value(each) for each in choices],
        turns=adopted.turns or 20,
        has_turns=adopted.turns is not None,
        metadata=[(write_value(key), write_value(each)) for key, each in adopted.members.items()],
        prompt=adopted.prompt,
    )


RESULT = frozenset({"summary", "handoff"})
"""The members of a result that `stage.md.jinja` asks for."""


def find_hint(prompt: str, completion: str) -> re.Match[str] | None:
    """Return the end of a prompt if it is the one that `stage.md.jinja` adds."""
    wanted = rf"When you are done, call `{re.escape(completion)}` with:\n\n- `summary`: what you did[^\n]*"
    return re.search(rf"(?:(?<=\n\n)|\A){wanted}(?:\n- `handoff`: what comes next[^\n]*)?\Z", prompt)


def escape_prompt(text: str) -> str:
    """Return the body of an agent file as a prompt that a model reads as it was."""
    return escape(text.strip())
