"""Which moves a step has, and in which order they are tried."""

from __future__ import annotations

from typing import Any

from stagec.core.json import Json
from stagec.ir.plan.gate import Among, Reads
from stagec.ir.plan.node import Edge, Go, Named, Outcome, Pick, Stop

DONE, FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
END: dict[str, Any] = {"transitions": {"closing": {"target": None}, "repeat": {"target": "closure.a"}}}
ENDING = (Edge("closing", DONE), Edge("repeat", Go("closure.a")))


def handing(**transitions: Json) -> dict[str, Any]:
    """Return a step that can also hand off to the closure step."""
    return {"transitions": {**transitions, "handoff": {"target": "closure.a"}}}


def test_an_intent_goes_to_its_target(flows: Any) -> None:
    found = flows.plan({"initial.a": handing(repeat={"target": "initial.a"}), "closure.a": END})
    assert {key: node.edges for key, node in found.nodes.items()} == {
        "initial.a": (Edge("repeat", Go("initial.a")), Edge("handoff", Go("closure.a"))),
        "closure.a": ENDING,
    }


def test_a_fallback_runs_where_the_target_cannot_start(flows: Any) -> None:
    steps = {
        "initial.a": handing(next={"target": "continuation.a", "fallback": "continuation.b"}),
        "continuation.a": handing(next={"target": "continuation.b", "fallback": "continuation.b"}),
        "continuation.b": handing(),
        "closure.a": END,
    }
    found = flows.plan(steps)
    assert found.nodes["initial.a"].edges[0] == Edge("next", Go("continuation.a", "continuation.b"))
    assert found.nodes["continuation.a"].edges[0] == Edge("next", Go("continuation.b"))


def conditional(**rule: Json) -> dict[str, Any]:
    """Return a step whose `next` is chosen by its status."""
    gate = {"structuredGate": {"handoffFields": ["report.status"]}}
    return {**handing(next={"condition": "status", **rule}), **gate}


def of_statuses(*values: Json) -> Json:
    return {"report": {"type": "object", "required": ["status"], "properties": {"status": {"enum": [*values]}}}}


STATUS = of_statuses("ok", True, "bad", "?")
HANDED = ("handoff", "status")


def test_the_default_of_a_condition_is_tried_last(flows: Any) -> None:
    targets: Json = {"default": "continuation.a", "ok": "continuation.b", "true": "initial.a"}
    steps = {
        "initial.a": conditional(targets=targets, fallback="continuation.b"),
        "continuation.a": handing(),
        "continuation.b": handing(),
        "closure.a": END,
    }
    assert flows.plan(steps, fields=STATUS).nodes["initial.a"].edges == (
        Edge("next", Go("continuation.b"), (Reads(HANDED, ("ok",)),)),
        Edge("next", Go("initial.a", "continuation.b"), (Reads(HANDED, ("true",)),)),
        Edge("next", Go("continuation.a", "continuation.b")),
        Edge("handoff", Go("closure.a")),
    )


def test_a_condition_that_covers_every_value_needs_no_default(flows: Any) -> None:
    targets: Json = {"ok": "continuation.a", "true": "continuation.a", "bad": "continuation.a", "?": "continuation.a"}
    steps = {"initial.a": conditional(targets=targets), "continuation.a": handing(), "closure.a": END}
    edges = flows.plan(steps, fields=STATUS).nodes["initial.a"].edges
    assert [edge.when for edge in edges] == [*(((Reads(HANDED, (case,)),)) for case in ("ok", "true", "bad", "?")), ()]


def test_the_case_for_null_is_its_word_and_the_empty_case_is_the_empty_text(flows: Any) -> None:
    targets: Json = {"null": "continuation.a", "": "continuation.a", "default": "initial.a"}
    steps = {"initial.a": conditional(targets=targets), "continuation.a": handing(), "closure.a": END}
    edges = flows.plan(steps, fields=of_statuses(None, "", "ok")).nodes["initial.a"].edges
    assert [edge.when for edge in edges[:2]] == [(Among(HANDED, ("null", None)),), (Among(HANDED, ("",)),)]


