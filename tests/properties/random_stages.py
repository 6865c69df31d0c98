"""Random plans of stages that are processes, sound as whoever makes plans has to make them."""

from __future__ import annotations

from random import Random

from handmade import process, scheduled

from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Process, ProcessInput, ProcessLimits
from stagec.ir.plan.gate import Backoff, Retry
from stagec.ir.plan.node import Node

_MOST = 12


def make_stages(random: Random, most: int = _MOST) -> Plan:
    """Return a plan of some stages, each of which needs some of those before it in an order that names do not show."""
    names = [f"S{number:02}_load_data" for number in range(1, random.randint(1, most) + 1)]
    random.shuffle(names)
    needs = {name: _choose(random, names[max(0, at - random.randint(1, 6)) : at]) for at, name in enumerate(names)}
    nodes: dict[str, Node] = {}
    for name, needed in needs.items():
        nodes[name] = _make_stage(random, {each: nodes[each] for each in needed})
    return scheduled(nodes, needs, random.choice((1, 1, 2, 3, 20)))


def _choose(random: Random, names: list[str]) -> tuple[str, ...]:
    return tuple(random.sample(names, k=random.randint(0, min(3, len(names)))))


def _make_stage(random: Random, needed: dict[str, Node]) -> Node:
    outputs = {f"o{number}": f"out/{number}" for number in range(random.randint(0, 2))}
    inputs = {f"i{at}": each for at, each in enumerate(_list_inputs(random, needed))}
    start = random.randint(1, 100)
    node = process(
        inputs=inputs,
        outputs=outputs,
        words=random.choice(((), ("work",), ("work", "hard"))),
        retryable=random.random() < 0.75,
        checkpoint=random.random() < 0.75,
        limits=ProcessLimits(start, start + random.randint(0, 1) * 30, start + 35, start + 38),
    )
    retry = Retry(random.randint(1, 3), Backoff(random.choice(("none", "fixed", "exponential")), random.randint(0, 9)))
    return replace(node, retry=random.choice((retry, node.retry))) if node.retry is not None else node


def _list_inputs(random: Random, needed: dict[str, Node]) -> list[ProcessInput]:
    known = [(name, path) for name, node in needed.items() for path in _outputs(node)]
    chosen = random.sample(known, k=random.randint(0, len(known)))
    return [
        *(ProcessInput(path, name) for name, path in chosen),
        ProcessInput("data/wine.csv"),
        ProcessInput(url="x:y"),
    ]


def _outputs(node: Node) -> list[str]:
    return list(node.act.outputs.values()) if isinstance(node.act, Process) else []
