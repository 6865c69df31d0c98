"""No run completes, whatever is answered.

stagec plays all runs on the machine that also runs plans, with answers and inputs that satisfy their schemas. This
error names what ends the runs that come furthest.

## Why this matters
Each run fails or goes on until it reaches its bound. No model and no person can help that.

## How to fix
Change what ends the runs: raise the bound, let the judge of the work accept an answer that the schema allows, or add an
outcome that completes the run.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.model.flow import Flow
from stagec.model.witness import LostEntry, SearchedFlow
from stagec.rules.witness import locate_beginning, name_beginnings, rule

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
    "unfit-inputs": "no value satisfies the schema of the required input {detail}",
}
"""What ends all runs, by the kind."""


@rule(since="0.1", origin=("steps-registry:beyond.livelock", "rulings:R23"))
def check(searched: SearchedFlow) -> Iterator[Finding]:
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
    node = f"{flow.names.get('node', 'node')} {quote(lost.node)}"
    why = _WHY.get(lost.kind, "{node} fails in every run ({kind}): {detail}")
    detail = quote(lost.detail) if lost.kind == "unfit-inputs" else lost.detail
    return why.format(node=node, detail=detail, kind=lost.kind).removesuffix(": ")


def _locate(flow: Flow, lost: LostEntry) -> Place:
    """Return where it is written what ends all runs."""
    if lost.kind in _BOUNDS and flow.bound is not None:
        return flow.bound.at
    node = flow.nodes.get(lost.node)
    return locate_beginning(flow, lost) if node is None else node.at
