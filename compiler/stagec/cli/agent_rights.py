"""The rights of the agent files of two sides, and those that project settings give to all agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from stagec.change.comparison.change import Action
from stagec.check.pipeline import Compilation
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.ir.plan.codec import TEXT, many, nullable
from stagec.languages.agent_files.document import AgentFiles
from stagec.languages.agent_files.rights import ProjectGrant, list_grants

EVERY_OTHER = "*"
"""Stands for the tools that nobody names: an agent without a limit may call them."""


@value
class AgentRights:
    """The rights of one agent, command, skill, prompt or workflow; `tools` are those that it names, in their order.

    It `is_open` when it may call every tool but those that it is `without`. `told` are the texts that its model reads.
    """

    file: str
    name: str
    noun: str
    tools: tuple[str, ...]
    is_open: bool
    without: tuple[str, ...]
    mode: str | None
    told: tuple[str, ...] | None

    def may_call(self, tool: str) -> bool:
        """Tell whether it may call a tool."""
        return tool in self.tools or (self.is_open and tool not in self.without)

    def list_beyond(self, other: AgentRights) -> tuple[str, ...]:
        """Return the tools that it may call and the other may not."""
        named = dict.fromkeys((*self.tools, *other.without))
        found = [each for each in named if self.may_call(each) and not other.may_call(each)]
        return (*found, *((EVERY_OTHER,) if self.is_open and not other.is_open else ()))


def list_agent_rights(compilation: Compilation) -> tuple[AgentRights, ...]:
    """Return the rights of each agent file of a project, by file."""
    alone = (each for each in compilation.list_accesses() if each.is_alone)
    made = (
        AgentRights(
            file=each.flow.at.file,
            name=name,
            noun=each.flow.names["node"],
            tools=tuple(tool.name for tool in rights.tools),
            is_open=rights.is_open,
            without=rights.without,
            mode=None if rights.mode is None else rights.mode.name,
            told=rights.prompts,
        )
        for each in alone
        for name, rights in each.rights.items()
    )
    return tuple(sorted(made, key=lambda each: (each.file, each.name)))


@value
class ReviewedAgent:
    """A changed agent file: the change, and its rights before and now, None where it is absent.

    `shown` is the newer side of it, the older one where it is gone.
    """

    action: Action
    shown: AgentRights
    old: AgentRights | None
    new: AgentRights | None

    @property
    def is_reworded(self) -> bool:
        """Whether its model reads another text."""
        return self.old is not None and self.new is not None and self.old.told != self.new.told

    @property
    def gained(self) -> tuple[str, ...]:
        """The tools that it may call now and might not before: all of a new one."""
        return () if self.new is None else self.new.list_beyond(self.old or _make_nobody(self.new))

    @property
    def lost(self) -> tuple[str, ...]:
        """The tools that it might call before and may not now: all of one that is gone."""
        return () if self.old is None else self.old.list_beyond(self.new or _make_nobody(self.old))

    @property
    def modes(self) -> tuple[str | None, str | None]:
        """Its permission mode before and now."""
        old, new = (None if each is None else each.mode for each in (self.old, self.new))
        return old, new

    def describe(self, arrow: str) -> Iterator[str]:
        """Yield the changes, a phrase for each sort."""
        if self.gained:
            yield f"may call {_name_tools(self.gained)} now"
        if self.lost:
            yield f"may no longer call {_name_tools(self.lost)}"
        if self.old is not None and self.new is not None and self.old.name != self.new.name:
            yield f"name {quote(self.old.name)} {arrow} {quote(self.new.name)}"
        before, now = self.modes
        if before != now:
            yield f"permission mode {quote(before or 'none')} {arrow} {quote(now or 'none')}"
        if self.is_reworded:
            yield "its text changes"


def _make_nobody(like: AgentRights) -> AgentRights:
    """Return an agent that may call nothing, to compare another with."""
    return AgentRights(like.file, like.name, like.noun, (), is_open=False, without=(), mode=None, told=None)


def _name_tools(tools: tuple[str, ...]) -> str:
    named = [each for each in tools if each != EVERY_OTHER]
    if len(named) == len(tools):
        return listing(named)
    return f"{listing(named)} and every other tool" if named else "every tool that is not named"


def compare_agents(old: Iterable[AgentRights], new: Iterable[AgentRights]) -> tuple[ReviewedAgent, ...]:
    """Return the agents that differ, by file; those that gain tools come first."""
    before, now = ({(each.file, each.name): each for each in side} for side in (old, new))
    moved = {each.file: each for key, each in before.items() if key not in now}  # a file may get another name in it
    found: list[ReviewedAgent] = []
    for key, each in now.items():
        earlier = before.get(key) or moved.pop(each.file, None)
        found.append(ReviewedAgent(Action.ADDED if earlier is None else Action.CHANGED, each, earlier, each))
    found += [ReviewedAgent(Action.REMOVED, each, each, None) for each in moved.values()]
    differing = (each for each in found if each.action is not Action.CHANGED or any(True for _ in each.describe("")))
    return tuple(sorted(differing, key=lambda each: (not each.gained, each.shown.file)))


@value
class ReportedAgent:
    """An agent file that differs and belongs to no flow."""

    file: Annotated[str, "Path of the file, relative to the root of the project."]
    name: Annotated[str, "The name in the file, on the newer side if it is there."]
    kind: Annotated[str, "The kind of file, such as `agent`."]
    action: Annotated[Action, "The change."]
    gained: Annotated[
        tuple[str, ...], "Tools that it may call now and might not before; `*` stands for all that nobody names."
    ]
    lost: Annotated[
        tuple[str, ...], "Tools that it might call before and may not now; `*` stands for all that nobody names."
    ]
    modes: Annotated[
        tuple[str | None, ...],
        "Its permission mode before and now; null where none is written.",
        many(nullable(TEXT), 2),
    ]
    reworded: Annotated[bool, "Whether its model reads another text."]

    @classmethod
    def of(cls, given: ReviewedAgent) -> ReportedAgent:
        """Return the report of an agent."""
        shown = (given.shown.file, given.shown.name, given.shown.noun)
        return cls(*shown, given.action, given.gained, given.lost, given.modes, given.is_reworded)


@value
class ReviewedGrant:
    """A rule, mode, folder, hook or server that differs: `old` and `new` are None where it is absent.

    `shown` is the newer side of it, the older one where it is gone.
    """

    action: Action
    shown: ProjectGrant
    old: ProjectGrant | None
    new: ProjectGrant | None

    @property
    def is_wider(self) -> bool:
        """Whether agents may do more, programs start, or a guard is gone or another."""
        return (self.new is not None and self.new.widens) or (self.old is not None and self.old.guards)

    def describe(self, arrow: str) -> str:
        """Return the present text, and the former one if it differs; empty where the name says it all."""
        old, new = ("" if each is None else each.told for each in (self.old, self.new))
        if self.action is not Action.CHANGED:
            return quote(old or new) if old or new else ""
        return f"{quote(old)} {arrow} {quote(new)}" if old != new else "its definition changes"


def list_project_grants(compilation: Compilation) -> tuple[ProjectGrant, ...]:
    """Return the grants and denials in the settings, hooks and servers of a project."""
    files = (each for each in compilation.documents if isinstance(each, AgentFiles))
    return tuple(grant for each in files for grant in list_grants(each.claude))


def compare_grants(old: Iterable[ProjectGrant], new: Iterable[ProjectGrant]) -> tuple[ReviewedGrant, ...]:
    """Return the differences, by file; those that give agents more rights come first."""
    before, now = ({(each.file, each.noun, each.name): each for each in side} for side in (old, new))
    found = [ReviewedGrant(Action.REMOVED, each, each, None) for key, each in before.items() if key not in now]
    for key, each in now.items():
        earlier = before.get(key)
        if earlier is None or earlier.definition != each.definition:
            found.append(ReviewedGrant(Action.ADDED if earlier is None else Action.CHANGED, each, earlier, each))
    return tuple(sorted(found, key=lambda each: (not each.is_wider, each.shown.file)))


@value
class ReportedSetting:
    """A grant or denial in the settings of a project, for every agent that works there."""

    file: Annotated[str, "Path of the file, relative to the root of the project."]
    name: Annotated[
        str,
        "The rule as written, the folder, the event of the hook and what it starts, or the server; empty for a mode.",
    ]
    kind: Annotated[str, "`rule`, `permission mode`, `folder`, `hook` or `server`."]
    action: Annotated[Action, "The change."]
    wider: Annotated[bool, "Whether agents may do more, a program starts, or a guard is gone or another."]
    before: Annotated[str | None, "The text beside the name on the older side; null without any."]
    now: Annotated[str | None, "The text beside the name on the newer side; null without any."]

    @classmethod
    def of(cls, given: ReviewedGrant) -> ReportedSetting:
        """Return the report of a rule, mode, folder, hook or server."""
        shown = (given.shown.file, given.shown.name, given.shown.noun)
        before, now = (None if each is None else each.told or None for each in (given.old, given.new))
        return cls(*shown, given.action, given.is_wider, before, now)
