"""Every node, every way in and out, what leads nowhere, and what was found wrong where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Diagnostic
from stagec.core.place import Place
from stagec.ir.flow import Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.graph import build
from stagec.ir.plan.gate import Among, Exists, Reads
from stagec.ir.plan.node import Edge, Go, Named, Outcome, Stop, Target
from stagec.sources.read import Sources
from stagec.views.picture.document import Box, Picture, Role
from stagec.views.picture.draw import By, collapse, draw
from stagec.views.picture.lines import condition

Draw = Callable[..., Picture]
Moves = Callable[[Picture], list[str]]
Make = Callable[..., Diagnostic]


def named(picture: Picture) -> list[tuple[str, str]]:
    return [(box.role.value, box.name) for box in picture.boxes.values()]


def test_a_run_starts_at_a_box_of_its_own_and_ends_in_one(drawn: Draw, moves: Moves) -> None:
    picture = drawn("a: b | failed", "b: done")
    assert named(picture) == [
        ("start", "start: by-a"),
        ("node", "a"),
        ("node", "b"),
        ("done", "done"),
        ("failed", "failed"),
    ]
    assert moves(picture) == [
        "start:a -entry-> a",
        "a -go-> b: a0",
        "a -end-> failed: a1",
        "b -end-> done: b0",
    ]


def test_entries_of_one_node_share_a_box() -> None:
    at = Place("flow.json")
    entries = {"poll": Entry("a", at / 0), "count": Entry("a", at / 1), "": Entry("b", at / 2)}
    flow = Flow("f", at, entries, {name: FlowNode(name, at / name) for name in "ab"})
    boxes = draw(build(flow), (), {}).boxes.values()
    assert [box.name for box in boxes if box.role is Role.START] == ["start: poll, count", "start"]


def test_parallel_moves_are_one_line_with_several_labels(drawn: Draw, moves: Moves) -> None:
    assert moves(drawn("a: b | b", "b: done"))[1] == "a -go-> b: a0, a1"


def test_the_branches_of_a_fork_end_in_its_join(drawn: Draw, moves: Moves) -> None:
    picture = drawn("a: b & c > d", "b: done", "c: e", "e: done", "d: done")
    assert moves(picture)[1:] == [
        "a -fork-> b: a0",
        "a -fork-> c: a0",
        "b -join-> d: b0",
        "c -go-> e: c0",
        "e -join-> d: e0",
        "d -end-> done: d0",
    ]
    assert [box.name for box in picture.boxes.values() if box.is_join] == ["d"]


def test_a_chain_leads_from_one_to_the_next(drawn: Draw, moves: Moves) -> None:
    assert moves(drawn("a: b, c", "b: done", "c: done"))[1:] == [
        "a -chain-> b: a0",
        "b -chain-> c: b0",
        "c -end-> done: c0",
    ]


def test_a_join_that_no_branch_comes_to_is_still_drawn(drawn: Draw, moves: Moves) -> None:
    assert moves(drawn("a: b & c > d", "b: failed", "c: failed", "d: done"))[-2:] == ["b -join-> d", "c -join-> d"]


def picking(picks: dict[str, Named]) -> Flow:
    """Return a flow in which the answers of some nodes name the one that follows, and `z` ends it."""
    at = Place("flow.json")
    targets: dict[str, Target] = {**picks, "z": Stop(Outcome.DONE)}
    nodes = {
        name: FlowNode(name, at / name, edges=(WrittenEdge(name, Edge("jump", each), at),))
        for name, each in targets.items()
    }
    return Flow("f", at, {"": Entry("a", at)}, nodes)


def test_answers_that_name_one_of_the_same_nodes_meet_in_a_box(moves: Moves) -> None:
    shared = Named({"a": "a", "b": "b", "z": "z"})
    picture = draw(build(picking({"a": shared, "b": shared})), (), {})
    assert ("choice", "one of 3 nodes") in named(picture)
    assert sorted((line.source, line.target) for line in picture.lines if line.source != "start:a") == [
        ("choice:1", "node:a"),
        ("choice:1", "node:b"),
        ("choice:1", "node:z"),
        ("node:a", "choice:1"),
        ("node:b", "choice:1"),
        ("node:z", "done"),
    ]
    collapsed = collapse(picture, By.CYCLE)
    assert [(box.role, box.members) for box in collapsed.boxes.values() if box.members] == [(Role.GROUP, ("a", "b"))]
    assert "choice:1" not in collapsed.boxes


def test_an_answer_that_alone_may_name_some_nodes_leads_to_each(moves: Moves) -> None:
    picture = draw(build(picking({"a": Named({"a": "a", "z": "z"})})), (), {})
    assert moves(picture)[1:] == ["a -go-> a: jump", "a -go-> z: jump", "z -end-> done: jump"]


def test_a_node_that_no_run_reaches_is_drawn_and_told(drawn: Draw) -> None:
    picture = drawn("a: done", "b: a")
    assert [box.name for box in picture.boxes.values() if not box.is_reached] == ["b"]
    assert picture.remarks == ("1 node is never reached",)


def test_a_name_that_nothing_has_is_a_box(drawn: Draw, moves: Moves) -> None:
    picture = drawn("a: nowhere | done")
    assert picture.boxes["missing:nowhere"] == Box("missing:nowhere", "nowhere", Role.MISSING)
    assert "a -go-> missing:nowhere: a0" in moves(picture)


def test_what_was_probably_meant_is_a_guess_beside_what_is_written() -> None:
    at = Place("flow.json", ("nodes", "a", "edges", 0))
    meant = WrittenEdge("a", Edge("next", Go("b")), at, repair=True)
    flow = Flow(
        "f", Place("flow.json"), {}, {name: FlowNode(name, Place("flow.json", ("nodes", name))) for name in "ab"}
    )
    nodes = {**flow.nodes, "a": FlowNode("a", Place("flow.json", ("nodes", "a")), edges=(meant,))}
    lost = (WrittenEdge("a", Edge("next", Go("bb")), at),)
    picture = draw(build(Flow("f", flow.at, {}, nodes, lost=lost)), (), {})
    assert [(line.target, line.is_guess) for line in picture.lines] == [("node:b", True), ("missing:bb", False)]


def test_the_last_of_several_conditional_moves_is_the_other_way() -> None:
    at = Place("flow.json", ("nodes", "a"))
    terms = (Among(("parsed", "ok"), (True,)),)
    edges = (WrittenEdge("a", Edge("ok", Go("a"), terms), at / 0), WrittenEdge("a", Edge("ok", Go("b")), at / 1))
    nodes = {"a": FlowNode("a", at, edges=edges), "b": FlowNode("b", Place("flow.json", ("nodes", "b")))}
    picture = draw(build(Flow("f", Place("flow.json"), {}, nodes)), (), {})
    assert [line.labels for line in picture.lines] == [("ok: parsed.ok = true",), ("ok: otherwise",)]


def test_conditions_are_written_in_words() -> None:
    terms = [Among(("x",), ("high", "critical")), Reads(("x", "y"), ("1",)), Exists(("x",), present=True)]
    assert [condition(term) for term in (*terms, Exists(("x",), present=False))] == [
        "x in high, critical",
        'x.y = "1"',
        "x present",
        "x absent",
    ]


def test_a_diagnostic_is_drawn_where_it_belongs(drawn: Draw, found: Make) -> None:
    inside, at_edge = found("STG1", "nodes", "a", "prompt"), found("STG2", "nodes", "a", "edges", 0, "target")
    entry, other = found("STG3", "entry", "a"), found("STG4", "elsewhere")
    picture = drawn("a: b", "b: done", diagnostics=(inside, at_edge, entry, other))
    assert picture.boxes["node:a"].found == (inside,)
    assert {(line.source, line.found) for line in picture.lines if line.found} == {
        ("start:a", (entry,)),
        ("node:a", (at_edge,)),
    }
    assert picture.found == (other,)


def test_a_node_shows_its_definition_and_what_belongs_to_it(tmp_path: Path) -> None:
    definition = {"id": "a", "tools": []}
    (tmp_path / "flow.json").write_text(json.dumps({"nodes": [definition]}), encoding="utf-8")
    (tmp_path / "a.md").write_text("Do it.\n", encoding="utf-8")
    sources = Sources(tmp_path, Budgets())
    trees = {file: tree for file in ("flow.json", "a.md") if (tree := sources.tree(file, "file")) is not None}
    parts = (("prompt", Place("a.md", range=(0, 5))), ("schema", Place("gone.json")))
    node = FlowNode("a", Place("flow.json", ("nodes", 0, "id")), parts=parts)
    picture = draw(build(Flow("f", Place("flow.json"), {}, {"a": node})), (), trees)
    assert picture.boxes["node:a"].details == {
        "place": "flow.json#/nodes/0",
        "definition": definition,
        "prompt": "Do it",
    }


def test_of_what_is_very_long_a_node_shows_a_part_or_the_place(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x" * 12_345, encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps({"a": {"enum": ["y" * 12_345]}}), encoding="utf-8")
    sources = Sources(tmp_path, Budgets())
    trees = {file: tree for file in ("a.md", "s.json") if (tree := sources.tree(file, "file")) is not None}
    parts = (("prompt", Place("a.md")), ("schema", Place("s.json", ("a",))))
    node = FlowNode("a", Place("flow.json"), parts=parts)
    told = draw(build(Flow("f", Place("flow.json"), {}, {"a": node})), (), trees).boxes["node:a"].details
    assert told["prompt"] == f"{'x' * 10_000}…\n(12,345 characters: a.md)"
    assert told["schema"] == "12,359 characters: s.json#/a"


def test_a_flow_without_entry_says_so(drawn: Draw) -> None:
    assert drawn("a: done", entries="").remarks == (
        "no run can start",
        "1 node is never reached",
        "not everything could be read: there may be more ways than are drawn",
    )
