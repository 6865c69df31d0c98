"""Schedules of stages, and the agents and phases of an orchestrator."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from stagec.core.json import object_of
from stagec.core.place import Pointer
from stagec.core.precedence import components, find_unrelated, repeats
from stagec.core.words import listing, quote
from stagec.ir.plan.act import Delegate, Process, ProcessInput, Rest
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import AgentGate, RestGate
from stagec.ir.plan.node import Go, Node, Outcome, Schedule, Stop, list_begun, list_targets
from stagec.ir.protocol.stage_ids import PathCheck, find_path_fault

_SCHEDULES_ENDS: Mapping[str, Outcome] = {
    "success": Outcome.DONE,
    "failure": Outcome.FAILED,
    "interrupted": Outcome.INTERRUPTED,
}
"""The end of a process's branch, by its outcome."""
_ENTRIES, _NODES = "entries", "nodes"
_LONGEST = 255
"""Bytes that the name of a file has at most."""
_FORBIDDEN = frozenset("/\\\0")
"""Characters that no file name can have on every system."""
_TAKEN = frozenset({"checkpoints", "run.log"})
"""Names in the directory of a run that no node may have."""


Flaw = tuple[Pointer, str]


def find_schedule_flaws(plan: Plan) -> Iterator[Flaw]:
    """Yield every promise that a schedule, or a process in one, breaks; linear but for inputs from far away."""
    for at, schedule in _schedules(plan):
        yield from _look_at_needs(schedule, at)
    processes = {name: node for name, node in plan.nodes.items() if type(node.act) is Process}
    if processes:
        for name, node in processes.items():
            yield from (((_NODES, name, *at), why) for at, why in _look_at_process(name, node))
        yield from _look_at_places(plan, processes)


def _schedules(plan: Plan) -> Iterator[tuple[Pointer, Schedule]]:
    for name, entry in plan.entries.items():
        if type(entry) is Schedule:
            yield (_ENTRIES, name), entry
    for name, node in plan.nodes.items():
        for index, edge in enumerate(node.edges):
            if type(edge.target) is Schedule:
                yield (_NODES, name, "edges", index, "target"), edge.target


def _look_at_needs(schedule: Schedule, at: Pointer) -> Iterator[Flaw]:
    """Look whether what nodes need is in the schedule and can come first."""
    needs = schedule.needs
    for name, needed in needs.items():
        strays = [each for each in needed if each not in needs]
        if strays:
            yield (*at, "needs", name), f"has {listing(strays)}, which the schedule has not"
        if len({*needed}) < len(needed):
            yield (*at, "needs", name), "has a node twice"
    index = {name: place for place, name in enumerate(needs)}
    before = [[index[each] for each in needed if each in index] for needed in needs.values()]
    names = tuple(needs)
    for found in components(before):
        if repeats(before, found):
            yield (*at, "needs"), f"lets {listing([names[each] for each in found])} wait for each other"


def _look_at_places(plan: Plan, processes: Mapping[str, Node]) -> Iterator[Flaw]:
    """Look whether processes begin in schedules that are entries, beside nothing else, and read what is there then."""
    for name, node in plan.nodes.items():
        for index, edge in enumerate(node.edges):
            yield from _look_at_led((_NODES, name, "edges", index, "target"), list_targets(edge.target), processes)
    for name, choices in plan.choices.items():
        yield from _look_at_led(("choices", name), tuple(choices.values()), processes)
    for name, entry in plan.entries.items():
        if processes.keys().isdisjoint(list_begun(entry)):
            continue
        if type(entry) is not Schedule or not processes.keys() >= entry.needs.keys():
            yield (_ENTRIES, name), "begins a node whose act is 'process' outside of a schedule of such nodes alone"
            continue
        if plan.limits.executions is not None and plan.limits.executions < len(entry.needs):
            yield ("limits", "executions"), f"is smaller than the number of nodes in the schedule {quote(name)}"
        yield from _look_at_sources(plan, entry)


def _look_at_led(at: Pointer, named: Iterable[str], processes: Mapping[str, Node]) -> Iterator[Flaw]:
    led = sorted({each for each in named if each in processes})
    if led:
        yield at, f"leads to {listing(led)}, of which the act is 'process'"


def _look_at_sources(plan: Plan, schedule: Schedule) -> Iterator[Flaw]:
    """Look whether what processes read of others is an output of one that has completed before."""
    index = {name: place for place, name in enumerate(schedule.needs)}
    before = [[index[each] for each in needed if each in index] for needed in schedule.needs.values()]
    reads = {
        (index[name], index.get(given.node, -1)): (name, key)
        for name in schedule.needs
        for key, given in _inputs(plan, name)
        if given.node is not None
    }
    strays = {pair for pair in reads if pair[1] < 0}
    order = [each for found in components(before) for each in found]
    for pair in sorted(strays | find_unrelated(before, order, reads.keys() - strays)):
        name, key = reads[pair]
        yield (_NODES, name, "act", "inputs", key), "is an output of a node that this one does not need"
    made = {
        name: frozenset(node.act.outputs.values()) for name, node in plan.nodes.items() if type(node.act) is Process
    }
    for name in schedule.needs:
        for key, given in _inputs(plan, name):
            if given.node in made and given.path not in made[given.node]:
                yield (_NODES, name, "act", "inputs", key), f"is not an output of {quote(str(given.node))}"


def _inputs(plan: Plan, name: str) -> Iterator[tuple[str, ProcessInput]]:
    act = plan.nodes[name].act
    yield from act.inputs.items() if type(act) is Process else ()


