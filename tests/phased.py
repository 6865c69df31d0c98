"""Plans of orchestrators made by hand: phases, and agents that are small plans of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stagec.core.canonical import canonical
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Choice, Delegate, Given, Hole, Prompt, Rest, Template, Text
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Contents, Input, Limits, Names, Phases
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import AgentGate, IntentGate, RestGate
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Stop

_ANSWER = '{"type":"object","required":["do"],"properties":{"do":{"enum":["next","repeat","closing"]}}}'
_OTHERWISE = "otherwise"


def make_agent(name: str, limit: int = 4) -> Plan:
    """Make an agent of two steps: `work` leads to `close` or is repeated, and `close` ends the run or is repeated."""
    contents = Contents()
    schema = contents.add(_ANSWER)

    def step(text: str) -> Prompt:
        return Prompt(
            (Text(contents.add(text)), Hole(("variable", "issue"))), variables={"issue": Given("issue")}, schema=schema
        )

    field = ("do",)
    plan = Plan(
        id=name,
        names=Names("step", "intent"),
        entries={"": "work"},
        entry="",
        contents=contents.texts,
        limits=Limits(limit),
        inputs={"issue": Input(required=True)},
        nodes={
            "work": Node(
                step(f"{name} works on "),
                IntentGate(field, ("next", "repeat")),
                (Edge("next", Go("close")), Edge("repeat", Go("work"))),
            ),
            "close": Node(
                step(f"{name} closes "),
                IntentGate(field, ("closing", "repeat"), handoff=(("summary",),)),
                (Edge("closing", Stop(Outcome.DONE)), Edge("repeat", Go("close"))),
                kind="closure",
            ),
        },
    )
    return replace(plan, facts=facts(plan))


@value
class Worker:
    """A phase in which an agent works: its role, and the phases by outcome; `otherwise` is where all others lead."""

    agent: str
    role: str
    ways: Mapping[str, str]
    otherwise: str | None = None
    verdicts: bool = False
    comments: Mapping[str, str] = NOTHING
    closes: bool = False
    condition: str | None = None


def make_phases(
    workers: Mapping[str, Worker],
    ends: Mapping[str, Outcome],
    phases: Phases,
    agents: Sequence[Plan],
) -> Plan:
    """Make the plan of an orchestrator."""
    contents = Contents()
    plans = {each.id: contents.add(canonical(write(each)).decode()) for each in agents}
    nodes = {name: _make_worker(each, contents) for name, each in workers.items()}
    nodes |= {name: _make_rest(outcome) for name, outcome in ends.items()}
    labelled = {label: phase for phase, labels in phases.labels.items() for label in labels}
    plan = Plan(
        id="orchestrator",
        names=Names("phase", "outcome"),
        entries=labelled,
        contents=contents.texts,
        limits=Limits(phases.most + 1),
        inputs={"issue": Input(required=True)},
        nodes=nodes,
        plans=plans,
        phases=phases,
    )
    return replace(plan, facts=facts(plan))


def every_member() -> Plan:
    """Make an orchestrator in which every member occurs that plans of orchestrators have."""
    fixer = Worker("fixer", "transformer", {"success": "done", "stale": "fix"}, "stuck", verdicts=True)
    labels = {"fix": ("fix",), "done": ("done",)}
    plan = make_phases(
        {"fix": fixer},
        {"done": Outcome.DONE, "stuck": Outcome.BLOCKED},
        Phases(3, 2, 10, labels=labels, ordering=("order:1",)),
        (make_agent("fixer"),),
    )
    node = plan.nodes["fix"]
    edges = (*node.edges[:-1], Edge("any other", node.edges[-1].target))
    gate = AgentGate("transformer", ("success", "stale"), "any other", verdicts=True)
    act = Delegate("fixer", closes=True, condition="success")
    return replace(plan, nodes={**plan.nodes, "fix": replace(node, act=act, gate=gate, edges=edges)})


def _make_worker(worker: Worker, contents: Contents) -> Node:
    other = Stop(Outcome.FAILED) if worker.otherwise is None else Go(worker.otherwise)
    edges = tuple(Edge(outcome, Go(phase)) for outcome, phase in worker.ways.items())
    comments = {outcome: _make_comment(text, contents) for outcome, text in worker.comments.items()}
    return Node(
        Delegate(worker.agent, comments, worker.closes, worker.condition),
        AgentGate(worker.role, tuple(worker.ways), verdicts=worker.verdicts),
        (*edges, Edge(_OTHERWISE, other)),
        kind="work",
    )


def _make_comment(text: str, contents: Contents) -> Template:
    hole = ("handoff", "summary")
    return (Text(contents.add(text)), Choice(hole, (Hole(hole),), (Text(contents.add("{summary}")),)))


def _make_rest(outcome: Outcome) -> Node:
    said = "completed" if outcome is Outcome.DONE else "blocked"
    return Node(Rest(), RestGate(said), (Edge(said, Stop(outcome)),))


def issue_flow(most: int = 5, row: int = 0) -> Plan:
    """Make an orchestrator of a builder and a reviewer: an issue is built, reviewed, and built again or done."""
    return make_phases(
        {
            "build": Worker("builder", "transformer", {"success": "review"}, "stuck", closes=True),
            "review": Worker(
                "reviewer",
                "validator",
                {"approved": "done", "rejected": "build"},
                "stuck",
                comments={"rejected": "Rejected: "},
                closes=True,
                condition="approved",
            ),
        },
        {"done": Outcome.DONE, "stuck": Outcome.BLOCKED},
        Phases(
            most,
            row,
            labels={"build": ("kind:build", "kind:code"), "review": ("review",), "done": ("done",), "stuck": ("help",)},
            ordering=("order:1", "order:2"),
        ),
        (make_agent("builder"), make_agent("reviewer")),
    )
