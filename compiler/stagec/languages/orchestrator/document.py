"""An orchestrator file as its author wrote it: phases, their labels, and the targets of agents' outcomes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from stagec.core.json import Json, Object, list_of, object_of, text_in, whole_of
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Mention, Place
from stagec.core.value import NOTHING, value
from stagec.core.words import listing, quote
from stagec.ir.agent import CalledAgent
from stagec.ir.flow import NameKind, Occurrence
from stagec.sources.read import Sources, join
from stagec.sources.shape import judge_schema
from stagec.sources.tree import Fault

AGENTS = ".agent"
"""The folder of orchestrator files and of agents."""
_SCHEMAS = "agents/common/schemas"


@value
class Artifacts:
    """The folder of schemas, whether it is there, and the schemas by the names that hand-offs have for them.

    `has_payload` tells whether the file is there that is named as the schema of payloads.
    """

    folder: str = _SCHEMAS
    has_folder: bool = False
    schemas: Mapping[str, Json] = NOTHING
    has_payload: bool = False


def find_project(file: str) -> str:
    """Return the folder of the project that an orchestrator file belongs to: the one that has `.agent`."""
    folder = posixpath.dirname(file)
    return posixpath.dirname(folder) if posixpath.basename(folder) == AGENTS else ""


def find_artifacts(sources: Sources, file: str, root: Object, names: Iterable[str]) -> Artifacts:
    """Return the schemas under some names, and that of payloads."""
    project = find_project(file)
    folder = posixpath.join(project, _SCHEMAS)
    known = {name: _read(sources, join(folder, f"{name}.json")) for name in dict.fromkeys(names)}
    named = text_in(object_of(root.get("payloadSchema")), "$ref")
    path = join(project, named) if named is not None else None
    _read(sources, path)  # what is wrong with it is told there
    return Artifacts(
        folder=folder,
        has_folder=sources.has_folder(folder),
        schemas=known,
        has_payload=path is not None and sources.exists(path),
    )


def _read(sources: Sources, path: str | None) -> Json:
    """Return the content of a schema file, after judging it; None if it is absent or unreadable."""
    tree = sources.tree(path, "schema") if path is not None and sources.exists(path) else None
    if tree is None or not tree.readable:
        return None
    sources.replace(judge_schema(tree, sources.budgets, sources.patterns))
    return tree.value


MAX_CYCLES = 5
"""Transitions that an issue may make where the file does not say."""


SECTIONS = ("phases", "labelMapping", "agents")
"""The members of every file."""
SUCCESS, FAILED = "success", "failed"
"""The outcomes of every transformer."""
DIRECT, OFF = "direct", "none"
"""The channels that climpt uses and that nobody uses."""
OTHERWISE = "otherwise"
"""The word for all outcomes without a phase of their own."""


class Release(StrEnum):
    """The release of climpt that a file is written for."""

    OLD = "1.13"
    NEW = "1.14"


class PhaseType(StrEnum):
    """The type of a phase: an agent works on the issue, the issue is done, or it waits for somebody."""

    ACTIONABLE = "actionable"
    TERMINAL = "terminal"
    BLOCKING = "blocking"


class PerformerRole(StrEnum):
    """The source of an agent's outcome: the end of its run, or its verdict."""

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
    """The target of an agent's outcome: the phase as it is named, and the place."""

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
    """The name for people: its id, or else its number."""
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
        """Yield the targets of the outcomes; that of the outcomes without one of their own comes last."""
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
    """The most transitions of an issue; None if the written value is no number."""
    memo: Memo
    artifacts: Artifacts
    has_agents: bool
    """Whether any agent is defined in the folder of agents, be it one of this file or not."""
    handoffs: tuple[ArtifactHandoff, ...] = ()
    called: Mapping[str, CalledAgent] = NOTHING
    """The facts about the agents in their own files, by their names in this file."""
    faults: tuple[Fault, ...] = ()
    prefix: str = ""
    """The prefix of every label in the code host, with a colon."""

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
        """The place of the number of transitions, written or not."""
        return self.at / "rules" / "maxCycles"


NO_MENTIONS: Mapping[str, Mention] = NOTHING
"""No names."""


_FILTERS = ("labels", "state", "limit")
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "ghProject": ("project", *_FILTERS),
    "ghRepoIssues": ("repo", *_FILTERS, "projectMembership"),
    "explicit": ("issueIds",),
}
"""The members of each kind of source besides `kind`."""
_REPOSITORY = re.compile(r"[^/\s]+/[^/\s]+")


@value
class SourceFault:
    """One thing that is wrong, where, and in words; a `foreign` member belongs to another kind of source."""

    at: Place
    sentence: str
    is_foreign: bool = False


