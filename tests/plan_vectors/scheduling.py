"""Say why a plan with schedules or processes is not sound, as § 2.4 of the page says: slow, by following every way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plan_vectors.references import targets

Json = Mapping[str, Any]
_ENDS = {"success": "done", "failure": "failed", "interrupted": "interrupted"}
_LIMITS = ("warn", "interrupt", "terminate", "kill")
_LONGEST = 255


def unsound_schedules(plan: Json) -> Iterator[str]:
    """Yield a sentence for each way in which schedules and processes are not sound."""
    nodes = plan["nodes"]
    processes = {name for name, node in nodes.items() if node["act"]["is"] == "process"}
    entries = [entry for entry in plan["entries"].values() if isinstance(entry, dict)]
    led = [edge["target"] for node in nodes.values() for edge in node["edges"]]
    for schedule in (*entries, *(target for target in led if target["is"] == "schedule")):
        yield from _needs(schedule["needs"])
    named = [each for target in led for each in targets(target)]
    named += [each for choices in plan.get("choices", {}).values() for each in choices.values()]
    named += [entry for entry in plan["entries"].values() if isinstance(entry, str)]
    if processes.intersection(named):
        yield "a process begins outside of schedules"
    for entry in entries:
        yield from _entry(plan, entry["needs"], processes)
    for name in processes:
        yield from (f"{name}: {fault}" for fault in (*_process(name, nodes[name]), *_outputs(nodes[name]["act"])))


def _entry(plan: Json, needs: Json, processes: set[str]) -> Iterator[str]:
    if processes.intersection(needs) and not processes.issuperset(needs):
        yield "a schedule has processes and other nodes"
    elif processes.intersection(needs):
        if plan["limits"].get("executions", len(needs)) < len(needs):
            yield "a schedule has more nodes than may be executed"
        for name in needs:
            yield from _sources(plan, needs, name)


def before(needs: Json, name: str) -> set[str]:
    """Return all that a node needs, be it through others."""
    found: set[str] = set()
    todo = [*needs.get(name, ())]
    while todo:
        each = todo.pop()
        if each not in found:
            found.add(each)
            todo.extend(needs.get(each, ()))
    return found


def _needs(needs: Json) -> Iterator[str]:
    for name, needed in needs.items():
        yield from (f"{each} is not in the schedule" for each in needed if each not in needs)
        if len({*needed}) < len(needed):
            yield f"{name} needs a node twice"
        if name in before(needs, name):
            yield f"{name} needs itself"


def _sources(plan: Json, needs: Json, name: str) -> Iterator[str]:
    for given in plan["nodes"][name]["act"].get("inputs", {}).values():
        if "node" not in given:
            continue
        if given["node"] not in before(needs, name):
            yield f"{name} reads what it does not need"
        elif given.get("path") not in plan["nodes"][given["node"]]["act"].get("outputs", {}).values():
            yield f"{name} reads what is no output"


def _process(name: str, node: Json) -> Iterator[str]:
    act = node["act"]
    if not _is_part(name) or name.startswith(".") or name in {"checkpoints", "run.log"}:
        yield "the name is none of a directory"
    for edge in node["edges"]:
        if edge["target"] != {"is": "stop", "outcome": _ENDS.get(edge["on"])} or edge.get("when"):
            yield "an edge does not end the branch as it should"
    if any(node.get(member) for member in ("admission", "validation", "hooks")):
        yield "it has what processes do not have"
    if "retry" in node and not act.get("retryable", True):
        yield "it may not be tried again"
    limits = [act["limits"][each] for each in _LIMITS]
    if limits != sorted(limits):
        yield "its limits fall"
    yield from _inputs(act)


def _inputs(act: Json) -> Iterator[str]:
    for given in act.get("inputs", {}).values():
        if ("path" in given) == ("url" in given) or ("node" in given and "path" not in given):
            yield "an input has neither a path nor a URL, or both"
        elif "path" in given and not all(map(_is_part, given["path"].split("/"))):
            yield "an input has a path that leads elsewhere"


def _outputs(act: Json) -> Iterator[str]:
    paths = [*act.get("outputs", {}).values()]
    for path in paths:
        if not all(map(_is_part, path.split("/"))):
            yield "an output has a path that leads elsewhere"
        if paths.count(path) > 1 or any(path.startswith(f"{other}/") for other in paths):
            yield "an output is at or below another one"


def _is_part(part: str) -> bool:
    is_name = part not in {"", ".", ".."} and not {"/", "\\"} & {*part} and part.isprintable()
    return is_name and len(part.encode(errors="replace")) <= _LONGEST
