"""Turn the content of an agent file into a stage, and list the parts that a stage cannot express."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stagec.change.creation.collected import AgentText, Around
from stagec.change.creation.new_project import Loss
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.templates import render
from stagec.core.value import NOTHING, value
from stagec.core.words import listing, quote
from stagec.ir.catalogue import Effects, well_known_effects
from stagec.languages.stages.document import MEMBERS
from stagec.languages.stages.placeholder_errors import escape
from stagec.sources.yaml_text.members import write_value


@value
class Handoff:
    """A certain successor: the name by which the file mentions it, the condition in the file's words, and the line."""

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
    of MCP servers in it, `named_servers` the servers whose tools it allows. `policy` says which model it asks, and how.
    `reads` are names of the context that its prompt reads. `losses` is all that the file says and the stage does not.
    `text` is a stage definition that is taken as it is.
    """

    name: str
    tools: tuple[str, ...] = ()
    undecided: str = ""
    prompt: str = ""
    turns: int | None = None
    description: Json = None
    members: Object = NOTHING
    policy: Object = NOTHING
    servers: Object = NOTHING
    found_tools: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
    handoffs: tuple[Handoff, ...] = ()
    mentions: tuple[Mentioned, ...] = ()
    losses: tuple[Loss, ...] = ()
    text: str | None = None


def write_stage(adopted: Adopted, identity: str, choices: tuple[str, ...] = ()) -> str:
    """Return the text of a stage definition; `choices` are the values of its result that select the next stage."""
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
        policy=[(key, write_value(each)) for key, each in adopted.policy.items()],
        metadata=[(write_value(key), write_value(each)) for key, each in adopted.members.items()],
        prompt=adopted.prompt,
    )


RESULT = frozenset({"summary", "handoff"})
"""The members of a result that `stage.md.jinja` asks for."""


def find_hint(prompt: str, completion: str) -> re.Match[str] | None:
    """Return the end of a prompt if it is the one that `stage.md.jinja` adds."""
    found = _HINT.search(prompt)
    return found if found is not None and found["tool"] == completion else None


_HINT = re.compile(
    r"(?:(?<=\n\n)|\A)When you are done, call `(?P<tool>.+)` with:\n\n- `summary`: what you did[^\n]*"
    r"(?:\n- `handoff`: what comes next[^\n]*)?\Z"
)


def escape_prompt(text: str) -> str:
    """Return the body of an agent file as a prompt that a model reads as it was."""
    return escape(text.strip())


ALL = "*"
_ENTRY = re.compile(r"[^,\s()]+(?:\([^()]*\))?")
_LIMITED = re.compile(r"(?P<name>[^()]*)\((?P<limit>.*)\)", re.DOTALL)
_OF_SERVER = re.compile(r"mcp__(?P<server>.+?)(?:__(?P<tool>.+))?")
_CALLS = frozenset({"Agent", "Task", "custom-agent", "agent", "runSubagent"})
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")
_NO_NAME = re.compile(r"[^\w.-]")
COPILOT = {
    "read": "Read",
    "edit": "Edit",
    "execute": "Bash",
    "search": "Grep",
    "web": "WebFetch",
    "todo": "TodoWrite",
}
"""The meaning of Copilot's names for groups of tools."""


@value
class Chosen:
    """The tools of a stage, those of servers with their server, and the tools that were left out."""

    tools: tuple[str, ...] = ()
    of_servers: tuple[tuple[str, str], ...] = ()
    losses: tuple[str, ...] = ()
    has_all: bool = False

    def keep_reading(self) -> Chosen:
        """Return only those tools that surely do nothing but read."""
        tools = tuple(each for each in self.tools if well_known_effects(each) is Effects.READ)
        return Chosen(tools, (), self.losses)


