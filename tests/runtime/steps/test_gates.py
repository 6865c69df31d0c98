"""What an answer means: its intent, what is handed over, and which step is next."""

from __future__ import annotations

import pytest
from runtime.stages.talks import CONTENTS, Run
from runtime.steps.flows import DONE, FAILED, INTENTS, asked, flow, goes, intent_gate, says, step, where

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Carried, Hole
from stagec.ir.plan.gate import Among, IntentGate, Reads
from stagec.ir.plan.node import Edge, Go, Named, Outcome

LEADS = {"next": "n", "repeat": "a", "jump": "j", "handoff": "h", "escalate": "e"}
PLACES = {name: step(Edge("next", DONE)) for name in ("n", "j", "h", "e")}


def everywhere(gate: IntentGate | None = None, *first: Edge) -> Run:
    """Begin a run whose first step has an edge for every intent, each to another step; `closing` ends it."""
    edges = (*first, *goes(**LEADS), Edge("closing", DONE))
    plan = flow(a=step(*edges, gate=gate))
    return Run(replace(plan, nodes={**plan.nodes, **PLACES}))


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("next", "n"),
        ("repeat", "a"),
        ("jump", "j"),
        ("handoff", "h"),
        ("escalate", "e"),
        ("closing", "completed"),
        ("abort", "a: aborted"),
        ("NEXT", "n"),
        ("HandOff", "h"),
        ("continue", "n"),
        ("retry", "a"),
        ("wait", "a"),
        ("done", "completed"),
        ("Finished", "completed"),
        ("pass", "n"),
        ("fail", "a"),
        ("ABORT", "a: aborted"),
    ],
)
def test_an_intent_or_a_word_for_one_leads_on(said: str, place: str) -> None:
    run = everywhere()
    run.answer(says(said))
    assert where(run) == place


@pytest.mark.parametrize("said", ["", " next", "next ", "go", None, True, False, 0, 1, ["next"], {"next": 1}])
def test_what_is_no_intent_ends_the_run_where_gates_fail_fast(said: Json) -> None:
    run = everywhere()
    run.answer(says(said))
    assert run.end == (Outcome.FAILED, "a: no-intent")


@pytest.mark.parametrize("answer", [{}, {"action": None}, {"action": ["next"]}, {"other": "next"}, {"action": "jump"}])
def test_a_gate_that_does_not_fail_fast_has_an_intent_for_what_is_none_of_its_own(answer: Json) -> None:
    run = everywhere(intent_gate(intents=("next", "handoff"), fail_fast=False, fallback="handoff"))
    run.answer({"answer": answer})
    assert where(run) == "h"


def test_a_fallback_intent_is_not_used_where_gates_fail_fast() -> None:
    run = everywhere(intent_gate(fallback="handoff"))
    run.answer(says("nothing"))
    assert run.end == (Outcome.FAILED, "a: no-intent")


def test_an_intent_that_the_gate_does_not_allow_is_none() -> None:
    run = everywhere(intent_gate(intents=("next",)))
    run.answer(says("handoff"))
    assert run.end == (Outcome.FAILED, "a: no-intent")


@pytest.mark.parametrize("intents", [("next",), ("next", "abort")])
def test_abort_is_always_allowed_and_needs_no_edge(intents: tuple[str, ...]) -> None:
    run = everywhere(intent_gate(intents=intents))
    run.answer(says("abort"))
    assert run.end == (Outcome.FAILED, "a: aborted")


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        (("next_action", "action"), {"next_action": {"action": "next"}}),
        (("steps", "1"), {"steps": ["no", "next"]}),
        (("steps", 1), {"steps": ["no", "next"]}),
        (("a.b",), {"a.b": "next"}),
        (("1",), {"1": "next"}),
    ],
)
def test_an_intent_is_read_at_a_path(path: tuple[str | int, ...], answer: Json) -> None:
    run = everywhere(intent_gate(field=path))
    run.answer({"answer": answer})
    assert where(run) == "n"


class TestAJump:
    NAMED = Edge("jump", Named({"n": "n", "two": "h"}))
    GATE = intent_gate(target=("to",))

    @pytest.mark.parametrize(
        ("to", "place"), [("n", "n"), ("two", "h"), ("N", "j"), ("nobody", "j"), ("", "j"), (None, "j"), (1, "j")]
    )
    def test_goes_where_the_answer_says_or_else_where_the_next_edge_leads(self, to: Json, place: str) -> None:
        run = everywhere(self.GATE, self.NAMED)
        run.answer(says("jump", to=to))
        assert where(run) == place

    def test_without_a_target_in_the_answer_takes_the_next_edge(self) -> None:
        run = everywhere(self.GATE, self.NAMED)
        run.answer(says("jump"))
        assert where(run) == "j"

    def test_that_nothing_else_takes_ends_the_run(self) -> None:
        run = Run(flow(a=step(self.NAMED, gate=self.GATE), n=step(), h=step()))
        run.answer(says("jump", to="nobody"))
        assert run.end == (Outcome.FAILED, "a: no-edge")

    def test_is_not_made_by_another_intent(self) -> None:
        run = everywhere(self.GATE, self.NAMED)
        run.answer(says("next", to="two"))
        assert where(run) == "n"


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("ready", "j"),
        (True, "h"),
        ("true", "h"),
        (1, "e"),
        (1.0, "e"),
        ("1", "e"),
        (None, "n"),
        ("null", "n"),
        ([], "n"),
        ("READY", "n"),
    ],
)
def test_a_value_is_compared_as_text(value: Json, place: str) -> None:
    gate = intent_gate(handoff=(("status",),))
    cases = {"ready": "j", "true": "h", "1": "e"}
    edges = tuple(Edge("next", Go(to), (Reads(("handoff", "status"), (text,)),)) for text, to in cases.items())
    run = everywhere(gate, *edges)
    run.answer(says("next", status=value))
    assert where(run) == place


