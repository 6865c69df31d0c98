"""What a plan promises beyond its form; broken, it is refused where it is, and what it cannot tell is let through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from plan.examples import FILES, file_of, payload

from stagec.ir.plan import PlanError, load

STEPS, STAGES = "by hand: steps", "by hand: stages"


def changed(name: str, change: Callable[[Any], object]) -> bytes:
    """Return the file of a plan that was changed, without the facts, which may not follow any more."""
    plan = payload(FILES[name])
    del plan["facts"]
    change(plan)
    return file_of(plan)


def refusal(name: str, change: Callable[[Any], object]) -> str:
    """Return why a changed plan is refused, nothing if it is not."""
    try:
        load(changed(name, change))
    except PlanError as error:
        return str(error)
    return ""


def node(plan: Any, name: str) -> Any:
    return plan["nodes"][name]


def without_edges(name: str, *outcomes: str) -> Callable[[Any], object]:
    """Return what takes the edges of some outcomes from a node."""

    def change(plan: Any) -> None:
        node(plan, name)["edges"] = [each for each in node(plan, name)["edges"] if each["on"] not in outcomes]

    return change


def with_(way: str, value: Any) -> Callable[[Any], object]:
    """Return what puts a value at a place, named by the keys that lead there; `None` takes away what is there."""

    def change(plan: Any) -> None:
        *keys, last = [int(each) if each.isdigit() else each for each in way.split("/")]
        at = plan
        for each in keys:
            at = at[each]
        if value is None:
            del at[last]
        else:
            at[last] = value

    return change


@pytest.mark.parametrize(
    ("name", "outcomes", "told"),
    [
        ("lint", ("ok",), "'ok'"),
        ("lint", ("fail",), "'fail'"),
        ("lint", ("ok", "fail"), "'ok' or 'fail'"),
        ("plan", ("fail",), "'fail'"),
    ],
)
def test_every_verdict_that_a_stage_is_sure_to_have_needs_an_edge(
    name: str, outcomes: tuple[str, ...], told: str
) -> None:
    assert refusal(STAGES, without_edges(name, *outcomes)) == f"at '/nodes/{name}/edges': has none for {told}"


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("initial.issue", "next"),
        ("initial.issue", "jump"),
        ("initial.issue", "repeat"),
        ("continuation.issue", "verdict"),
        ("continuation.issue", "next"),
        ("closure.issue", "closing"),
        ("closure.issue", "repeat"),
    ],
)
def test_every_outcome_that_a_step_can_have_needs_an_edge(name: str, outcome: str) -> None:
    assert refusal(STEPS, without_edges(name, outcome)) == f"at '/nodes/{name}/edges': has none for '{outcome}'"


def test_checks_may_leave_nothing_that_is_ok() -> None:
    assert refusal(STAGES, without_edges("plan", "ok")) == ""


def test_an_outcome_may_depend_on_terms_only_for_the_schema_may_leave_nothing_else() -> None:
    def change(plan: Any) -> None:
        del node(plan, "review")["edges"][2]

    assert refusal(STAGES, change) == ""


def test_abort_needs_no_edge() -> None:
    def change(plan: Any) -> None:
        node(plan, "initial.issue")["gate"]["intents"].append("abort")

    assert refusal(STEPS, change) == ""


def test_an_outcome_that_the_gate_never_has_may_have_an_edge() -> None:
    def change(plan: Any) -> None:
        node(plan, "lint")["edges"].append({"on": "maybe", "target": {"is": "stop", "outcome": "done"}})

    assert refusal(STAGES, change) == ""


@pytest.mark.parametrize("fallback", [None, "handoff"])
def test_a_gate_that_may_not_fail_needs_an_intent_to_fall_back_on(fallback: str | None) -> None:
    told = "at '/nodes/verification.issue/gate': has no 'fallback' among its 'intents', and is not to fail"
    assert refusal(STEPS, with_("nodes/verification.issue/gate/fallback", fallback)) == told


def test_a_gate_that_fails_may_fall_back_on_anything() -> None:
    def change(plan: Any) -> None:
        node(plan, "verification.issue")["gate"] |= {"failFast": True, "fallback": "handoff"}

    assert refusal(STEPS, change) == ""


@pytest.mark.parametrize(
    ("name", "at", "gate"),
    [
        (STAGES, "lint", {"is": "exit"}),
        (STAGES, "lint", {"is": "judge"}),
        (STAGES, "lint", {"is": "intent", "field": [], "intents": []}),
        (STEPS, "closure.issue", {"is": "verdict"}),
        (STEPS, "closure.issue", {"is": "judge"}),
        (STEPS, "continuation.issue", {"is": "exit"}),
        (STEPS, "continuation.issue", {"is": "verdict"}),
    ],
)
def test_a_gate_must_be_of_a_kind_that_can_judge_the_act(name: str, at: str, gate: dict[str, Any]) -> None:
    assert (
        refusal(name, with_(f"nodes/{at}/gate", gate)) == f"at '/nodes/{at}/gate': cannot judge what comes of this act"
    )


def test_a_target_that_the_answer_names_needs_a_gate_that_reads_it() -> None:
    told = "at '/nodes/initial.issue/edges/2/target': is left to the answer, but the gate reads no 'target'"
    assert refusal(STEPS, with_("nodes/initial.issue/gate/target", None)) == told
    other = with_("nodes/continuation.issue/edges/0/target", {"is": "named", "nodes": {"x": "initial.issue"}})
    assert refusal(STEPS, other) == told.replace("initial", "continuation").replace("/2/", "/0/")


def test_a_node_cannot_run_twice_at_the_same_time() -> None:
    fork = {"is": "fork", "nodes": ["lint", "test", "lint"]}
    told = "at '/nodes/plan/edges/0/target/nodes': has a node twice"
    assert refusal(STAGES, with_("nodes/plan/edges/0/target", fork)) == told


def test_a_node_cannot_join_itself() -> None:
    told = "at '/nodes/plan/edges/0/target/join': is one of the nodes that it joins"
    assert refusal(STAGES, with_("nodes/plan/edges/0/target/join", "test")) == told


def test_a_node_can_run_twice_in_a_chain() -> None:
    assert refusal(STAGES, with_("nodes/review/edges/2/target/nodes", ["lint", "lint"])) == ""


@pytest.mark.parametrize("kind", ["fork", "chain"])
def test_something_must_run(kind: str) -> None:
    told = "at '/nodes/plan/edges/0/target/nodes': expected a list with at least 1"
    assert refusal(STAGES, with_("nodes/plan/edges/0/target", {"is": kind, "nodes": []})) == told


def test_a_run_must_begin_somewhere() -> None:
    def change(plan: Any) -> None:
        plan["entries"] = {}
        del plan["entry"]

    assert refusal(STAGES, change) == "at '/entries': expected an object with at least 1"


def test_nodes_that_can_repeat_need_a_bound() -> None:
    assert (
        refusal(STAGES, with_("limits", {})) == "at '/limits': lacks 'executions', but 'plan' and 'review' can repeat"
    )


def test_nodes_that_cannot_repeat_need_no_bound() -> None:
    def change(plan: Any) -> None:
        plan["limits"] = {}
        del node(plan, "review")["edges"][1]

    assert refusal(STAGES, change) == ""


def test_nodes_that_nothing_leads_to_need_no_bound() -> None:
    def change(plan: Any) -> None:
        plan["limits"] = {}
        plan["entries"] = {"": "lint"}

    assert refusal(STAGES, change) == ""


def test_a_variable_that_is_needed_must_come_from_somewhere() -> None:
    told = "at '/nodes/initial.issue/act/needed': has 'colour' and 'size', and 'variables' do not"
    assert refusal(STEPS, with_("nodes/initial.issue/act/needed", ["colour", "issue", "size"])) == told


HOLES = [
    (STEPS, "nodes/initial.issue/act/prompt", ["variable", "colour"]),
    (STEPS, "nodes/initial.issue/act/prompt", ["input", "issue"]),
    (STEPS, "nodes/initial.issue/act/prompt", [0]),
    (STEPS, "nodes/initial.issue/act/prompt", []),
    (STEPS, "system/prompt", ["variable", "issue"]),
    (STEPS, "nodes/closure.issue/act/words/2", ["variable", "issue"]),
    (STEPS, "nodes/closure.issue/validation/prompts/dirty", ["this"]),
    (STEPS, "nodes/closure.issue/validation/prompts/dirty", ["variable", "issue"]),
    (STAGES, "nodes/plan/act/prompt", ["variable", "task"]),
]


@pytest.mark.parametrize(("name", "at", "path"), HOLES)
def test_a_hole_must_lead_to_where_something_can_be(name: str, at: str, path: list[str | int]) -> None:
    pointer = "".join(f"/{each}" for each in path)
    told = f"at '/{at}': leads to '{pointer}', where there never is anything"
    assert refusal(name, with_(at, [{"is": "hole", "path": path}])) == told
    assert refusal(name, with_(at, [{"is": "choice", "path": path, "then": []}])) == told


@pytest.mark.parametrize("path", [["variable"], ["variable", "issue", "x"], ["stdin"], ["stdin", 3]])
def test_a_hole_may_lead_to_where_something_can_be(path: list[str | int]) -> None:
    assert refusal(STEPS, with_("nodes/initial.issue/act/prompt", [{"is": "hole", "path": path}])) == ""


def test_what_is_repeated_knows_its_element_and_what_is_around_does_not() -> None:
    loop = {"is": "each", "path": ["failure", "files"], "body": [{"is": "hole", "path": ["this", "name"]}]}
    chosen = {"is": "choice", "path": ["failure", "x"], "then": [loop], "otherwise": [loop]}
    at = "nodes/closure.issue/validation/prompts/dirty"
    assert refusal(STEPS, with_(at, [loop, chosen])) == ""
    assert refusal(STEPS, with_(at, [loop, *loop["body"]])).startswith(f"at '/{at}': leads to '/this/name'")


@pytest.mark.parametrize(
    ("tool", "is_sound"),
    [
        ({"origin": "mcp", "effects": "read", "server": "linter"}, True),
        ({"origin": "mcp", "effects": "read"}, False),
        ({"origin": "bundled", "effects": "read", "server": "linter"}, False),
        ({"origin": "bundled", "effects": "read"}, True),
    ],
)
def test_a_tool_of_a_server_names_it_and_no_other_does(tool: dict[str, Any], *, is_sound: bool) -> None:
    told = "at '/tools/lint': must have a 'server' if its 'origin' is 'mcp', and only then"
    assert refusal(STAGES, with_("tools/lint", tool)) == ("" if is_sound else told)


def test_a_server_can_be_started_or_reached() -> None:
    assert refusal(STAGES, with_("servers/remote/url", None)) == "at '/servers/remote': has neither 'command' nor 'url'"


def test_a_tool_of_a_server_has_no_command_of_its_own() -> None:
    tool = {"origin": "mcp", "effects": "read", "server": "linter", "command": ["x"]}
    told = "at '/tools/lint': has a 'command', though its server carries calls out"
    assert refusal(STAGES, with_("tools/lint", tool)) == told
    own = {"origin": "discovered", "effects": "read", "command": ["x"]}
    assert refusal(STAGES, with_("tools/lint", own)) == ""
