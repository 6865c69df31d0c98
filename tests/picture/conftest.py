"""Flows in one line per node, and their drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.place import START, Place, Pointer
from stagec.ir.flow import Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.graph import build
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Outcome, Stop, Target
from stagec.views.picture.document import Picture
from stagec.views.picture.draw import draw

AT = Place("flow.json")
WORDS: dict[str, Target] = {"done": Stop(Outcome.DONE), "failed": Stop(Outcome.FAILED)}

Draw = Callable[..., Picture]


def flow(*lines: str, entries: str = "a", lost: Iterable[WrittenEdge] = ()) -> Flow:
    """Return a flow of lines such as `a work: b | c & d > e | f, g | done`; `&` is a fork, `,` a chain, `>` a join."""
    nodes = {node.id: node for node in (_node(*line.split(":")) for line in lines)}
    starts = {f"by-{name}": Entry(name, AT / "entry" / name) for name in entries.split()}
    return Flow("flow", AT, starts, nodes, lost=tuple(lost))


def _node(head: str, targets: str) -> FlowNode:
    name, _, kind = head.strip().partition(" ")
    at = AT / "nodes" / name
    written = [each.strip() for each in targets.split("|") if each.strip()]
    edges = tuple(
        WrittenEdge(name, Edge(f"{name}{n}", _target(each)), at / "edges" / n) for n, each in enumerate(written)
    )
    return FlowNode(name, at, kind or None, edges)


def _target(text: str) -> Target:
    if text in WORDS:
        return WORDS[text]
    body, _, join = text.partition(">")
    names = tuple(each.strip() for each in body.replace("&", ",").split(",") if each.strip())
    if "," in body:
        return Chain(names)
    return Go(names[0]) if len(names) == 1 and not join else Fork(names, join.strip() or None)


def _found(code: str, *pointer: str | int, severity: Severity = Severity.ERROR) -> Diagnostic:
    """Return a diagnostic at a place of the flow's file."""
    at: Pointer = pointer
    return Diagnostic(code, "rule", severity, (), Place("flow.json", at), START, "wrong", (), 0, None, "url")


@pytest.fixture
def found() -> Callable[..., Diagnostic]:
    """Return what makes a diagnostic with a code at a pointer into the flow's file."""
    return _found


@pytest.fixture
def moves() -> Callable[[Picture], list[str]]:
    """Return what writes the lines of a drawing as `a -go-> b: label`."""
    return _moves


@pytest.fixture
def drawn() -> Draw:
    """Return what draws lines."""
    return lambda *lines, diagnostics=(), **more: draw(build(flow(*lines, **more)), diagnostics, {})


def _moves(picture: Picture) -> list[str]:
    """Return the lines of a drawing as `a -go-> b: label`."""
    return [
        f"{_name(line.source)} -{line.stroke}-> {_name(line.target)}"
        + (f": {', '.join(line.labels)}" * bool(line.labels))
        for line in picture.lines
    ]


def _name(box: str) -> str:
    return box.removeprefix("node:")
