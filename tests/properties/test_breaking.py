"""No state of a run fails to go on after a change that is told to be compatible: random flows, random changes.

`python -m properties.test_breaking 10000 0 250`, in `tests`, judges so many pairs from a seed on, in slices of 250.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zlib import crc32

import handmade
import playable
import pytest
from campaigns import choose
from comparison.cases import CASES
from comparison.transfer import REMEMBERED, Verdict, find_stuck
from properties.soundness.campaign import MAKERS, compiled
from properties.soundness.campaign import plans as list_plans
from properties.soundness.chance import Chance

from stagec.change.comparison.compare import compare_plans
from stagec.change.comparison.kind import Grade, PlanPair
from stagec.change.comparison.situation import judge_changes
from stagec.core.diagnostic import Severity
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Carried, Converse, Prompt, Text
from stagec.ir.plan.document import Contents, Input
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Backoff, Exists, IntentGate, Retry, VerdictGate
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Stop
from stagec.ir.plan.soundness import dangling, unsound

PROJECTS = choose(8, whole=40)
"""Random projects of each system."""
MUTANTS = choose(4, whole=10)
"""Changed plans of each plan."""
RUNS = 4
EXCUSES = 400
"""Runs from the beginning that are tried at most before a failure counts as one of the change."""
LEAST = choose(24, whole=240)
"""Pairs of plans that are looked at, at least."""
Mutate = Callable[[Random, Plan], Plan | None]


def with_node(plan: Plan, name: str, **fields: Any) -> Plan:
    return replace(plan, nodes={**plan.nodes, name: replace(plan.nodes[name], **fields)})


def with_act(plan: Plan, name: str, **fields: Any) -> Plan:
    return with_node(plan, name, act=replace(plan.nodes[name].act, **fields))


def with_text(plan: Plan, text: str) -> tuple[Plan, str]:
    contents = Contents()
    for each in plan.contents.values():
        contents.add(each)
    name = contents.add(text)
    return replace(plan, contents=contents.texts), name


def pick(random: Random, plan: Plan, kind: type | tuple[type, ...] = object) -> str | None:
    names = [name for name, node in plan.nodes.items() if isinstance(node.act, kind)]
    return random.choice(names) if names else None


def bound(random: Random, plan: Plan) -> Plan | None:
    old = plan.limits.executions
    return (
        None
        if old is None
        else replace(plan, limits=replace(plan.limits, executions=max(1, old + random.choice((-old // 2, -1, 1, 9)))))
    )


def end_of_bound(_: Random, plan: Plan) -> Plan:
    other = Outcome.DONE if plan.limits.reached is Outcome.FAILED else Outcome.FAILED
    return replace(plan, limits=replace(plan.limits, reached=other))


def parallel(random: Random, plan: Plan) -> Plan:
    return replace(plan, limits=replace(plan.limits, parallel=random.choice((1, 2, 5))))


def turns(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan, Converse)
    if name is None:
        return None
    act: Any = plan.nodes[name].act
    return with_act(plan, name, turns=max(1, act.turns + random.choice((-2, -1, 1, 5))))


def attempts(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan, Converse)
    return (
        None
        if name is None
        else with_node(plan, name, retry=random.choice((None, Retry(random.randint(1, 4), Backoff()))))
    )


def tools(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan, (Converse, Prompt))
    act: Any = None if name is None else plan.nodes[name].act
    if name is None or act.tools is None or not plan.tools:
        return None
    some = set(act.tools)
    some ^= {random.choice([*plan.tools])}
    completion = getattr(act, "completion", None)
    return with_act(plan, name, tools=tuple(sorted(some - {completion})))


def prompt(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan, (Converse, Prompt))
    if name is None:
        return None
    plan, text = with_text(plan, "Do something else.")
    return with_act(plan, name, prompt=(Text(text),))


def edge_away(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan)
    edges = () if name is None else plan.nodes[name].edges
    if name is None or not edges:
        return None
    at = random.randrange(len(edges))
    return with_node(plan, name, edges=(*edges[:at], *edges[at + 1 :]))


def edge_elsewhere(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan)
    edges = () if name is None else plan.nodes[name].edges
    if name is None or not edges:
        return None
    at = random.randrange(len(edges))
    target = random.choice((Go(random.choice([*plan.nodes])), Stop(Outcome.DONE), Stop(Outcome.FAILED)))
    return with_node(plan, name, edges=(*edges[:at], replace(edges[at], target=target), *edges[at + 1 :]))


def edge_more(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan)
    if name is None or not plan.nodes[name].edges:
        return None
    edges = [*plan.nodes[name].edges]
    when = random.choice(((), (Exists(("answer", "x"), present=True),)))
    new = Edge(random.choice(edges).on, Go(random.choice([*plan.nodes])), when)
    edges.insert(random.randrange(len(edges) + 1), new)
    return with_node(plan, name, edges=tuple(edges))


def edge_order(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan)
    if name is None:
        return None
    edges = [*plan.nodes[name].edges]
    random.shuffle(edges)
    return with_node(plan, name, edges=tuple(edges))


def node_more(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan)
    return None if name is None else replace(plan, nodes={**plan.nodes, f"{name} more": plan.nodes[name]})


def node_between(random: Random, plan: Plan) -> Plan | None:
    """Put a node in between that keeps something, and let the next one need it."""
    name = pick(random, plan, Prompt)
    ways = [] if name is None else [each for each in plan.nodes[name].edges if isinstance(each.target, Go)]
    if name is None or not ways or not isinstance(plan.nodes[name].gate, IntentGate):
        return None
    way = random.choice(ways)
    target: Any = way.target
    if not isinstance(plan.nodes[target.node].act, Prompt):
        return None
    new = f"{name} between"
    gate: Any = plan.nodes[name].gate
    node = replace(plan.nodes[name], gate=replace(gate, handoff=(*gate.handoff, gate.field)))
    moved = tuple(replace(each, target=Go(new)) if each is way else each for each in plan.nodes[name].edges)
    plan = with_node(replace(plan, nodes={**plan.nodes, new: node}), name, edges=moved)
    act: Any = plan.nodes[target.node].act
    carried = Carried(new, str(gate.field[-1]), required=random.random() < 0.5)
    return with_act(plan, target.node, variables={**act.variables, "kept": carried})


def node_away(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan)
    if name is None or len(plan.nodes) < 2:
        return None
    others = {each: node for each, node in plan.nodes.items() if each != name}
    for each, node in others.items():
        kept = tuple(
            edge
            if not isinstance(edge.target, Go) or edge.target.node != name
            else replace(edge, target=Stop(Outcome.DONE))
            for edge in node.edges
        )
        others[each] = replace(node, edges=kept)
    return replace(plan, nodes=others)


def entry_away(random: Random, plan: Plan) -> Plan | None:
    name = random.choice([*plan.entries])
    left = {each: entry for each, entry in plan.entries.items() if each != name}
    return replace(plan, entries=left, entry=plan.entry if plan.entry in left else None) if left else None


def entry_elsewhere(random: Random, plan: Plan) -> Plan | None:
    name = random.choice([*plan.entries])
    return (
        replace(plan, entries={**plan.entries, name: random.choice([*plan.nodes])})
        if isinstance(plan.entries[name], str)
        else None
    )


def entry_more(random: Random, plan: Plan) -> Plan:
    return replace(plan, entries={**plan.entries, "one more": random.choice([*plan.nodes])})


def input_more(random: Random, plan: Plan) -> Plan:
    new = random.choice((Input(), Input(required=True), Input(default=1), Input(required=True, default="x")))
    return replace(plan, inputs={**plan.inputs, "one more": new})


def input_other(random: Random, plan: Plan) -> Plan | None:
    if not plan.inputs:
        return None
    name = random.choice([*plan.inputs])
    old = plan.inputs[name]
    return replace(plan, inputs={**plan.inputs, name: replace(old, required=not old.required)})


def schema(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan, (Converse, Prompt))
    content = None if name is None else getattr(plan.nodes[name].act, "schema", None)
    if name is None or content is None:
        return None
    changed = json.loads(plan.contents[content])
    spots = [*_objects(changed)]
    _change_schema(random, random.choice(spots))
    plan, new = with_text(plan, json.dumps(changed))
    return with_act(plan, name, schema=new)


def _objects(given: Any) -> Iterator[dict[str, Any]]:
    if isinstance(given, dict):
        yield given
        for each in (given.get("properties") or {}).values() if isinstance(given.get("properties"), dict) else ():
            yield from _objects(each)


def _change_schema(random: Random, part: dict[str, Any]) -> None:
    match random.randrange(8):
        case 0 if part.get("enum"):
            part["enum"] = part["enum"][1:] or part["enum"]
        case 1 if part.get("enum"):
            part["enum"] = [*part["enum"], "one more"]
        case 2 if isinstance(part.get("required"), list):
            part["required"] = part["required"][1:]
        case 3 if isinstance(part.get("properties"), dict):
            part["required"] = sorted({*part.get("required", []), *part["properties"]})
        case 4 if isinstance(part.get("properties"), dict):
            part["properties"] = {**part["properties"], "one more": {"type": "string"}}
        case 5:
            part["description"] = "In other words."
        case 6 if part.get("type") == "string":
            part["maxLength"] = random.choice((0, 3, 10_000))
        case _ if isinstance(part.get("type"), str):
            part["type"] = sorted({part["type"], random.choice(("string", "null", "integer"))})


def intents(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan, Prompt)
    gate: Any = None if name is None else plan.nodes[name].gate
    if name is None or not isinstance(gate, IntentGate):
        return None
    match random.randrange(5):
        case 0 if len(gate.intents) > 1:
            gate = replace(gate, intents=gate.intents[1:])
        case 1:
            gate = replace(gate, intents=tuple(dict.fromkeys((*gate.intents, "next", "repeat"))))
        case 2:
            gate = replace(gate, fail_fast=not gate.fail_fast, fallback=gate.fallback or gate.intents[0])
        case 3:
            gate = replace(gate, handoff=gate.handoff[1:] if gate.handoff else (gate.field,))
        case _:
            gate = replace(gate, field=(*gate.field[:-1], "elsewhere"))
    return with_node(plan, name, gate=gate)


def checks(random: Random, plan: Plan) -> Plan | None:
    names = [name for name, node in plan.nodes.items() if isinstance(node.gate, VerdictGate) and node.gate.checks]
    if not names:
        return None
    name = random.choice(names)
    gate: Any = plan.nodes[name].gate
    return with_node(plan, name, gate=replace(gate, checks=gate.checks[1:]))


def validation(random: Random, plan: Plan) -> Plan | None:
    names = [name for name, node in plan.nodes.items() if node.validation is not None and node.validation.conditions]
    if not names:
        return None
    name = random.choice(names)
    old: Any = plan.nodes[name].validation
    new = random.choice(
        (
            None,
            replace(old, attempts=max(1, old.attempts + random.choice((-1, 1)))),
            replace(old, conditions=(*old.conditions, old.conditions[0])),
            replace(old, conditions=old.conditions[1:]),
            replace(old, action="abort" if old.action == "retry" else "retry"),
        )
    )
    return with_node(plan, name, validation=new)


def around(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan)
    return (
        None
        if name is None
        else with_node(plan, name, **random.choice(({"admission": None}, {"hooks": {}}, {"title": "Another"})))
    )


def loop_hooks(random: Random, plan: Plan) -> Plan | None:
    session = plan.session
    if session is None or not session.hooks:
        return None
    hooks = random.choice((session.hooks[1:], (*session.hooks, session.hooks[0]), session.hooks[::-1]))
    return replace(plan, session=replace(session, hooks=hooks))


def is_promised(plan: Plan, node: Node, path: Sequence[str]) -> bool:
    """Tell whether each answer of a node has a member; what reads another one is a plan that nobody can compile."""
    text = getattr(node.act, "schema", None)
    schema: Any = json.loads(plan.contents[text]) if text else {}
    for name in path:
        if not isinstance(schema, dict) or name not in schema.get("required", ()):
            return False
        schema = schema.get("properties", {}).get(name)
    return True


def supplies(random: Random, plan: Plan) -> Plan | None:
    name = pick(random, plan, Prompt)
    act: Any = None if name is None else plan.nodes[name].act
    if name is None or not act.variables:
        return None
    match random.randrange(3):
        case 0:
            return with_act(plan, name, needed=tuple(dict.fromkeys((*act.needed, random.choice([*act.variables])))))
        case 1:
            return with_act(plan, name, needed=())
        case _:
            keepers = [
                (other, str(path[-1]))
                for other, node in plan.nodes.items()
                if isinstance(node.gate, IntentGate)
                for path in node.gate.handoff
                if is_promised(plan, node, path)
            ]
            if not keepers:
                return None
            other, key = random.choice(keepers)
            return with_act(plan, name, variables={**act.variables, "kept": Carried(other, key)})


MUTATORS: tuple[Mutate, ...] = (
    *(bound, end_of_bound, parallel, turns, attempts, tools, prompt, edge_away, edge_elsewhere, edge_more, edge_order),
    *(node_more, node_between, node_away, entry_away, entry_elsewhere, entry_more, input_more, input_other, schema),
    *(schema, schema, intents, intents, checks, validation, validation, around, loop_hooks, supplies, supplies),
)


def mutant(random: Random, plan: Plan) -> Plan | None:
    """Return a plan after one to three changes, if that is one that is not refused."""
    for _ in range(8):
        made: Plan | None = plan
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            made = None if made is None else random.choice(MUTATORS)(random, made)
        if made is not None and made != plan and not any(dangling(made)) and not any(unsound(made)):
            return replace(made, facts=facts(made))
    return None


def sources(root: Path, seeds: Iterable[int]) -> Iterator[tuple[str, Plan]]:
    """Yield plans of random projects without errors, and plans made by hand."""
    for name in ("prompts", "schemas", "stages"):
        (root / name).mkdir(exist_ok=True)
    for seed in seeds:
        for system, make in sorted(MAKERS.items()):
            compilation = compiled(root, system, make(Chance(system, seed)))
            if all(each.severity is not Severity.ERROR for each in compilation.diagnostics):
                yield from ((f"{system} {seed}", plan) for plan in list_plans(compilation))
        own = (playable.steps(), playable.stages(), playable.asking(), handmade.processes(), CASES[0].old)
        yield f"own {seed}", own[seed % len(own)]


def pairs(root: Path, seeds: Iterable[int], mutants: int) -> Iterator[tuple[str, Plan, Plan]]:
    for name, plan in sources(root, seeds):
        for number in range(mutants):
            new = mutant(Random(f"{name} {number}"), plan)
            if new is not None:
                yield f"{name} {number}", plan, new


class Judged(NamedTuple):
    """What became of the states of some pairs, counted, and the pairs that are wrong."""

    seen: Counter[str]
    wrong: list[tuple[str, list[str], Verdict]]


def judge(some: Iterable[tuple[str, Plan, Plan]]) -> Judged:
    """Take the states of runs of the first plan of each pair over to the second one, and let them go on.

    States of a compatible change are all taken; those of a breaking one that are taken go on as well.
    """
    seen: Counter[str] = Counter()
    wrong = []
    for name, old, new in some:
        judged = judge_changes(PlanPair(old, new), compare_plans(old, new))
        breaks = any(each.kind.grade is Grade.BREAKING for each in judged)
        found = find_stuck(old, new, crc32(name.encode()), RUNS, EXCUSES, REMEMBERED)
        if found.wrong or (found.refused and not breaks):
            wrong.append((name, [each.kind.code for each in judged], found))
        seen.update((str(judged[0].kind.grade) if judged else "none", "pairs"))
        seen["taken of a breaking change" if breaks else "taken"] += found.taken
        seen.update({"refused": len(found.refused), "stuck": len(found.stuck)})
    return Judged(seen, wrong)


def test_the_states_that_are_taken_go_on(tmp_path: Path) -> None:
    seen, wrong = judge(pairs(tmp_path, range(PROJECTS), MUTANTS))
    assert wrong == []
    assert seen["compatible"] + seen["additive"] >= LEAST // 3, seen
    assert seen["pairs"] >= LEAST, seen
    assert min(seen["taken of a breaking change"], seen["refused"], seen["stuck"]) > 0, seen


def run_campaign(number: int, first: int, size: int) -> int:
    """Judge so many pairs, from a seed on; print the verdict of each slice of them at once, and that of all at the end.

    Returns the exit status: 1 if a pair is wrong.
    """
    total, faults = Counter[str](), 0
    with TemporaryDirectory() as folder:
        offered = islice(pairs(Path(folder), count(first), 10), number)
        for at in count(1):
            found = judge(islice(offered, size))
            if not found.seen:
                break
            total += found.seen
            faults += len(found.wrong)
            sys.stdout.write("".join(f"wrong: {each}\n" for each in found.wrong))
            sys.stdout.write(f"slice {at}: {describe(found.seen)}, {len(found.wrong)} faults\n")
            sys.stdout.flush()
    sys.stdout.write(f"all: {describe(total)}, {faults} faults\n")
    return 1 if faults else 0


def describe(seen: Counter[str]) -> str:
    """Return counts in a line."""
    return ", ".join(f"{times} {what}" for what, times in sorted(seen.items()))


def test_a_campaign_prints_what_it_has_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_campaign(5, 1_000, 3) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [each.partition(":")[0] for each in lines] == ["slice 1", "slice 2", "all"]
    assert [re.findall(r"(\d+) pairs", each) for each in lines] == [["3"], ["2"], ["5"]]
    assert all(each.endswith(", 0 faults") for each in lines)


if __name__ == "__main__":
    asked = [int(each) for each in sys.argv[1:]]
    sys.exit(run_campaign(*asked, *(10_000, 0, 250)[len(asked) :]))