def test_a_value_that_is_not_there_is_no_case_at_all() -> None:
    run = everywhere(intent_gate(handoff=(("status",),)), Edge("next", Go("j"), (Reads(("handoff", "status"), ("",)),)))
    run.answer(says("next"))
    assert where(run) == "n"


def test_terms_may_ask_for_null() -> None:
    edge = Edge("next", Go("j"), (Among(("handoff", "status"), (None,)),))
    run = everywhere(intent_gate(handoff=(("status",),)), edge)
    run.answer(says("next", status=None))
    assert where(run) == "j"


class TestWhatIsHandedOver:
    """A step hands over what its gate lists, under the last part of each path, and all of its answer else."""

    def carried(self, answer: Json, *paths: tuple[str | int, ...], key: str) -> str | None:
        gate = intent_gate(handoff=paths)
        carried = Carried("a", key, required=False, default="nothing")
        b = step(Edge("next", DONE), prompt=(Hole(("variable", "x")),), variables={"x": carried})
        run = Run(flow(a=step(Edge("next", Go("b")), gate=gate), b=b))
        run.answer({"answer": answer})
        return asked(run).prompt

    @pytest.mark.parametrize(
        ("paths", "key", "wanted"),
        [
            ((("deep", "found"),), "found", "1"),
            ((("found",), ("deep", "found")), "found", "1"),
            ((("deep", "found"), ("found",)), "found", "0"),
            ((("found",), ("no", "found")), "found", "0"),
            ((("list", "1"),), "1", "y"),
            ((("empty",),), "empty", ""),
            ((("deep",),), "deep", '{"found":1}'),
            ((("found",),), "action", "nothing"),
            ((), "action", "next"),
            ((("no", "such"),), "found", "0"),
        ],
    )
    def test_is_kept_for_the_steps_that_follow(self, paths: tuple[tuple[str, ...], ...], key: str, wanted: str) -> None:
        answer: Json = {"action": "next", "found": 0, "deep": {"found": 1}, "list": ["x", "y"], "empty": None}
        assert self.carried(answer, *paths, key=key) == wanted


@pytest.mark.parametrize("intent", [each for each in INTENTS if each != "closing"])
def test_an_edge_to_a_step_that_cannot_start_leads_to_the_one_instead(intent: str) -> None:
    edges = (Edge(intent, Go("x", "n")),)
    broken = step(Edge("next", DONE), variables={"x": Carried("a", "nothing")})
    run = Run(flow(a=step(*edges), x=broken, n=step(Edge("next", DONE))))
    run.answer(says(intent))
    assert (where(run), run.step.state.executions) == ("n", 2)


def test_the_end_of_the_run_is_what_the_edge_says() -> None:
    run = Run(flow(a=step(Edge("closing", FAILED))))
    run.answer(says("closing"))
    assert run.end == (Outcome.FAILED, "a: stopped")


JUDGED = CONTENTS.add(
    '{"properties":{"action":{"enum":["next","closing"]}},"required":["action"],'
    '"if":{"properties":{"action":{"const":"closing"}}},"then":{"required":["verdict"]}}'
)
LOUD = CONTENTS.add('{"properties":{"action":{"pattern":"^[A-Z]"}}}')


def test_an_answer_is_judged_and_kept_with_the_intent_that_its_word_means() -> None:
    run = Run(flow(a=step(*goes(next="n"), Edge("closing", DONE), schema=JUDGED), n=PLACES["n"]))
    run.answer(says("Done"))
    assert asked(run).complaint == '"verdict" is a required property'
    run.answer(says("finished", verdict="ok"))
    assert run.end == (Outcome.DONE, "completed")
    assert run.step.state.past["a"].record == {"action": "closing", "verdict": "ok"}


def test_a_word_that_the_schema_alone_allows_counts_as_it_was_given() -> None:
    run = Run(flow(a=step(*goes(next="n"), schema=LOUD), n=PLACES["n"]))
    run.answer(says("NEXT"))
    assert (where(run), run.step.state.past["a"].record) == ("n", {"action": "NEXT"})


def test_words_are_found_inside_lists_and_nothing_else_is_changed() -> None:
    run = Run(flow(a=step(*goes(next="n"), gate=intent_gate(field=("all", "1", "action"))), n=PLACES["n"]))
    given: dict[str, Json] = {"all": [{"action": "wait"}, {"action": "continue", "more": [1]}]}
    run.answer({"answer": given})
    record = {"all": [{"action": "wait"}, {"action": "next", "more": [1]}]}
    assert (where(run), run.step.state.past["a"].record) == ("n", record)
    assert given["all"][1]["action"] == "continue"
