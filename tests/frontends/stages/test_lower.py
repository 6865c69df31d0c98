"""What a pipeline means: nodes, edges, entries, and how much of that is certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from stagec.core.json import Json
from stagec.ir.flow import Bound, Flow, WrittenEdge
from stagec.ir.plan.node import Chain, Fork, Outcome, Stop, list_targets
from stagec.languages.stages import FRONTEND
from stagec.languages.stages.document import Pipeline

Machine = Callable[..., Pipeline]
FORK: Mapping[str, Json] = {"stages": ["test", "lint"], "execution": "parallel", "join": "review"}
FAILED: Mapping[str, Json] = {"when": {"verdict": "fail"}, "stages": ["repair"]}
ALWAYS: Json = [{"verdict": "fail"}]


def lower(found: Pipeline) -> Flow:
    flow = FRONTEND.lower(found)
    assert flow is not None
    return flow


def moves(found: Pipeline) -> dict[str, list[str]]:
    """Return the edges of every node in a few words; that every stage may fail is left out."""
    return {
        name: [_move(edge) for edge in node.edges if edge.target != Stop(Outcome.FAILED)]
        for name, node in lower(found).nodes.items()
    }


def _move(edge: WrittenEdge) -> str:
    target = edge.target
    if isinstance(target, Stop):
        return f"{edge.on}: end"
    if isinstance(target, Fork):
        return f"{edge.on}: {' & '.join(target.nodes)}{'' if target.join is None else f' > {target.join}'}"
    return f"{edge.on}: {(', ' if isinstance(target, Chain) else '?').join(list_targets(target))}"


def certainty(found: Pipeline) -> tuple[bool, bool]:
    flow = lower(found)
    return flow.exact, flow.suspect


def test_every_stage_is_a_node_and_nothing_is_lost_when_one_is_not_reached(pipeline: Machine) -> None:
    flow = lower(pipeline({"plan": "execute", "execute": None}))
    assert {name: (node.idle, node.kind) for name, node in flow.nodes.items()} == {
        "plan": (True, None),
        "execute": (True, None),
    }
    assert (flow.id, flow.names, flow.exact, flow.suspect) == (
        "demo",
        {"node": "stage", "outcome": "verdict"},
        True,
        False,
    )


def test_a_node_is_placed_at_the_id_and_decided_at_its_routes(pipeline: Machine) -> None:
    flow = lower(pipeline({"plan": "execute", "execute": None}))
    assert flow.nodes["plan"].at.pointer == ("stages", 0, "id")
    assert [each.decided_at and each.decided_at.pointer for each in flow.nodes.values()] == [
        ("stages", 0, "next"),
        ("stages", 1, "id"),
    ]


def test_a_node_that_never_succeeds_is_decided_at_the_check_that_fails_it(pipeline: Machine) -> None:
    checks: Json = [{"when": {"capHit": True}, "verdict": "retry"}, {"verdict": "fail"}]
    at = lower(pipeline({"plan": "execute", "execute": None}, checks={"plan": checks})).nodes["plan"].decided_at
    assert at is not None
    assert at.pointer == ("checks", "plan", 1)


def test_every_stage_may_end_the_run_as_failed(pipeline: Machine) -> None:
    flow = lower(pipeline({"plan": "execute", "execute": [FAILED], "repair": None}))
    assert all(node.edges[-1].target == Stop(Outcome.FAILED) for node in flow.nodes.values())


def test_a_stage_goes_on_to_the_next_or_ends_the_run(pipeline: Machine) -> None:
    assert moves(pipeline({"plan": "execute", "execute": None})) == {"plan": ["ok: execute"], "execute": ["ok: end"]}


def test_a_fork_has_a_join_or_none(pipeline: Machine) -> None:
    either: Json = [{**FORK, "when": {"parsed.x": 1}}, {"stages": ["test", "lint"], "execution": "parallel"}]
    found = pipeline({"plan": either, "test": None, "lint": None, "review": None})
    assert moves(found)["plan"] == ["ok: test & lint > review", "ok: test & lint"]


def test_several_sequential_stages_are_a_chain_and_may_repeat(pipeline: Machine) -> None:
    assert moves(pipeline({"plan": {"stages": ["a", "b", "a"]}, "a": None, "b": None}))["plan"] == ["ok: a, b, a"]


def test_a_case_without_stages_ends_the_run(pipeline: Machine) -> None:
    cases: Json = [
        {"when": {"parsed.x": 1}, "stages": []},
        {"when": {"parsed.x": 2}, "terminate": True},
        {"stages": ["a"]},
    ]
    assert moves(pipeline({"plan": cases, "a": None}))["plan"] == ["ok: end", "ok: end", "ok: a"]


def test_a_stage_with_cases_for_failures_alone_ends_when_it_succeeds(pipeline: Machine) -> None:
    assert moves(pipeline({"plan": [FAILED], "repair": None}))["plan"] == ["fail: repair", "ok: end"]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("ok", ["ok: a"]),
        ("skip", ["ok: a"]),
        (["ok", "fail"], ["ok: a"]),
        ("fail", ["fail: a", "ok: end"]),
        (["fail"], ["fail: a", "ok: end"]),
        ({"present": True}, ["ok: a"]),
    ],
)
def test_the_verdict_of_a_case_decides_when_it_is_followed(pipeline: Machine, verdict: Json, said: list[str]) -> None:
    assert moves(pipeline({"plan": [{"when": {"verdict": verdict}, "stages": ["a"]}], "a": None}))["plan"] == said


def test_a_case_for_failures_among_others_is_followed_by_a_stage_that_always_fails(pipeline: Machine) -> None:
    cases: Json = [{"when": {"verdict": ["ok", "fail"]}, "stages": ["a"]}, {"stages": ["b"]}]
    assert moves(pipeline({"plan": cases, "a": None, "b": None}, checks={"plan": ALWAYS}))["plan"] == ["fail: a"]


def test_the_route_of_a_sibling_is_left_out(pipeline: Machine) -> None:
    found = pipeline(
        {"plan": FORK, "test": "review", "lint": [FAILED, {"stages": ["review"]}], "review": None, "repair": None}
    )
    assert moves(found) == {
        "plan": ["ok: test & lint > review"],
        "test": ["ok: end"],
        "lint": ["fail: repair", "ok: end"],
        "review": ["ok: end"],
        "repair": ["ok: end"],
    }
    assert certainty(found) == (True, False)


def test_a_flow_has_strays_where_the_route_of_a_sibling_is_the_only_way_to_a_stage(pipeline: Machine) -> None:
    found = pipeline({"plan": FORK, "test": "docs", "lint": None, "review": None, "docs": None})
    assert (certainty(found), lower(found).strays) == ((True, False), True)


def test_a_sibling_that_also_runs_alone_goes_on_or_ends_its_branch(pipeline: Machine) -> None:
    found = pipeline({"plan": FORK, "test": "docs", "lint": None, "review": "test", "docs": None})
    assert moves(found)["test"] == ["ok: docs", "ok: end"]


@pytest.mark.parametrize(
    ("checks", "more", "succeeds"),
    [
        (ALWAYS, {}, False),
        ([{"verdict": "retry"}], {}, False),
        ([{"when": {"capHit": True}, "verdict": "retry"}, {"verdict": "fail"}], {}, False),
        ([{"when": {"capHit": True}, "verdict": "fail"}], {}, True),
        ([{"when": {"capHit": {"is": 1}}, "verdict": "fail"}], {}, True),
        ([{"when": "always", "verdict": "fail"}], {}, True),
        (ALWAYS, {"hooks": {"plan": {"assert": "a:b"}}}, True),
        (ALWAYS, {"hooks": {"plan": {"exit": "a:b"}}}, False),
        (ALWAYS, {"hooks": {"plan": {"setup": "a:b", "gate": "a:b"}}}, False),
        (ALWAYS, {"gate": {"plan": {"defer": {"task": "x"}}}}, False),
    ],
)
def test_a_stage_succeeds_unless_a_check_fails_every_result(
    pipeline: Machine, checks: Json, more: dict[str, Json], *, succeeds: bool
) -> None:
    found = pipeline({"plan": "a", "a": None}, checks={"plan": checks}, **more)
    assert moves(found)["plan"] == (["ok: a"] if succeeds else [])


@pytest.mark.parametrize(
    ("policy", "succeeds"),
    [
        ("skip", True),
        ("fail", False),
        ("{defer: fail, block: skip}", True),
        ("{defer: skip, block: fail}", False),
        ("{block: ask}", False),
    ],
)
def test_a_stage_whose_checks_fail_every_result_may_still_be_skipped(
    reading: Machine, policy: str, *, succeeds: bool
) -> None:
    stage = (
        f"---\nid: plan\nname: Plan\nallowedTools: []\ncompletionTool: done\ncompletionSchema: {{type: object}}\n"
        f"retryPolicy: {{maxAttempts: 1, backoff: none}}\nturnCap: 1\nresolutionPolicy: {policy}\n"
        "stagec: {checks: [{verdict: fail}], gate: {block: {task: none}}}\n---\nGo.\n"
    )
    found = reading({"pipeline.yaml": "entry: plan\n", "plan.md": stage})
    assert moves(found) == {"plan": ["ok: end"] if succeeds else []}


def test_a_bound_is_where_it_is_written_or_where_it_would_be(pipeline: Machine) -> None:
    bounded = lower(pipeline({"plan": None}, maxStageExecutions=5))
    free = lower(pipeline({"plan": None}))
    assert bounded.bound == Bound(5, bounded.bound_at or bounded.at)
    assert (free.bound, free.bound_at) == (None, bounded.bound_at)
    assert free.bound_at is not None
    assert free.bound_at.pointer == ("maxStageExecutions",)


def test_a_bound_that_cannot_be_read_is_not_asked_for_again(pipeline: Machine) -> None:
    flow = lower(pipeline({"plan": None}, maxStageExecutions="many"))
    assert (flow.bound, flow.bound_at) == (None, None)


def test_a_misspelt_name_is_repaired_and_makes_the_flow_suspect(pipeline: Machine) -> None:
    found = pipeline({"plan": "exceute", "execute": None})
    assert moves(found)["plan"] == ["ok: execute"]
    assert certainty(found) == (True, True)
    assert [edge.repair for edge in lower(found).nodes["plan"].edges] == [True, False]


def test_a_misspelt_entry_is_repaired_and_makes_the_flow_suspect(pipeline: Machine) -> None:
    found = pipeline({"plan": None}, entry="Plan")
    assert {name: entry.node for name, entry in lower(found).entries.items()} == {"": "plan"}
    assert certainty(found) == (True, True)


def test_an_entry_that_nothing_is_like_begins_nowhere(pipeline: Machine) -> None:
    found = pipeline({"plan": None}, entry="somewhere")
    assert lower(found).entries == {}
    assert certainty(found) == (False, False)


def test_a_name_that_nothing_is_like_leaves_the_flow_inexact(pipeline: Machine) -> None:
    route: Json = {"stages": ["test", "zzz"], "execution": "parallel", "join": "review"}
    found = pipeline({"plan": route, "test": None, "review": None})
    assert moves(found)["plan"] == ["ok: test > review"]
    assert certainty(found) == (False, True)


def test_an_unknown_join_is_left_out(pipeline: Machine) -> None:
    found = pipeline({"plan": {**FORK, "join": "zzz"}, "test": None, "lint": None, "review": None})
    assert moves(found)["plan"] == ["ok: test & lint"]
    assert certainty(found) == (True, True)


def test_a_misspelt_join_is_repaired(pipeline: Machine) -> None:
    found = pipeline({"plan": {**FORK, "join": "reveiw"}, "test": None, "lint": None, "review": None})
    assert moves(found)["plan"] == ["ok: test & lint > review"]


def test_a_join_among_its_siblings_is_taken_for_the_join(pipeline: Machine) -> None:
    route: Json = {"stages": ["test", "review", "lint"], "execution": "parallel", "join": "review"}
    found = pipeline({"plan": route, "test": None, "lint": None, "review": None})
    assert moves(found)["plan"] == ["ok: test & lint > review"]
    assert certainty(found) == (True, True)


def test_a_repeated_sibling_runs_once(pipeline: Machine) -> None:
    route: Json = {"stages": ["test", "test"], "execution": "parallel", "join": "review"}
    assert moves(pipeline({"plan": route, "test": None, "review": None}))["plan"] == ["ok: test > review"]


def test_a_join_that_has_no_effect_is_a_stray(pipeline: Machine) -> None:
    found = pipeline({"plan": {"stages": ["test"], "join": "review"}, "test": None, "review": None})
    assert moves(found)["plan"] == ["ok: test"]
    assert (certainty(found), lower(found).strays) == ((True, False), True)


@pytest.mark.parametrize(
    "route",
    [
        {"stages": ["test", "lint"], "execution": "paralel"},
        {"stages": ["test", 5]},
        {"stages": "test"},
        {"when": "always", "stages": ["test"]},
        {"execution": "sequential"},
        7,
    ],
)
def test_a_route_that_cannot_be_read_leaves_the_flow_inexact(pipeline: Machine, route: Json) -> None:
    assert certainty(pipeline({"plan": route, "test": None, "lint": None}))[0] is False


def test_two_stages_with_one_id_leave_the_flow_inexact(reading: Machine) -> None:
    stage = (
        '{"id": "plan", "body": "Go.", "turnCap": 1, "completionTool": "done", "completionSchema": {"type": "object"}}'
    )
    found = reading({"pipeline.json": f'{{"entry": "plan", "stages": [{stage}, {stage}]}}'})
    assert certainty(found) == (False, False)


def test_a_stage_that_cannot_be_read_leaves_the_flow_inexact(reading: Machine) -> None:
    stage = "---\nid: plan\nallowedTools: []\nturnCap: 1\nstagec: {next: review}\n---\nGo.\n"
    found = reading(
        {"pipeline.yaml": "entry: plan\nstages: ['*.md']\n", "plan.md": stage, "review.md": "---\nid: [\n---\n"}
    )
    assert certainty(found)[0] is False


def test_stages_that_belong_to_no_pipeline_are_no_flow(reading: Machine) -> None:
    stage = "---\nid: plan\nallowedTools: []\nturnCap: 1\n---\nGo.\n"
    assert FRONTEND.lower(reading({"plan.md": stage})) is None


def test_a_pipeline_without_stages_is_no_flow(reading: Machine) -> None:
    assert FRONTEND.lower(reading({"pipeline.yaml": "entry: plan\nstages: ['*.md']\n"})) is None