def find_source_faults(workflow: Workflow) -> Iterator[SourceFault]:
    """Yield the mistakes in a source whose kind is written."""
    given, at = object_of(workflow.body.get("issueSource")), workflow.at / "issueSource"
    kind = text_in(given, "kind")
    if kind is None:
        return
    if kind not in _MEMBERS:
        near = hint(kind, NameIndex(_MEMBERS))
        yield SourceFault(at / "kind", f"issue source {quote(kind)} is none of {listing(_MEMBERS, 'or')}{near}")
        return
    needed = {"ghProject": "project", "explicit": "issueIds"}.get(kind)
    if needed is not None and needed not in given:
        yield SourceFault(at / needed, f"an issue source of kind {quote(kind)} needs {quote(needed)}")
    for name in given:
        if name in _MEMBERS[kind]:
            fits, wanted = _CHECKS[name]
            if not fits(given[name]):
                yield SourceFault(at / name, f"{quote(name)} of the issue source must be {wanted}")
        elif name != "kind" and not name.startswith(("$", "_", "x-")):
            why = f"an issue source of kind {quote(kind)} has no {quote(name)}"
            yield SourceFault((at / name).key, f"{why}{hint(name, NameIndex(_MEMBERS[kind]))}", is_foreign=True)


def _is_count(given: Json) -> bool:
    return (whole_of(given) or 0) > 0


def _is_project(given: Json) -> bool:
    members = object_of(given)
    by_number = isinstance(members.get("owner"), str) and _is_count(members.get("number"))
    return by_number or isinstance(members.get("id"), str)


def _are_texts(given: Json) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def _are_ids(given: Json) -> bool:
    known = (isinstance(each, str | int | float) and not isinstance(each, bool) for each in list_of(given))
    return bool(list_of(given)) and all(known)


_CHECKS: Mapping[str, tuple[Callable[[Json], bool], str]] = {
    "project": (_is_project, "an object with 'owner' and 'number', or with 'id'"),
    "labels": (_are_texts, "a list of texts"),
    "state": (lambda given: given in ("open", "closed", "all"), "'open', 'closed' or 'all'"),
    "limit": (_is_count, "a whole number from 1"),
    "repo": (
        lambda given: isinstance(given, str) and _REPOSITORY.fullmatch(given) is not None,
        "a repository, written 'owner/name'",
    ),
    "projectMembership": (lambda given: given in ("any", "unbound"), "'any' or 'unbound'"),
    "issueIds": (_are_ids, "a list with at least one text or number"),
}


@value
class KnownOutcomes:
    """The outcomes of an agent; where they are `is_open`, there may be others than those that are known."""

    names: tuple[str, ...]
    is_open: bool


def find_outcomes(workflow: Workflow, agent: Performer) -> KnownOutcomes:
    """Return the outcomes of an agent, as its role and its answers tell."""
    is_transformer = agent.role is PerformerRole.TRANSFORMER
    own = (SUCCESS, FAILED) if is_transformer else ()
    if is_transformer and not agent.exceptions:
        return KnownOutcomes(own, is_open=False)
    verdicts = list_verdicts(workflow, agent)
    if verdicts is None:
        return KnownOutcomes(tuple(dict.fromkeys((*own, *agent.outputs, *agent.exceptions))), is_open=True)
    return KnownOutcomes(tuple(dict.fromkeys((*own, *verdicts))), is_open=False)


def list_verdicts(workflow: Workflow, agent: Performer) -> tuple[str, ...] | None:
    """Return the verdicts that closing answers of an agent can have; None where nobody lists them."""
    called = workflow.called.get(agent.id)
    if called is None or not called.is_whole or not called.closings:
        return None
    found: dict[str, None] = {}
    for each in called.closings:
        if each.verdicts is None:
            return None
        found.update(dict.fromkeys(each.verdicts))
    return tuple(found)


def list_template_keys(workflow: Workflow, agent: Performer) -> Iterator[str]:
    """Yield the names under which climpt looks for comments: of the agent and an outcome, in two forms."""
    for outcome in dict.fromkeys((*find_outcomes(workflow, agent).names, *agent.outputs, *agent.exceptions)):
        raised = f"{outcome[:1].upper()}{outcome[1:]}"
        yield f"{agent.id}{raised}"
        yield f"{agent.id}To{raised}"


def list_names(document: Workflow) -> Iterator[Occurrence]:
    """Yield every place at which a phase or an agent is defined or mentioned."""
    owner = document.at.file
    for phase in document.phases.values():
        yield Occurrence(NameKind.PHASE, phase.id, owner, phase.at.key, phase.at)
        if phase.agent is not None:
            yield Occurrence(NameKind.AGENT, phase.agent, owner, phase.at / "agent")
    for mention in (*document.list_mentions(), *document.starts.values()):
        yield Occurrence(NameKind.PHASE, mention.name, owner, mention.at)
    for agent in document.agents.values():
        yield Occurrence(NameKind.AGENT, agent.id, owner, agent.at.key, agent.at)
    for handoff in document.handoffs:
        if handoff.agent is not None:
            yield Occurrence(NameKind.AGENT, handoff.agent, owner, handoff.at / "agent")
