"""What the nodes of flows may do, and what of it their tests call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from stagec.core.place import START, Place, Position
from stagec.core.value import value
from stagec.flow_tests.execution import Observation
from stagec.frontends import FlowRights
from stagec.model.rights import Label, Rights, Teller
from stagec.plan import Plan
from stagec.plan.act import Converse
from stagec.sources.tree import Tree


class CallEvidence(StrEnum):
    """What the tests of a flow tell about the tools of a node."""

    CALLS = "calls"
    NOT_RUN = "not run"
    NOT_SEEN = "not seen"
    NO_TESTS = "no tests"


@value
class ToolPermission:
    """A tool that a node may call: what it reads and does, who says so, where that is allowed, how many tests call it.

    `tests` is None where the tests cannot tell.
    """

    name: str
    labels: tuple[Label, ...]
    teller: Teller
    at: Place
    position: Position
    is_program: bool
    tests: int | None


@value
class NodePermissions:
    """What a node may do; `is_open` tells that nobody limits its tools."""

    node: str
    mode: str | None
    is_open: bool
    tools: tuple[ToolPermission, ...]
    evidence: CallEvidence

    @property
    def least(self) -> tuple[str, ...]:
        """The tools without which some test would not pass."""
        return tuple(each.name for each in self.tools if each.tests)

    @property
    def surplus(self) -> tuple[str, ...]:
        """The tools that no test calls, of a node that tests run."""
        return tuple(each.name for each in self.tools if each.tests == 0)


@value
class FlowPermissions:
    """What the nodes of a flow may do; `tests` are its tests, of which some may fail."""

    id: str
    noun: str
    file: str
    nodes: tuple[NodePermissions, ...]
    tests: int
    failing: int

    @property
    def has_surplus(self) -> bool:
        """Whether more is allowed than the tests need."""
        return any(each.surplus for each in self.nodes)


@value
class TestedRun:
    """What came of a test of a flow, and whether it passes."""

    plan: Plan
    found: Observation
    passes: bool


class PermissionCollector:
    """Puts the permissions of flows together; the files tell the lines."""

    def __init__(self, trees: Mapping[str, Tree]) -> None:
        self._trees = trees

    def collect(self, given: FlowRights, runs: tuple[TestedRun, ...]) -> FlowPermissions:
        """Return what the nodes of a flow may do, those inside of agents included."""
        whole = given.whole
        nodes = tuple(self._collect_node(name, rights, runs) for name, rights in whole.rights.items())
        failing = sum(not each.passes for each in runs)
        return FlowPermissions(
            whole.flow.id, whole.flow.names.get("node", "node"), whole.flow.at.file, nodes, len(runs), failing
        )

    def _collect_node(self, name: str, rights: Rights, runs: tuple[TestedRun, ...]) -> NodePermissions:
        evidence = _judge_evidence(name, runs)
        positions = self._locate([each.at for each in rights.tools])
        tools = tuple(
            ToolPermission(
                name=each.name,
                labels=tuple(sorted(rights.labels_of(each))),
                teller=each.labelled.teller,
                at=each.at,
                position=positions.get(each.at, START.start),
                is_program=each.is_program,
                tests=sum((name, each.name) in run.found.called for run in runs)
                if evidence is CallEvidence.CALLS
                else None,
            )
            for each in rights.tools
        )
        mode = rights.mode.name if rights.mode is not None else None
        return NodePermissions(name, mode, rights.is_open, tools, evidence)

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


def _judge_evidence(name: str, runs: tuple[TestedRun, ...]) -> CallEvidence:
    """Return what tests tell: the tools of steps are called where no test sees it, those of stages by the machine."""
    if not runs:
        return CallEvidence.NO_TESTS
    node = runs[0].plan.nodes.get(name)
    if node is None or not isinstance(node.act, Converse):
        return CallEvidence.NOT_SEEN
    return CallEvidence.CALLS if any(name in each.found.touched for each in runs) else CallEvidence.NOT_RUN


def list_least(given: FlowPermissions) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what the tests of a flow need, by the nodes that they run and whose calls they see."""
    for each in given.nodes:
        if each.evidence is CallEvidence.CALLS:
            yield each.node, each.least
