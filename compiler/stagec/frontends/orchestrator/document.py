"""An orchestrator file as it was written: phases, the labels that mean them, and where the outcomes of agents lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from stagec.core.json import Object, object_of
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place
from stagec.core.value import NOTHING, value
from stagec.frontends.orchestrator.artifacts import Artifacts
from stagec.model.agent import CalledAgent
from stagec.sources.tree import Fault

MAX_CYCLES = 5
"""Transitions that an issue may make where the file does not say."""

SECTIONS = ("phases", "labelMapping", "agents")
"""What every file has."""
SUCCESS, FAILED = "success", "failed"
"""The outcomes of every transformer."""
DIRECT, OFF = "direct", "none"
"""The channels that climpt uses and that nobody uses."""
OTHERWISE = "otherwise"
"""What stands for all outcomes that have no phase of their own."""


class Release(StrEnum):
    """The release of climpt that a file is written for."""

    OLD = "1.13"
    NEW = "1.14"


class PhaseType(StrEnum):
    """What happens to an issue in a phase: an agent works on it, it is done, or it waits for somebody."""

    ACTIONABLE = "actionable"
    TERMINAL = "terminal"
    BLOCKING = "blocking"


class PerformerRole(StrEnum):
    """How the outcome of an agent is found: whether its run ends well, or what verdict it gives."""

    TRANSFORMER = "transformer"
    VALIDATOR = "validator"


@value
class Phase:
    """A state of an issue; `type` None when it has none or a wrong one. `agent` is the name as written."""

    id: str
    at: Place
    type: PhaseType | None
    agent: str | None
    priority: float | None
    body: Object

    @property
    def is_actionable(self) -> bool:
        """Whether an agent works on an issue in this phase."""
        return self.type is PhaseType.ACTIONABLE


@value
class OutcomeWay:
    """Where an outcome of an agent leads: the phase as it is named, and where."""

    outcome: str
    phase: Mention


@value
class Closing:
    """When the issue of an agent is closed: the channel, as far as one is named, and the outcome that it waits for."""

    at: Place
    channel: str | None
    condition: Mention | None

    @property
    def is_off(self) -> bool:
        """Whether nothing closes the issue."""
        return self.channel in {None, OFF}


@value
class ArtifactHandoff:
    """An artifact that is written after an outcome of an agent; what is misshapen is None or empty."""

    id: str | None
    name: str
    """What people call it: by its id, or else by its number."""
    at: Place
    agent: str | None
    outcome: str | None
    schema: str | None
    path: str | None
    payload: Mapping[str, str]
    body: Object


@value
class Performer:
    """An agent as the file describes it; `role` None when it has none or a wrong one.

    `outputs` are the phases of `outputPhase` or `outputPhases` by outcome, `exceptions` those of `fallbackPhases`,
    `fallback` is the one of `fallbackPhase`. `is_whole` tells that nothing of these is misshapen.
    """

    id: str
    at: Place
    role: PerformerRole | None
    directory: str
    outputs: Mapping[str, Mention]
    exceptions: Mapping[str, Mention]
    fallback: Mention | None
    is_whole: bool
    close: Closing | None
    body: Object
    definition: Place | None = None
    """The `agent.json` of the agent, None where it is not there."""
    called: str | None = None
    """The name that its definition gives it."""

    def list_named(self) -> Iterator[OutcomeWay]:
        """Yield every phase that the agent names, with the outcome that leads there."""
        yield from (OutcomeWay(outcome, phase) for outcome, phase in self.outputs.items())
        yield from (OutcomeWay(outcome, phase) for outcome, phase in self.exceptions.items())
        if self.fallback is not None:
            yield OutcomeWay(OTHERWISE, self.fallback)

    def list_ways(self) -> Iterator[OutcomeWay]:
        """Yield where each outcome leads; the way of the outcomes that have none of their own comes last."""
        yield from (OutcomeWay(outcome, phase) for outcome, phase in self.outputs.items())
        is_transformer = self.role is PerformerRole.TRANSFORMER
        for outcome, phase in self.exceptions.items():
            if outcome not in self.outputs:
                yield OutcomeWay(outcome, phase)
        if self.fallback is None:
            return
        if is_transformer and FAILED not in self.exceptions:
            yield OutcomeWay(FAILED, self.fallback)
        if not is_transformer or self.exceptions:
            yield OutcomeWay(OTHERWISE, self.fallback)


@value
class Workflow:
    """One orchestrator file.

    `release` is what it is written for; `is_dated` tells whether it says so. `labels` are the phases by the labels that
    mean them. `starts` are the phases that a project begins with, by the member that names them. `broken` are the
    phases under whose name nothing can be read. `faults` are what is wrong with its shape.
    """

    id: str
    at: Place
    body: Object
    release: Release
    is_dated: bool
    phases: Mapping[str, Phase]
    broken: frozenset[str]
    labels: Mapping[str, Mention]
    starts: Mapping[str, Mention]
    agents: Mapping[str, Performer]
    max_cycles: int | None
    """The number of transitions that an issue may make, None where what is written is none."""
    memo: Memo
    artifacts: Artifacts
    has_agents: bool
    """Whether any agent is defined in the folder of agents, be it one of this file or not."""
    handoffs: tuple[ArtifactHandoff, ...] = ()
    called: Mapping[str, CalledAgent] = NOTHING
    """What is known of the agents from their own files, by their names in this file."""
    faults: tuple[Fault, ...] = ()
    prefix: str = ""
    """What stands before every label in the code host, with a colon."""

    def list_faults(self, topic: str) -> Iterator[Fault]:
        """Yield the faults of shape of which one rule speaks."""
        return (fault for fault in self.faults if fault.topic == topic)

    @property
    def names(self) -> NameIndex:
        """The names of the phases."""
        return self.memo.once("names", lambda: NameIndex(self.phases))

    @property
    def is_whole(self) -> bool:
        """Whether nothing is misshapen that decides where an issue goes."""
        sections = [self.body.get(each) for each in SECTIONS]
        is_mapped = len(self.labels) == len(object_of(self.body.get("labelMapping")))
        return not self.broken and is_mapped and all(isinstance(each, dict) for each in sections)

    @property
    def has_all_labels(self) -> bool:
        """Whether the file can be read and every label stands for a phase that is there."""
        return self.is_whole and all(each.name in self.phases for each in self.labels.values())

    @property
    def is_sound(self) -> bool:
        """Whether nothing is misshapen and every phase and every agent that is named is there."""
        agents = {each.agent for each in self.phases.values() if each.agent is not None}
        is_read = self.is_whole and all(each.is_whole for each in self.agents.values())
        is_known = all(each.name in self.phases for each in self.list_mentions())
        return is_read and is_known and agents <= self.agents.keys()

    def list_mentions(self) -> Iterator[Mention]:
        """Yield every phase that a label or an outcome names."""
        yield from self.labels.values()
        yield from (way.phase for agent in self.agents.values() for way in agent.list_named())

    def has_phase(self, name: str) -> bool:
        """Tell whether a phase has this name."""
        return name in self.phases or name in self.broken

    def find_performer(self, phase: Phase) -> Performer | None:
        """Return the agent that works on the issues of a phase."""
        return self.agents.get(phase.agent) if phase.is_actionable and phase.agent is not None else None

    @property
    def max_cycles_at(self) -> Place:
        """Where the number of transitions is written, or would be."""
        return self.at / "rules" / "maxCycles"


NO_MENTIONS: Mapping[str, Mention] = NOTHING
"""No names."""