def test_closing_ends_the_run_whatever_its_cases(flows: Any) -> None:
    closing: Json = {"condition": "status", "targets": {"ok": None, "default": None}}
    gate = {"structuredGate": {"handoffFields": ["report.status"]}}
    steps = {"initial.a": handing(), "closure.a": {"transitions": {"closing": closing}, **gate}}
    assert flows.plan(steps, fields=STATUS).nodes["closure.a"].edges == (Edge("closing", DONE),)


def test_repeat_without_a_transition_is_this_step_again(flows: Any) -> None:
    gate = {"structuredGate": {"allowedIntents": ["handoff", "repeat"]}}
    found = flows.plan({"initial.a": {**handing(), **gate}, "closure.a": END})
    assert found.nodes["initial.a"].edges == (Edge("handoff", Go("closure.a")), Edge("repeat", Go("initial.a")))


def test_abort_fails_the_run_with_and_without_a_transition(flows: Any) -> None:
    gate = {"structuredGate": {"allowedIntents": ["abort", "handoff"]}}
    steps = {
        "initial.a": {**handing(next={"target": "continuation.a"}, abort={"target": "closure.a"})},
        "continuation.a": {**handing(), **gate},
        "closure.a": END,
    }
    found = flows.plan(steps)
    assert found.nodes["initial.a"].edges[1] == Edge("abort", FAILED)
    assert found.nodes["continuation.a"].edges == (Edge("handoff", Go("closure.a")), Edge("abort", FAILED))


def jumping(**transitions: Json) -> dict[str, Any]:
    """Return a step that can also jump to where its answer says."""
    allowed: list[Json] = [*transitions, "jump", "handoff"]
    gate = {"targetField": "to", "allowedIntents": list(dict.fromkeys(str(each) for each in allowed))}
    return {**handing(**transitions), "structuredGate": gate}


def test_a_jump_goes_where_the_answer_may_say(flows: Any) -> None:
    steps = {"initial.a": jumping(), "continuation.a": handing(), "closure.a": END}
    found = flows.plan(steps, fields={"to": {"enum": ["continuation.a", "initial.a"]}})
    named = Named({"continuation.a": "continuation.a", "initial.a": "initial.a"})
    assert found.nodes["initial.a"].edges == (Edge("jump", named), Edge("handoff", Go("closure.a")))


def test_steps_that_may_name_the_same_steps_share_what_they_name(flows: Any) -> None:
    steps = {"initial.a": jumping(), "continuation.a": jumping(), "closure.a": END}
    found = flows.plan(steps, fields={"to": {"enum": ["continuation.a", "initial.a"]}})
    jumps = [found.nodes[name].edges[0] for name in ("initial.a", "continuation.a")]
    assert jumps == [Edge("jump", Pick("1"))] * 2
    assert found.choices == {"1": {"continuation.a": "continuation.a", "initial.a": "initial.a"}}


def test_a_jump_to_nowhere_takes_its_transition(flows: Any) -> None:
    steps = {"initial.a": jumping(jump={"target": "continuation.a"}), "continuation.a": handing(), "closure.a": END}
    found = flows.plan(steps, fields={"to": {"enum": ["initial.a", "elsewhere"]}})
    assert found.nodes["initial.a"].edges == (
        Edge("jump", Named({"initial.a": "initial.a"})),
        Edge("jump", Go("continuation.a")),
        Edge("handoff", Go("closure.a")),
    )


def test_a_jump_that_may_say_anything_goes_to_any_step_but_sections(flows: Any) -> None:
    steps = {
        "initial.a": jumping(jump={"target": "continuation.a"}),
        "continuation.a": handing(),
        "closure.a": END,
        "section.a": {},
    }
    found = flows.plan(steps, fields={"to": {"type": "string"}})
    everywhere = {key: key for key in ("initial.a", "continuation.a", "closure.a")}
    assert found.nodes["initial.a"].edges[:2] == (Edge("jump", Pick("any")), Edge("jump", Go("continuation.a")))
    assert found.choices == {"any": everywhere}