class ToolChoice:
    """Takes names of tools one by one, and records which are kept and which are lost."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._tools: dict[str, None] = {}
        self._of_servers: dict[str, str] = {}
        self._lost: dict[str, list[str]] = {}
        self._has_all = False

    def take(self, name: str) -> None:
        """Allow a tool, unless the settings of the project deny it."""
        if name in self._around.denied:
            self.lose(name, "is denied by the settings of the project")
        elif name:
            self._tools[name] = None

    def take_all(self) -> None:
        """Remember that the file allows whatever there is."""
        self._has_all = True

    def find_server(self, name: str) -> tuple[str, str] | None:
        """Return the server and the tool that a name such as `mcp__docs__find` means; without a tool it means all."""
        for server in self._around.offered:
            before, found, tool = f"{name}__".partition(f"mcp__{_OUTSIDE.sub('_', server)}__")
            if found and not before:
                return server, tool.removesuffix("__") or ALL
        other = _OF_SERVER.fullmatch(name)
        return (other["server"], other["tool"] or ALL) if other is not None else None

    def take_of_server(self, server: str, tool: str) -> None:
        """Allow a tool of a server, or all that the lock knows of it."""
        offered = self._around.offered.get(server)
        if f"mcp__{server}__{tool}" in self._around.denied or f"mcp__{server}" in self._around.denied:
            self.lose(f"{server}/{tool}", "is denied by the settings of the project")
        elif tool != ALL and offered is not None and tool not in offered:
            self.lose(f"{server}/{tool}", "is not in 'tools.lock.json'")
        elif tool != ALL or offered:
            for each in (offered or ()) if tool == ALL else (_NO_NAME.sub("_", tool),):
                self.take(each)
                self._of_servers[each] = server
        else:
            self.lose(f"{server}/*", "needs 'stagec tools lock': then write the tools of the server that it may call")

    def take_claude(self, name: str, *, is_exact: bool) -> bool:
        """Allow a tool by the name that it has in Claude Code, and tell whether something has that name."""
        known = self._around.known
        meant = known.aliases("tool-aliases").get(name) or name
        if meant in known.names("never-for-subagents"):
            self.lose(name, "is left out: no agent is given it")
        elif meant in known.names("tools") or (not is_exact and name not in known.aliases("gone-tools")):
            self.take(meant)
        else:
            instead = known.aliases("gone-tools").get(name) or known.names("tools").nearest(name)
            self.lose(name, f"names no tool{f'; today it is {quote(instead)}' if instead else ''}")
        return meant in self._tools

    def lose(self, name: str, why: str) -> None:
        """Remember a name that is not taken over, and why."""
        self._lost.setdefault(why, []).append(name)

    def finish(self) -> Chosen:
        """Return the chosen tools; losses with one reason share a message."""
        losses = tuple(f"{listing(tuple(dict.fromkeys(names)))} {why}" for why, names in self._lost.items())
        servers = tuple((tool, server) for tool, server in self._of_servers.items() if tool in self._tools)
        return Chosen(tuple(self._tools), servers, losses, self._has_all)


def list_entries(given: Json) -> Iterator[str]:
    """Yield the tools of a list, or of a text with commas or blanks, in which a tool may have arguments."""
    if isinstance(given, str):
        yield from _ENTRY.findall(given)
    for each in given if isinstance(given, list) else ():
        if isinstance(each, str) and each.strip():
            yield each.strip()


def choose_claude(given: Json, around: Around, *, is_exact: bool = True) -> Chosen:
    """Return the tools of a file of Claude Code; names that it does not know are dropped where only it reads them."""
    choice = ToolChoice(around)
    for entry in list_entries(given):
        limited = _LIMITED.fullmatch(entry)
        name = limited["name"].strip() if limited is not None else entry
        of_server = choice.find_server(name)
        if name in _CALLS or name == "Skill":
            choice.lose(entry, "is left out: a stage calls no agents and no skills; routes do that")
        elif name == ALL:
            choice.take_all()
        elif of_server is not None:
            choice.take_of_server(*of_server)
        else:
            is_taken = choice.take_claude(name, is_exact=is_exact)
            if is_taken and limited is not None:
                choice.lose(entry, "became a plain name: a stage allows a tool whatever its arguments")
    return choice.finish()


def choose_copilot(given: Json, around: Around) -> Chosen:
    """Return the tools of an agent, a chat mode or a prompt of Copilot or VS Code."""
    choice = ToolChoice(around)
    aliases = {key.lower(): meant for key, meant in around.known.aliases("tool-aliases", "Copilot").items()}
    for entry in list_entries(given):
        group, _, tool = entry.partition("/")
        general = aliases.get(group.lower()) or group.lower()
        if general in _CALLS:
            choice.lose(entry, "is left out: a stage calls no agents; routes do that")
        elif entry == ALL:
            choice.take_all()
        elif general in COPILOT:
            choice.take(COPILOT[general])
        elif tool:
            choice.take_of_server(group, tool)
        else:
            choice.take(_NO_NAME.sub("_", entry))
            choice.lose(entry, "is kept as it is: look whether your host has a tool of that name")
    return choice.finish()


def choose_opencode(members: Json, around: Around) -> Chosen:
    """Return the tools of an agent of OpenCode: a map of what is switched on, or of permissions."""
    choice = ToolChoice(around)
    for name, said in members.items() if isinstance(members, dict) else ():
        if said is False or said == "deny":
            choice.lose(name, "is denied to the agent: a stage may call only what it lists")
        elif name == ALL:
            choice.take_all()
        elif "*" in name or not (said is True or isinstance(said, str)):
            choice.lose(name, "is a pattern or has rules of its own, which a stage cannot say")
        else:
            choice.take(name)
    return choice.finish()


def choose_workflow(given: Json, around: Around) -> Chosen:
    """Return the tools of an agentic workflow of GitHub."""
    choice = ToolChoice(around)
    for name, said in given.items() if isinstance(given, dict) else ():
        if said is False:
            continue
        if name in _WORKFLOW:
            choice.take(_WORKFLOW[name])
            if said not in {None, True} if not isinstance(said, dict | list) else bool(said):
                choice.lose(name, "has limits, which a stage cannot say")
        else:
            choice.lose(name, "is left out: write the names of the tools that it stands for")
    return choice.finish()


_WORKFLOW = {"edit": "Edit", "bash": "Bash", "web-fetch": "WebFetch", "web-search": "WebSearch"}


_NOTHING_READS = "is metadata of the stage, which nothing reads"
_OWN_MODEL = "is left out: a stage runs with the model of its session"
_GUARD = "hooks do not run in stages: a guard that refuses calls of tools is lost"
_PARALLEL = (
    "is left out: with 'execution: parallel' several stages run at the same time, and then they should only read"
)
_DROPPED: Mapping[str, str] = {
    **dict.fromkeys(("models", "provider", "modelPolicy", "reasoningEffort"), _OWN_MODEL),
    **dict.fromkeys(("background", "isolation"), _PARALLEL),
    "hooks": _GUARD,
    "skills": "is left out: a stage loads no skills; put what it needs into its prompt",
}
"""Keys that a stage does not carry along, and what their loss means."""
_KEPT: Mapping[str, str] = dict.fromkeys(("effort", "top_p", "memory", "initialPrompt"), _NOTHING_READS)
"""Keys with a meaning elsewhere that a stage carries along as metadata."""
_IDENTITY = ("name", "description")
_UNREADABLE = "cannot be read, also by its own tool: the stage has only the prompt; 'stagec validate' says why"
_TURNS = ("maxTurns", "maxSteps", "steps")


@value
class Kept:
    """The result of a reader of one kind of files, and the keys that it has handled."""

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
    """Return the loss of a key of the frontmatter."""
    return Loss(given.file, given.find_line(key), key, why)


def take_over(given: AgentText, kept: Kept) -> Adopted:
    """Return the stage of an agent file; keys that nobody has dealt with are its metadata."""
    members = given.members
    losses = [*kept.losses, *(lose(given, kept.key, each) for each in kept.chosen.losses)]
    losses += [Loss(given.file, 1, "frontmatter", _UNREADABLE)] if given.is_lost else []
    losses += [lose(given, key, why) for key, why in _LOST.items() if key in members]
    policy = _read_policy(members)
    losses += [lose(given, key, why) for key, why in _list_lost_policy(members, policy)]
    similar = {key for key in members if key not in MEMBERS and key not in kept.done and _STAGE_KEYS.nearest(key)}
    losses += [lose(given, key, "is left out: it is spelt much like a key of stages") for key in similar]
    counts = (members.get(key) for key in _TURNS)
    turns = next((each for each in counts if isinstance(each, int) and each is not True and each > 0), None)
    done = {*similar, *_IDENTITY, *_TURNS, *_DROPPED, *_POLICY, *_TAKEN, *kept.done, kept.key}
    rest = {key: each for key, each in members.items() if key not in {*done, SERVERS_OF}}
    return Adopted(
        name=text_in(members, "name") or given.called,
        tools=kept.chosen.tools,
        undecided=kept.explain_open(given),
        prompt=kept.prompt or escape_prompt(given.body),
        turns=turns,
        description=members.get("description"),
        members=rest | ({SERVERS_OF: dict(kept.chosen.of_servers)} if kept.chosen.of_servers else {}),
        policy=policy,
        servers=kept.servers,
        found_tools=kept.chosen.of_servers,
        reads=kept.reads,
        handoffs=kept.handoffs,
        mentions=kept.mentions,
        losses=(*losses, *_list_unread(given)),
    )


_POLICY = ("model", "temperature")
"""Keys of agent files that are settings of a stage's policy."""
_OF_SESSION = "inherit"
_HOTTEST = 2