def _look_at_process(name: str, node: Node) -> Iterator[Flaw]:
    """Look whether a process has a directory, comes to an end, and reads and writes where it may."""
    act = node.act
    if type(act) is not Process:
        return
    if not _is_part(name) or name.startswith(".") or name in _TAKEN:
        yield (), "has a name that no directory of a stage can have"
    yield from _look_at_ends(node)
    for member in ("admission", "validation", "hooks"):
        if getattr(node, member):
            yield (member,), "is not for a process"
    if node.retry is not None and not act.retryable:
        yield ("retry",), "is not for a process that is not retryable"
    limits = act.limits
    if not limits.warn <= limits.interrupt <= limits.terminate <= limits.kill:
        yield ("act", "limits"), "are not in their order"
    for key, given in act.inputs.items():
        yield from ((("act", "inputs", key), why) for why in _judge_input(given))
    yield from _look_at_outputs(act.outputs)


def _look_at_ends(node: Node) -> Iterator[Flaw]:
    for index, edge in enumerate(node.edges):
        if type(edge.target) is not Stop or edge.when or _SCHEDULES_ENDS.get(edge.on) is not edge.target.outcome:
            yield ("edges", index), "does not end the branch of a process as its outcome says"


def _judge_input(given: ProcessInput) -> Iterator[str]:
    if (given.path is None) == (given.url is None) or (given.path is None and given.node is not None):
        yield "must have a 'path' or a 'url', and a 'node' only with a path"
    elif given.path is not None and not _is_safe(given.path):
        yield "has a path that may lead out of its directory"


def _look_at_outputs(outputs: Mapping[str, str]) -> Iterator[Flaw]:
    """Look whether the outputs of a process are different files below its directory."""
    paths = set(outputs.values())
    if len(paths) < len(outputs):
        yield ("act", "outputs"), "has a path twice"
    for key, path in outputs.items():
        if not _is_safe(path):
            yield ("act", "outputs", key), "has a path that may lead out of the directory of the stage"
        elif any(path[:place] in paths for place, sign in enumerate(path) if sign == "/"):
            yield ("act", "outputs", key), "is below another output"


def _is_safe(path: str) -> bool:
    """Tell whether the rules of stage plans accept a path, which is written in its shortest form."""
    fault = find_path_fault(path)
    return "" not in path.split("/") and (fault is None or fault.check is PathCheck.PORTABILITY)


def _is_part(part: str) -> bool:
    """Tell whether a text can be the name of one file on every system, and no way to another directory."""
    is_named = part not in {"", ".", ".."} and _FORBIDDEN.isdisjoint(part)
    return is_named and part.isprintable() and len(part.encode(errors="replace")) <= _LONGEST


SUCCESS, TRANSFORMER = "success", "transformer"
_AGENTS_ENDS = (Outcome.DONE, Outcome.BLOCKED)


def read_turns(payload: str) -> int:
    """Return how many turns of models the facts in a payload name; 0 where they name none."""
    try:
        told = object_of(object_of(json.loads(payload)).get("facts")).get("turns")
    except (ValueError, RecursionError):
        return 0
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else 0


def list_phase_outcomes(gate: AgentGate | RestGate) -> tuple[str, ...]:
    """Return the outcomes of a phase."""
    return (*gate.outcomes, gate.otherwise) if isinstance(gate, AgentGate) else (gate.outcome,)


def find_unfit_agent(plan: Plan) -> Iterator[str]:
    """Yield why a plan cannot be that of an agent."""
    if plan.phases is not None or plan.plans:
        yield "has agents itself"
    if any(isinstance(node.act, Process) for node in plan.nodes.values()):
        yield "has stages that are processes"
    if plan.entry is None:
        yield "has no 'entry'"


def find_phase_flaws(plan: Plan) -> Iterator[Flaw]:
    """Yield every promise about agents and phases that a plan breaks."""
    phased = [name for name, node in plan.nodes.items() if isinstance(node.act, Delegate | Rest)]
    if plan.phases is None:
        if phased or plan.plans:
            yield (), "lacks 'phases', but has agents or phases"
        return
    others = [name for name in plan.nodes if name not in frozenset(phased)]
    if others:
        yield ("phases",), f"cannot hold of {listing(others)}, which are not phases"
    for name, begun in plan.entries.items():
        if not isinstance(begun, str):
            yield ("entries", name), "is a schedule, and phases follow one another"
    for name in phased:
        yield from _look_at_phase(plan.nodes[name], name)


def _look_at_phase(node: Node, name: str) -> Iterator[Flaw]:
    """Look whether each edge of a phase is one that runs of phases have, and that nothing stands around its act."""
    at, is_agent = ("nodes", name), isinstance(node.act, Delegate)
    if type(node.gate) is AgentGate:
        if node.gate.otherwise in node.gate.outcomes:
            yield (*at, "gate"), "has 'otherwise' among its 'outcomes'"
        if node.gate.role == TRANSFORMER and SUCCESS not in node.gate.outcomes:
            yield (*at, "gate"), f"lacks {SUCCESS!r} among its 'outcomes'"
    if any((node.admission, node.retry, node.validation, node.hooks)):
        yield at, "has an admission, a retry, a validation or hooks, and is a phase"
    for index, edge in enumerate(node.edges):
        target = edge.target
        leads_on = type(target) is Go and target.otherwise is None
        ends = type(target) is Stop and target.outcome in ((Outcome.FAILED,) if is_agent else _AGENTS_ENDS)
        if edge.when or not (ends or (is_agent and leads_on)):
            yield (*at, "edges", index), "is none that a phase can have"