def test_a_step_may_be_named_by_its_id(flows: Any) -> None:
    steps = {
        "initial.a": jumping(jump={"target": "closure.b"}, next={"target": "continuation.b"}),
        "continuation.a": {**handing(), "stepId": "continuation.b"},
        "closure.a": END,
    }
    (meaning,) = flows.compile(steps, fields={"to": {"type": "string"}}).meanings
    found = meaning.plan()
    assert found.nodes["initial.a"].edges[0].target == Pick("any")
    assert found.choices["any"]["continuation.b"] == "continuation.a"
    assert Edge("next", Go("continuation.a")) in found.nodes["initial.a"].edges


def test_what_is_not_allowed_and_what_leads_nowhere_is_left_out(flows: Any) -> None:
    gate = {"structuredGate": {"allowedIntents": ["next", "handoff"]}}
    steps = {
        "initial.a": {**handing(next={"target": "nowhere"}, jump={"target": "closure.a"}), **gate},
        "closure.a": END,
    }
    (meaning,) = flows.compile(steps).meanings
    assert meaning.plan().nodes["initial.a"].edges == (Edge("handoff", Go("closure.a")),)


def test_without_a_gate_the_judge_decides_whether_to_go_on(flows: Any) -> None:
    found = flows.plan({"initial.a": {}, "continuation.a": {}})
    assert [node.edges for node in found.nodes.values()] == [
        (Edge("next", Go("continuation.a")), Edge("verdict", DONE)),
        (Edge("next", Go("continuation.a")), Edge("verdict", DONE)),
    ]


def test_work_that_is_not_done_fails_where_nothing_follows(flows: Any) -> None:
    found = flows.plan({"initial.a": {}})
    assert found.nodes["initial.a"].edges == (Edge("next", FAILED), Edge("verdict", DONE))


RUNNER: Json = {"command": "make"}


def test_a_program_is_done_or_runs_again(flows: Any) -> None:
    found = flows.plan({"closure.a": {"runner": RUNNER}})
    assert found.nodes["closure.a"].edges == ENDING


def test_the_transitions_of_a_step_that_runs_a_program_count(flows: Any) -> None:
    routes: Json = {"closing": {"target": None}, "repeat": {"target": "initial.a"}}
    found = flows.plan({"initial.a": handing(), "closure.a": {"transitions": routes, "runner": RUNNER}})
    assert found.nodes["closure.a"].edges == (Edge("closing", DONE), Edge("repeat", Go("initial.a")))


def test_the_flow_says_of_a_program_what_its_plan_says(flows: Any) -> None:
    (meant,) = flows.compile({"closure.a": {"runner": RUNNER}}).flows
    assert [(edge.on, edge.target) for edge in meant.nodes["closure.a"].edges] == [
        ("closing", Stop(Outcome.DONE)),
        ("repeat", Go("closure.a")),
    ]


def test_every_exit_status_leads_somewhere(flows: Any) -> None:
    found = flows.plan({"closure.a": {"transitions": {"closing": {"target": None}}, "runner": RUNNER}})
    assert found.nodes["closure.a"].edges == ENDING


def test_a_program_whose_repetition_depends_on_what_it_never_hands_over_runs_again(flows: Any) -> None:
    routes: Json = {"closing": {"target": None}, "repeat": {"condition": "x", "targets": {"y": "initial.a"}}}
    steps = {"initial.a": handing(), "closure.a": {"transitions": routes, "runner": RUNNER}}
    (meaning,) = flows.compile(steps).meanings
    assert meaning.plan().nodes["closure.a"].edges == (
        Edge("closing", DONE),
        Edge("repeat", Go("initial.a"), (Reads(("handoff", "x"), ("y",)),)),
        Edge("repeat", Go("closure.a")),
    )
