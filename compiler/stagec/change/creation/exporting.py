"""Write stages as agent files of another tool, and tell what such a file cannot say."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import count

from stagec.change.creation.collected import make_id
from stagec.change.creation.new_project import Loss
from stagec.change.creation.taking import RESULT, SERVERS_OF, find_hint
from stagec.check.pipeline import ReadProject
from stagec.core.json import Json, object_of, text_in
from stagec.core.memo import Memo
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.catalogue import Catalogue, find_catalogue, read_catalogue
from stagec.languages.agent_files.known import Known, read_data
from stagec.languages.stages.document import MEMBERS, Mode, Pipeline, PlaceholderForm, Profile, Stage
from stagec.languages.stages.placeholder_errors import unescape
from stagec.sources.yaml_text.members import write_value

_KNOWN = Known(read_data(), Memo())
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")
_GROUPS: Mapping[str, str] = {
    "Read": "read",
    "Edit": "edit",
    "Bash": "execute",
    "Grep": "search",
    "WebFetch": "web",
    "TodoWrite": "todo",
}
_WIDER: Mapping[str, str] = {
    "Write": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Glob": "search",
    "WebSearch": "web",
}


@value
class NamedTool:
    """The name of a tool in an agent file, None where there is none, and what is lost with it."""

    name: str | None
    loss: str = ""


@value
class AgentOwner:
    """A tool that owns agent files: where they are, how they end, and how a tool is named in them.

    `name_tool(tool, server)` is asked for each tool of a stage; `values` tells which metadata of a stage the owner
    reads. `turns` is its key for the most turns, `none` the line that allows no tool.
    """

    folder: str
    suffix: str
    name_tool: Callable[[str, str | None], NamedTool]
    values: Callable[[str, Json], bool]
    none: str
    turns: str | None = None
    has_handoffs: bool = False
    longest: int | None = None


def _name_claude(tool: str, server: str | None) -> NamedTool:
    if server is not None:
        return NamedTool(f"mcp__{_OUTSIDE.sub('_', server)}__{_OUTSIDE.sub('_', tool)}")
    if tool in _KNOWN.names("never-for-subagents") or tool in _KNOWN.names("only-when-planning"):
        return NamedTool(None, "no agent of Claude Code is given it")
    is_known = tool in _KNOWN.names("tools")
    return NamedTool(tool) if is_known else NamedTool(None, "Claude Code has no tool of that name")


def _name_copilot(tool: str, server: str | None) -> NamedTool:
    if server is not None:
        return NamedTool(f"{server}/{tool}")
    if tool in _WIDER:
        return NamedTool(_WIDER[tool], f"became {_WIDER[tool]!r}, which allows more")
    return NamedTool(_GROUPS[tool]) if tool in _GROUPS else NamedTool(tool, "is kept: Copilot ignores unknown names")


def _reads_claude(key: str, given: Json) -> bool:
    lists = {"color": "colors", "effort": "efforts", "memory": "memory"}
    if key == "initialPrompt":
        return isinstance(given, str)
    return key in lists and isinstance(given, str) and given in _KNOWN.names(lists[key])


def _reads_copilot(key: str, given: Json) -> bool:
    return key == "argument-hint" and isinstance(given, str)


OWNERS: Mapping[str, AgentOwner] = {
    "claude": AgentOwner(
        ".claude/agents",
        ".md",
        _name_claude,
        _reads_claude,
        "tools: [] # stagec: ignore[emptied-tools] the stage calls no tool",
        turns="maxTurns",
    ),
    "copilot": AgentOwner(
        ".github/agents",
        ".agent.md",
        _name_copilot,
        _reads_copilot,
        "tools: []",
        has_handoffs=True,
        longest=30_000,
    ),
}
"""The tools that stages are exported to, by the word that chooses one."""


_USUAL: Mapping[str, Json] = {"retryPolicy": {"maxAttempts": 1, "backoff": "none"}}
_NOT_SAID: Mapping[str, str] = {
    "retryPolicy": "is lost: an agent is not tried again",
    "inputsSchema": "is lost: an agent is given a text",
    "tags": "is lost",
}
_CONDUCT: Mapping[str, str] = {
    "checks": "are lost: nothing judges the answer of an agent",
    "gate": "is lost: nothing keeps an agent from starting",
    "hooks": "are lost: they are Python callables of the project",
    "policy": "is lost: an agent asks the model of its session",
    "deadline": "is lost: an agent ends when it has an answer",
}
_DASHES = re.compile(r"-{3,}")


@value
class ExportedAgents:
    """Agent files by name, and what the stages say and the files do not."""

    files: Mapping[str, bytes]
    losses: tuple[Loss, ...]


def export_stages(project: ReadProject, owner: AgentOwner) -> ExportedAgents:
    """Return an agent file for each stage of a project."""
    pipelines = [each for each in project.documents if isinstance(each, Pipeline)]
    known = next((each.catalogue for each in pipelines if each.catalogue is not None), None)
    stages = [(pipeline, stage) for pipeline in pipelines for stage in pipeline.stages if stage.id is not None]
    names: dict[str, tuple[Pipeline, Stage]] = {}
    free: dict[str, Iterator[str]] = {}  # a name that is taken once is never free again
    for pipeline, stage in stages:
        first = make_id(stage.id or "") or "stage"
        following = free.setdefault(first, _number(first))
        names[next(each for each in following if each not in names)] = (pipeline, stage)
    files: dict[str, bytes] = {}
    losses: list[Loss] = []
    for name, (pipeline, stage) in names.items():
        catalogue = pipeline.catalogue or known or _find_above(project, stage)
        made = _Export(project, owner, stage, catalogue)
        files[f"{name}{owner.suffix}"] = made.write(name).encode()
        losses += made.losses
    return ExportedAgents(files, tuple(sorted(losses, key=lambda each: (each.file, each.line, each.key))))


def _number(name: str) -> Iterator[str]:
    """Yield a name, then the same with numbers from 2 on."""
    yield name
    yield from (f"{name}-{at}" for at in count(2))


def _find_above(project: ReadProject, stage: Stage) -> Catalogue | None:
    """Return the catalogue above the folder of a stage that was named alone."""
    folder = posixpath.dirname(posixpath.dirname(stage.at.file))
    file = find_catalogue(project.sources, folder)
    return None if file is None else read_catalogue(project.sources, file)


class _Export:
    """One stage that becomes an agent file."""

    def __init__(self, project: ReadProject, owner: AgentOwner, stage: Stage, catalogue: Catalogue | None) -> None:
        self._sources = project.sources
        self._owner = owner
        self._stage = stage
        self._catalogue = catalogue
        self._members = stage.members
        self.losses: list[Loss] = []

    def write(self, name: str) -> str:
        """Return the text of the file."""
        front = [f"name: {_write(name)}", f"description: {_write(self._describe(name))}", *self._write_tools()]
        if self._owner.turns is not None and "turnCap" in self._members:
            front.append(f"{self._owner.turns}: {self._members['turnCap']}")
        elif "turnCap" in self._members:
            self._lose("turnCap", "is lost: nothing limits the turns of an agent")
        front += self._write_metadata()
        front += self._write_handoffs()
        body = self._write_body()
        self._lose_rest()
        return "\n".join(("---", *front, "---", "", body, ""))

    def _lose(self, key: str, why: str) -> None:
        tree = self._sources.find_tree(self._stage.at.file)
        at = self._stage.at / key if key != "body" else self._stage.body.at
        line = 1 if tree is None else tree.format.locate(tree.data, [at])[at].start.line
        self.losses.append(Loss(self._stage.at.file, line, key, why))

    def _describe(self, name: str) -> str:
        title = text_in(self._members, "name")
        if name != self._stage.id:
            self._lose("id", f"became the name {quote(name)}")
        if title is not None and title not in {name, self._stage.id}:
            self._lose("name", f"is lost: the name of the agent is {quote(name)}, its id")
        found = text_in(self._members, "description")
        if found is not None and found.strip():
            return found
        self._lose("description", "was made up: an agent needs one")
        return f"Carries out the stage {title or name}."

    def _write_tools(self) -> list[str]:
        servers = object_of(self._members.get(SERVERS_OF))
        found: dict[str, None] = {}
        for tool in (each.name for each in self._stage.allowed or ()):
            known = None if self._catalogue is None else self._catalogue.by_name.get(tool)
            named = self._owner.name_tool(tool, (known.server if known else None) or text_in(servers, tool))
            if named.name is not None:
                found[named.name] = None
            if named.loss:
                self._lose("allowedTools", f"{quote(tool)} {'' if named.name else 'is lost: '}{named.loss}")
        if self._stage.allowed is None:
            return []
        return [f"tools: [{', '.join(map(_write, found))}]"] if found else [self._owner.none]

    def _write_metadata(self) -> Iterator[str]:
        for key, given in self._members.items():
            if key in {*MEMBERS, SERVERS_OF, "body", "next"}:
                continue
            if self._owner.values(key, given):
                yield f"{key}: {_write(given)}"
            else:
                self._lose(key, "is metadata of the stage, which the agent does not have")

    def _write_handoffs(self) -> Iterator[str]:
        """Yield the stages that may come next, where an agent file can say so."""
        cases = self._stage.conduct.cases
        targets = dict.fromkeys(each.stages[0].name for each in cases if each.mode is Mode.ONE and each.stages)
        if any(each.mode is not Mode.ONE for each in cases) or (targets and not self._owner.has_handoffs):
            self._lose("next", "is lost: an agent file says nothing of stages that follow")
        elif any(each.when for each in cases):
            self._lose("next", "lost its conditions: a user chooses among hand-offs")
        if targets and self._owner.has_handoffs:
            yield "handoffs:"
            for each in targets:
                name = _write(make_id(each))
                yield f'  - {{label: {_write(f"Continue with {each}")}, agent: {name}, prompt: "Continue."}}'

    def _write_body(self) -> str:
        stage, completion = self._stage, self._stage.completion
        is_markdown = stage.profile is Profile.MARKDOWN
        text = stage.body.text.strip()
        hint = find_hint(text, completion.name) if completion is not None else None
        text = text[: hint.start()].rstrip() if hint is not None else text
        if any(each.form is PlaceholderForm.PATH for each in stage.body.placeholders):
            self._lose("body", "has placeholders, which stay as they are: nothing fills them in")
        if completion is not None and completion.name in text:
            self._lose("body", f"names {quote(completion.name)}, which the agent does not have")
        text = unescape(text) if is_markdown else text
        if self._owner.longest is not None and len(text) > self._owner.longest:
            self._lose("body", f"has more than {self._owner.longest:,} characters, which is more than GitHub reads")
        return text

    def _lose_rest(self) -> None:
        for key, why in _NOT_SAID.items():
            if key in self._members and self._members[key] != _USUAL.get(key):
                self._lose(key, why)
        given = object_of(self._members.get("completionSchema"))
        if object_of(given.get("properties")).keys() - RESULT:
            self._lose("completionSchema", "is lost: the result of an agent is a text")
        conduct = self._stage.conduct
        found = {key: getattr(conduct, key) for key in _CONDUCT}
        for key, why in _CONDUCT.items():
            if found[key]:
                self._lose(key, why)


def _write(given: Json) -> str:
    """Return a value in which nothing looks like the end of a frontmatter."""
    text = write_value(given)
    if _DASHES.search(text) is None:
        return text
    quoted = text if text.startswith(('"', "[", "{")) else f'"{text}"'
    return _DASHES.sub(lambda found: r"\x2d" * len(found[0]), quoted)