def _read_policy(members: Object) -> Object:
    """Return the model that a stage asks, the first of a list, and its temperature."""
    model, heat = members.get("model"), members.get("temperature")
    named = next((each for each in (list_of(model) or [model]) if isinstance(each, str) and each.strip()), None)
    policy: dict[str, Json] = {} if named in {None, _OF_SESSION} else {"model": named}
    is_heat = isinstance(heat, int | float) and not isinstance(heat, bool) and 0 <= heat <= _HOTTEST
    return {**policy, "temperature": heat} if is_heat else policy


def _list_lost_policy(members: Object, policy: Object) -> Iterator[tuple[str, str]]:
    model, heat = members.get("model"), members.get("temperature")
    if model not in (None, _OF_SESSION, policy.get("model"), [policy.get("model")]):
        chosen = f"of several models, the stage asks {quote(str(policy['model']))}" if "model" in policy else ""
        yield "model", chosen or "is left out: it is no text"
    if heat is not None and "temperature" not in policy:
        yield "temperature", "is left out: a stage takes a number from 0 to 2"


_TAKEN = frozenset(MEMBERS) - set(_IDENTITY)
_STAGE_KEYS = NameIndex((*MEMBERS, "next", "checks", "gate"))
SERVERS_OF = "mcpTools"
"""The metadata of a stage that has the server of each tool that is one of a server: `stagec export` needs it."""
_LOST = {**_DROPPED, **_KEPT, **dict.fromkeys(sorted(_TAKEN), "means something else in a stage")}
"""Keys whose loss has to be told."""


_SERVER = ("command", "args", "env", "cwd", "url", "headers")
"""The members of a server in a catalogue."""


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
    """Yield the texts that the file's own tool or a stage would replace: the first of each kind."""
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
