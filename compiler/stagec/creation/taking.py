"""Take over what an agent file says into a stage, and remember all that a stage has nothing for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stagec.core.json import Json, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.creation.adopted import Adopted, Handoff, Mentioned, escape_prompt
from stagec.creation.collected import AgentText
from stagec.creation.new_project import Loss
from stagec.creation.tool_names import Chosen
from stagec.frontends.stages.document import MEMBERS

_NOTHING_READS = "is metadata of the stage, which nothing reads"
_OWN_MODEL = "is left out: a stage runs with the model of its session"
_GUARD = "hooks do not run in stages: a guard that refuses calls of tools is lost"
_PARALLEL = (
    "is left out: with 'execution: parallel' several stages run at the same time, and then they should only read"
)
_DROPPED: Mapping[str, str] = {
    **dict.fromkeys(("model", "models", "provider", "modelPolicy", "reasoningEffort"), _OWN_MODEL),
    **dict.fromkeys(("background", "isolation"), _PARALLEL),
    "hooks": _GUARD,
    "skills": "is left out: a stage loads no skills; put what it needs into its prompt",
}
"""Keys that a stage does not carry along, and what their loss means."""
_KEPT: Mapping[str, str] = dict.fromkeys(("effort", "temperature", "top_p", "memory", "initialPrompt"), _NOTHING_READS)
"""Keys with a meaning elsewhere that a stage carries along as metadata."""
_IDENTITY = ("name", "description")
_UNREADABLE = "cannot be read, also by its own tool: the stage has only the prompt; 'stagec validate' says why"
_TURNS = ("maxTurns", "maxSteps", "steps")


@value
class Kept:
    """What a reader of one kind of files has found, and the keys that it has dealt with."""

    chosen: Chosen = Chosen()
    key: str = "tools"
    prompt: str = ""
    reads: tuple[str, ...] = ()
    handoffs: tuple[Handoff, ...] = ()
    mentions: tuple[Mentioned, ...] = ()
    servers: Mapping[str, Json] = NOTHING
    losses: tuple[Loss, ...] = ()
    done: tuple[str, ...] = ()
    undecided: str = ""

    def explain_open(self, given: AgentText) -> str:
        """Return why the author must choose the tools, nothing where the file does."""
        if self.undecided or self.chosen.has_all:
            return self.undecided or "the tools it may call; the file allows all of them, and a stage lists each"
        if self.key in given.members:
            return ""
        return "the tools it may call; the file names none, which elsewhere allows all of them"


def lose(given: AgentText, key: str, why: str) -> Loss:
    """Return what is lost under a key of the frontmatter."""
    return Loss(given.file, given.find_line(key), key, why)


def take_over(given: AgentText, kept: Kept) -> Adopted:
    """Return the stage of an agent file; keys that nobody has dealt with are its metadata."""
    members = given.members
    losses = [*kept.losses, *(lose(given, kept.key, each) for each in kept.chosen.losses)]
    losses += [Loss(given.file, 1, "frontmatter", _UNREADABLE)] if given.is_lost else []
    losses += [lose(given, key, why) for key, why in _LOST.items() if key in members]
    similar = {key for key in members if key not in MEMBERS and key not in kept.done and _STAGE_KEYS.nearest(key)}
    losses += [lose(given, key, "is left out: it is spelt much like a key of stages") for key in similar]
    counts = (members.get(key) for key in _TURNS)
    turns = next((each for each in counts if isinstance(each, int) and each is not True and each > 0), None)
    done = {*similar, *_IDENTITY, *_TURNS, *_DROPPED, *_TAKEN, *kept.done, kept.key}
    rest = {key: each for key, each in members.items() if key not in {*done, SERVERS_OF}}
    return Adopted(
        name=text_in(members, "name") or given.called,
        tools=kept.chosen.tools,
        undecided=kept.explain_open(given),
        prompt=kept.prompt or escape_prompt(given.body),
        turns=turns,
        description=members.get("description"),
        members=rest | ({SERVERS_OF: dict(kept.chosen.of_servers)} if kept.chosen.of_servers else {}),
        servers=kept.servers,
        found_tools=kept.chosen.of_servers,
        reads=kept.reads,
        handoffs=kept.handoffs,
        mentions=kept.mentions,
        losses=(*losses, *_list_unread(given)),
    )


_TAKEN = frozenset(MEMBERS) - set(_IDENTITY)
_STAGE_KEYS = NameIndex((*MEMBERS, "next", "checks", "gate"))
SERVERS_OF = "mcpTools"
"""The metadata of a stage that has the server of each tool that is one of a server: `stagec export` needs it."""
_LOST = {**_DROPPED, **_KEPT, **dict.fromkeys(sorted(_TAKEN), "means something else in a stage")}
"""Keys whose loss has to be told."""


_SERVER = ("command", "args", "env", "cwd", "url", "headers")
"""What a catalogue says of a server."""


def list_servers(given: Json) -> Mapping[str, Json]:
    """Return the definitions of MCP servers in a map or a list of maps and names, as a catalogue has them."""
    every = [object_of(each) for each in given] if isinstance(given, list) else [object_of(given)]
    found = {name: object_of(each) for one in every for name, each in one.items()}
    return {
        name: {key: said for key, said in each.items() if key in _SERVER}
        for name, each in found.items()
        if isinstance(each.get("command", each.get("url")), str)
    }


_UNREAD = (
    (re.compile(r"!`[^`\n]+`"), "is text for the model: no command runs before the prompt is read"),
    (re.compile(r"#tool:[\w./-]+"), "is text for the model: it names no tool of the stage"),
    (
        re.compile(r"(?<![\w`@./])@(?!agent-)[\w-]*[/.]{1,9}\w[\w/.-]{0,200}"),
        "is text for the model: no file is put in its place",
    ),
)
_LONGEST_QUOTE = 60


def _list_unread(given: AgentText) -> Iterator[Loss]:
    """Yield what its tool would put something else in place of, or what a stage would: the first of each kind."""
    body = given.body
    braces = body.find("{{")
    if braces >= 0:
        line = given.count_lines(given.start + braces)
        yield Loss(given.file, line, "body", "each '{{' became an escape, so that the model reads it as it was")
    for pattern, why in _UNREAD:
        found = pattern.search(body)
        if found is not None:
            line = given.count_lines(given.start + found.start())
            yield Loss(given.file, line, "body", f"{quote(found[0][:_LONGEST_QUOTE])} {why}")
