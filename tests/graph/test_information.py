"""What can be read before something is sent: compared with runs that are followed step by step, to no end."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from random import Random

from campaigns import choose

from stagec.core.place import Place
from stagec.ir.flow import Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.graph.information import DECIDED, PRIVATE, SWAYED, UNTRUSTED, InformationFlow
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Named, Outcome, Schedule, Stop, Target, list_targets
from stagec.ir.rights import Label

AT = Place("flow.yaml")
FLOWS = choose(400, whole=4_000)
BIT = {Label.PRIVATE: PRIVATE, Label.UNTRUSTED: UNTRUSTED}


def make_flow(chance: Random) -> tuple[Flow, dict[str, frozenset[Label]], frozenset[str]]:
    """Return a random flow with forks, chains, joins, loops and dead ends, the labels of its nodes, and programs."""
    names = [f"n{number}" for number in range(chance.randint(1, 7))]
    nodes = {}
    for name in names:
        edges = [WrittenEdge(name, Edge(str(at), make_target(names, chance)), AT) for at in range(chance.randint(0, 3))]
        nodes[name] = FlowNode(name, AT, edges=tuple(edges))
    labels = {name: frozenset(each for each in Label if chance.random() < 0.3) for name in names}
    opened = frozenset(name for name in names if chance.random() < 0.03)
    flow = Flow("random", AT, {"": Entry(names[0], AT)}, nodes, open=opened)
    return flow, labels, frozenset(name for name in names if chance.random() < 0.2)


def make_target(names: list[str], chance: Random) -> Target:
    kind = chance.random()
    if kind < 0.25:
        return Stop(chance.choice((Outcome.DONE, Outcome.DONE, Outcome.FAILED)))
    some = tuple(chance.sample(names, min(len(names), chance.randint(2, 3))))
    if kind < 0.7 or len(some) < 2:
        return Go(chance.choice(names))
    if kind < 0.75:
        return Named({each: each for each in some})
    rest = [each for each in names if each not in some]
    if kind < 0.9:
        return Fork(some, chance.choice(rest) if rest and chance.random() < 0.8 else None)
    return Chain(some)


class Runs:
    """Every run of a flow, followed with what has been read so far, in rounds until nothing new happens."""

    def __init__(self, flow: Flow, labels: dict[str, frozenset[Label]], fixed: frozenset[str]) -> None:
        self.flow = flow
        self.fixed = fixed
        self.labels = labels
        self.begun: set[tuple[str, int]] = {(entry.node, 0) for entry in flow.entries.values()}
        self.ended: dict[tuple[str, int], set[int]] = {}
        size = -1
        while size != (size := self.measure()):
            for state in list(self.begun):
                self.ended.setdefault(state, set()).update(self.follow(*state))

    def measure(self) -> int:
        return len(self.begun) + sum(map(len, self.ended.values()))

    def read(self, node: str, known: int) -> int:
        after = known | sum(bit for label, bit in BIT.items() if label in self.labels[node])
        if node in self.fixed:
            return after
        return after | DECIDED | (SWAYED if after & UNTRUSTED else 0)

    def begin(self, node: str, known: int) -> set[int]:
        self.begun.add((node, known))
        return self.ended.get((node, known), set())

    def follow(self, node: str, known: int) -> set[int]:
        after = self.read(node, known)
        for each in self.flow.nodes if node in self.flow.open and self.flow.nodes[node].edges else ():
            self.begin(each, after)
        return set[int]().union(*(self.take(edge.target, after) for edge in self.flow.nodes[node].edges))

    def take(self, target: Target, after: int) -> set[int]:
        if isinstance(target, Stop):
            return {after} if target.outcome is Outcome.DONE else set()
        if isinstance(target, Chain):
            so_far = {after}
            for each in target.nodes:
                so_far = set[int]().union(*(self.begin(each, one) for one in so_far))
            return so_far
        if not isinstance(target, Fork):
            return set[int]().union(*(self.begin(each, after) for each in list_targets(target)))
        met = {max_of(combined) for combined in product(*(self.begin(each, after) for each in target.nodes))}
        return met if target.join is None else set[int]().union(*(self.begin(target.join, one) for one in met))


def max_of(each: tuple[int, ...]) -> int:
    found = 0
    for one in each:
        found |= one
    return found


def test_the_senders_are_those_of_runs_that_are_followed() -> None:
    counted = 0
    for seed in range(FLOWS):
        flow, labels, fixed = make_flow(Random(seed))
        runs = Runs(flow, labels, fixed)
        senders = {(node, runs.read(node, known)) for node, known in runs.begun if Label.SEND in labels[node]}
        expected = {node for node, after in senders if after & PRIVATE and after & SWAYED}
        ways = InformationFlow(flow, labels, fixed)
        found = [ways.describe(each) for each in ways.find_senders()]
        assert {each.sender for each in found} == expected, seed
        assert len(found) == len(expected)
        counted += len(expected)
        for leak in found:
            assert Label.PRIVATE in labels[leak.private]
            assert Label.UNTRUSTED in labels[leak.untrusted]
            assert {leak.private, leak.untrusted} <= {each.node for each in leak.way}
    assert counted > FLOWS / 8


def test_of_a_schedule_counts_what_a_stage_needs_and_nothing_beside_it() -> None:
    labels = {"p": frozenset({Label.PRIVATE}), "u": frozenset({Label.UNTRUSTED}), "s": frozenset({Label.SEND})}
    nodes = {name: FlowNode(name, AT) for name in (*labels, "n")}
    for needs, expected in (
        ({"p": "", "u": "", "s": "pu"}, ["s"]),
        ({"p": "", "u": "p", "s": "u"}, ["s"]),
        ({"p": "", "u": "", "n": "pu", "s": "n"}, ["s"]),
        ({"p": "", "u": "", "s": "p"}, []),
        ({"p": "s", "u": "s", "s": ""}, []),
    ):
        schedule = Schedule({name: tuple(needed) for name, needed in needs.items()})
        flow = Flow("plan", AT, {}, nodes, schedules={"": schedule})
        assert list(InformationFlow(flow, labels).find_senders()) == expected, needs


DONE = Stop(Outcome.DONE)


def test_a_way_is_as_short_as_it_can_be_and_goes_through_what_ran_in_parallel() -> None:
    def lead(name: str, target: Target = DONE) -> FlowNode:
        return FlowNode(name, AT, edges=(WrittenEdge(name, Edge("ok", target), AT),))

    nodes = [lead("a", Fork(("p", "u"), "s")), lead("p"), lead("u"), lead("s", Go("t")), lead("t")]
    labels = {"p": frozenset({Label.PRIVATE}), "u": frozenset({Label.UNTRUSTED})}
    labels |= dict.fromkeys(("s", "t"), frozenset({Label.SEND}))
    flow = Flow("fork", AT, {"": Entry("a", AT)}, {each.id: each for each in nodes})
    ways = InformationFlow(flow, labels)
    first, second = (ways.describe(each) for each in ways.find_senders())
    assert [each.node for each in first.way] == ["u", "p", "s"]
    assert [each.node for each in second.way] == ["u", "p", "s", "t"]


def test_the_join_of_a_fork_of_one_knows_what_its_branch_has_read() -> None:
    targets = {"a": Fork(("p",), "u"), "p": DONE, "u": Go("s"), "s": DONE}
    nodes = {
        name: FlowNode(name, AT, edges=(WrittenEdge(name, Edge("ok", each), AT),)) for name, each in targets.items()
    }
    labels = {"p": frozenset({Label.PRIVATE}), "u": frozenset({Label.UNTRUSTED}), "s": frozenset({Label.SEND})}
    assert InformationFlow(Flow("fork", AT, {"": Entry("a", AT)}, nodes), labels).find_senders() == ("s",)


def test_a_fork_waits_once_for_all_its_branches() -> None:
    names = [f"n{number}" for number in range(3_000)]
    leaves = {
        name: FlowNode(name, AT, edges=(WrittenEdge(name, Edge("ok", Stop(Outcome.DONE)), AT),))
        for name in (*names, "j")
    }
    fork = FlowNode("r", AT, edges=(WrittenEdge("r", Edge("ok", Fork(tuple(names), "j")), AT),))
    kinds = (frozenset({Label.PRIVATE}), frozenset({Label.UNTRUSTED}))
    labels = {name: kinds[at % 2] for at, name in enumerate(names)} | {"j": frozenset({Label.SEND})}
    for nodes in ({"r": fork, **leaves}, {**leaves, "r": fork}):
        ways = Counted(Flow("wide", AT, {"": Entry("r", AT)}, nodes), labels)
        assert ways.find_senders() == ("j",)
        assert ways.asked < 5 * len(names)


class Counted(InformationFlow):
    """Counts how often what follows an edge is asked for."""

    asked = 0

    def _end(self, edge: WrittenEdge, found: Mapping[str, frozenset[int]]) -> frozenset[int]:
        self.asked += 1
        return super()._end(edge, found)
