"""What the nodes of flows may do, and what of it their tests call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase

from stagec.core.place import START, Place, Position
from stagec.core.value import value
from stagec.flow_tests.tool_use import ToolUse
from stagec.frontends import FlowRights
from stagec.model.rights import Label, Right, Rights, Teller
from stagec.sources.tree import Tree


class CallEvidence(StrEnum):
    """What the tests of a flow, and recorded runs of it, tell about the tools of a node."""

    CALLS = "calls"
    NOT_RUN = "not run"
    NOT_SEEN = "not seen"
    NO_TESTS = "no tests"


@value
class ToolPermission:
    """A tool that a node may call: what it reads and does, who says so, where that is allowed, and who calls it.

    `tests` and `runs` count the tests and the recorded runs that call it; None where these cannot tell.
    """

    name: str
    labels: tuple[Label, ...]
    teller: Teller
    at: Place
    position: Position
    is_program: bool
    tests: int | None
    runs: int | None

    @property
    def is_called(self) -> bool:
        """Whether some test or run calls it."""
        return bool(self.tests or self.runs)


@value
class NodePermissions:
    """What a node may do; `is_open` tells that nobody limits its tools but for those that it is `without`.

    `asked` counts the answers of its model in tests and runs, `silent` those of them that do not say what was called,
    `others` are the tools that it called and that no list allows.
    """

    node: str
    mode: str | None
    is_open: bool
    tools: tuple[ToolPermission, ...]
    evidence: CallEvidence
    asked: int = 0
    silent: int = 0
    others: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def least(self) -> tuple[str, ...]:
        """The tools without which some test or run would not do what it does."""
        return (*(each.name for each in self.tools if each.is_called), *self.others)

    @property
    def surplus(self) -> tuple[str, ...]:
        """The tools that nobody calls, of a node of which that is known."""
        known = self.tools if self.evidence is CallEvidence.CALLS else ()
        return tuple(each.name for each in known if not each.is_called)


@value
class FlowPermissions:
    """What the nodes of a flow may do; `tests` are its tests, of which some may fail, `runs` its recorded runs."""

    id: str
    noun: str
    file: str
    nodes: tuple[NodePermissions, ...]
    tests: int
    failing: int
    runs: int = 0
    has_flow: bool = True

    @property
    def has_surplus(self) -> bool:
        """Whether more is allowed than the tests and runs need."""
        return any(each.surplus for each in self.nodes)


@value
class SeenRun:
    """A run of a flow, and what it tells of tools: one of a test, which passes or not, or a recorded one."""

    used: ToolUse
    passes: bool = True
    is_recorded: bool = False


class PermissionCollector:
    """Puts the permissions of flows together; the files tell the lines."""

    def __init__(self, trees: Mapping[str, Tree]) -> None:
        self._trees = trees

    def collect(self, given: FlowRights, runs: tuple[SeenRun, ...]) -> FlowPermissions:
        """Return what the nodes of a flow may do, those inside of agents included."""
        whole = given.whole
        return FlowPermissions(
            id=whole.flow.id,
            noun=whole.flow.names.get("node", "node"),
            file=whole.flow.at.file,
            nodes=tuple(self._collect_node(name, rights, runs) for name, rights in whole.rights.items()),
            tests=sum(not each.is_recorded for each in runs),
            failing=sum(not each.passes for each in runs),
            runs=sum(each.is_recorded for each in runs),
            has_flow=not whole.is_alone,
        )

    def _collect_node(self, name: str, rights: Rights, runs: tuple[SeenRun, ...]) -> NodePermissions:
        called = {tool for run in runs for node, tool in run.used.called if node == name}
        return NodePermissions(
            node=name,
            mode=rights.mode.name if rights.mode is not None else None,
            is_open=rights.is_open,
            without=rights.without,
            tools=tuple(self._collect_tools(name, rights, runs)),
            evidence=_judge_evidence(name, runs),
            asked=sum(each.used.asked.get(name, 0) for each in runs),
            silent=sum(each.used.silent.get(name, 0) for each in runs),
            others=tuple(sorted(tool for tool in called if not any(_covers(each, tool) for each in rights.tools))),
        )

    def _collect_tools(self, name: str, rights: Rights, runs: tuple[SeenRun, ...]) -> Iterator[ToolPermission]:
        positions = self._locate([each.at for each in rights.tools])
        is_told = _judge_evidence(name, runs) in _TOLD
        for each in rights.tools:
            callers = [run for run in runs if _calls(name, each, run.used)]
            recorded = sum(run.is_recorded for run in callers)
            yield ToolPermission(
                name=each.name,
                labels=tuple(sorted(rights.labels_of(each))),
                teller=each.labelled.teller,
                at=each.at,
                position=positions.get(each.at, START.start),
                is_program=each.is_program,
                tests=len(callers) - recorded if is_told else None,
                runs=recorded if is_told else None,
            )

    def _locate(self, places: Iterable[Place]) -> Mapping[Place, Position]:
        found: dict[Place, Position] = {}
        by_file: dict[str, list[Place]] = {}
        for each in places:
            by_file.setdefault(each.file, []).append(each)
        for file, inside in by_file.items():
            tree = self._trees.get(file)
            spans = tree.format.locate(tree.data, inside) if tree is not None else {}
            found.update({at: span.start for at, span in spans.items()})
        return found


_TOLD = (CallEvidence.CALLS, CallEvidence.NOT_SEEN)


def _judge_evidence(name: str, runs: tuple[SeenRun, ...]) -> CallEvidence:
    """Return what is known of the calls of a node; one answer that does not say what was called leaves it open."""
    if not runs:
        return CallEvidence.NO_TESTS
    if not any(each.used.has_come_to(name) for each in runs):
        return CallEvidence.NOT_RUN
    return CallEvidence.NOT_SEEN if any(each.used.silent.get(name) for each in runs) else CallEvidence.CALLS


def _calls(node: str, right: Right, used: ToolUse) -> bool:
    if right.is_program:
        return node in used.ran
    return any(name == node and _covers(right, tool) for name, tool in used.called)


def _covers(right: Right, tool: str) -> bool:
    """Tell whether what is allowed is a tool, all tools of its server, or a pattern that its name fits."""
    allowed = right.name
    return tool == allowed or fnmatchcase(tool, allowed) or (_is_server(allowed) and tool.startswith(f"{allowed}__"))


def _is_server(name: str) -> bool:
    return name.startswith(_OF_SERVER) and _PART not in name.removeprefix(_OF_SERVER)


_OF_SERVER, _PART = "mcp__", "__"


def list_least(given: FlowPermissions) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what the tests and runs of a flow need, by the nodes of which that is known."""
    for each in given.nodes:
        if each.evidence is CallEvidence.CALLS:
            yield each.node, each.least
