"""STG650-STG699: flows of which the machine completes no run, or in none takes some way, as a search has found."""

from collections.abc import Iterable, Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import listing, quote
from stagec.ir.flow import Flow, LostEntry, SearchedFlow, UntakenWay, WrittenEdge
from stagec.ir.plan.node import list_targets

FAMILY = Family(__name__, (range(650, 700),), SearchedFlow)
rule = FAMILY.rule


def name_beginnings(flow: Flow, lost: Iterable[LostEntry]) -> str:
    """Return the nodes with which runs from some entries begin, as a part of a sentence."""
    names = (entry.node for each in lost for entry in flow.list_begun(each.entry))
    return listing(dict.fromkeys(names), "or")


def locate_beginning(flow: Flow, lost: LostEntry) -> Place:
    """Return the place that makes runs begin there."""
    return next((entry.at for entry in flow.list_begun(lost.entry)), flow.at)


_SHOWN = 8
_BOUNDS = frozenset({"bound-reached", "cycle-exceeded", "phase-repetition-exceeded"})


_WHY = {
    "": "runs only repeat, and none of them leads to completion",
    "bound-reached": "every run reaches its bound first: {detail}",
    "cycle-exceeded": "every run has had all its transitions first: {detail}",
    "phase-repetition-exceeded": "every run leads to the same phase too often in a row: {detail}",
    "adaptation-chain-exhausted": "{node} repeats itself more often than its chain of repeats allows: {detail}",
    "gate-unresolved": "{node} never passes its gate: {detail}",
    "judged-as-fail": "every result of {node} is judged as failed",
    "stopped": "runs end as failed after {node}: {detail}",
    "phase-blocked": "{node} blocks the run",
    "no-edge": "no edge leads on from {node}: {detail}",
    "invalid-answer": "no answer satisfies the schema of {node}",
    "turn-cap": "{node} reaches its cap of turns: {detail}",
    "judge-never-satisfied": "no answer satisfies both its schema and the judge of the work ({detail})",
    "no-answer": "every answer that satisfies the schema takes another edge",
    "unfit-inputs": "no value satisfies the schema of the required input {detail}",
}
"""The reason why all runs end, by its kind."""


@rule(since="0.1", origin=("steps-registry:beyond.livelock", "rulings:R23"))
def stg650_no_completed_run(searched: SearchedFlow) -> Iterator[Finding]:
    """No run completes, whatever is answered.

    stagec plays all runs on the machine that also runs plans, with answers and inputs that satisfy their schemas. This
    error names what ends the runs that come furthest.

    ## Why this matters
    Each run fails or goes on until it reaches its bound. No model and no person can help that.

    ## How to fix
    Remove the reason: raise the bound, let the judge accept an answer that the schema allows, or add an outcome that
    completes the run.
    """
    groups: dict[tuple[str, str], list[LostEntry]] = {}
    for each in searched.lost:
        if not each.open:
            groups.setdefault((each.kind, each.node), []).append(each)
    for lost in groups.values():
        at = _locate(searched.flow, lost[0])
        begun = [place for each in lost[:_SHOWN] if (place := locate_beginning(searched.flow, each)) != at]
        message = f"no run from {name_beginnings(searched.flow, lost)} completes: {_explain(searched.flow, lost[0])}"
        yield Finding(at, message, tuple(Related(each, "a run begins here") for each in dict.fromkeys(begun)))


def _explain(flow: Flow, lost: LostEntry) -> str:
    return _say_why(lost, f"{flow.names.get('node', 'node')} {quote(lost.node)}")


def _say_why(lost: LostEntry | UntakenWay, node: str) -> str:
    why = _WHY.get(lost.kind, "{node} fails in every run ({kind}): {detail}")
    detail = quote(lost.detail) if lost.kind == "unfit-inputs" else lost.detail
    return why.format(node=node, detail=detail, kind=lost.kind).removesuffix(": ")


def _locate(flow: Flow, lost: LostEntry) -> Place:
    """Return the place that ends all runs."""
    if lost.kind in _BOUNDS and flow.bound is not None:
        return flow.bound.at
    node = flow.nodes.get(lost.node)
    return locate_beginning(flow, lost) if node is None else node.at


@rule(since="0.1", origin=("steps-registry:beyond.livelock",), severity=Severity.NOTE)
def stg651_unfinished_search(searched: SearchedFlow) -> Iterator[Finding]:
    """The search for a completed run was given up.

    stagec plays runs on the machine that also runs plans, until one of them completes. The search is limited: it makes
    the same number of steps on every machine.

    ## Why this matters
    Some runs may complete, or none. The other rules of flows have found no reason why none does.

    ## How to fix
    Nothing has to be changed. `stagec verify --witness PLAN` searches for longer.
    """
    given_up = [each for each in searched.lost if each.is_given_up]
    if given_up:
        begun = name_beginnings(searched.flow, given_up)
        message = f"it is not known whether a run from {begun} completes: {given_up[0].open}"
        yield Finding(locate_beginning(searched.flow, given_up[0]), message)


@rule(
    since="0.1",
    origin=("steps-registry:beyond.livelock", "stage-definitions:stage-unreachable"),
    severity=Severity.WARNING,
)
def stg652_untaken_way(searched: SearchedFlow) -> Iterator[Finding]:
    """No run enters a node, passes it, or takes an edge, although the files show a way.

    stagec plays all runs on the machine that also runs plans, with answers and inputs that satisfy their schemas, and
    goes on until each node and each edge is seen. This warning needs a search that has tried everything.

    ## Why this matters
    Some runs complete, but the part of the flow behind this place is never used. Every run ends before it: at a gate
    that always blocks, at a bound, at a join that waits for a stage that never succeeds, or by other edges that take
    every answer.

    ## How to fix
    Remove the reason why runs end there, or delete the part that no run reaches.
    """
    flow = searched.flow
    for way in searched.untaken:
        node = flow.nodes[way.node]
        written = next((each for each in node.edges if each.edge == way.edge), None)
        at = node.at.key if written is None else written.at
        behind = (flow.nodes[each].at.key for each in way.behind[:_SHOWN] if each in flow.nodes and each != way.node)
        related = tuple(Related(each, "no run enters this") for each in behind)
        yield Finding(at, f"{_describe_untaken(flow, way, written)}: {_explain_untaken(way)}", related)


def _describe_untaken(flow: Flow, way: UntakenWay, written: WrittenEdge | None) -> str:
    node = f"{flow.names.get('node', 'node')} {quote(way.node)}"
    if written is None:
        return f"no run gets past {node}" if way.entered else f"no run enters {node}"
    ends = listing(list_targets(written.target), "or")
    return f"no run takes {quote(written.on)} of {node}{f' to {ends}' if ends else ''}"


def _explain_untaken(way: UntakenWay) -> str:
    if way.kind and (way.entered or way.kind in _BOUNDS):
        return _say_why(way, "it")
    return "every run ends before" if way.entered else "a node before it never completes"
