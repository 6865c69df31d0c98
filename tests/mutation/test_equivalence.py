"""Mutants that no run can tell from the plan are found, and only these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

import pytest
from campaigns import choose
from comparison.cases import carrying
from mutation.examples import EXAMPLES, plans

from stagec.change.mutation.equivalence import Equivalence
from stagec.change.mutation.mutant import Mutant
from stagec.change.mutation.trial import list_mutants
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse, Prompt, Provided
from stagec.runtime.drivers.local.drive import play
from stagec.runtime.machine import Effect, Event, Started, StepResult
from stagec.runtime.machine.answer_schemas import prepare
from stagec.runtime.machine.exchange import Ask, Call, Execute, Publish, Shell, Turn, Wait, read_key
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.scripted_world import simulate_stage
from stagec.sources.contract.inclusion import list_samples

REASONS = [
    ("guest-book", "'read': case 1 on 'ok' is asked", None),
    ("guest-book", "'read': case 2 on 'ok' is asked before case 1", "every result leads to the same node"),
    (
        "guest-book",
        "'read': the condition on 'parsed.review' of case 2 on 'ok' is dropped",
        "every result leads to the same node",
    ),
    ("guest-book", "'read': the condition on 'parsed.review' of case 1 on 'ok' is dropped", None),
    ("code-review", "'review': case 2 on 'ok' is asked before case 1", None),
    ("code-review", "'test': the edge on 'ok' ends as 'failed'", "every result leads to the same node"),
    ("code-review", "'test': the edge on 'fail' ends as 'done'", None),
    ("code-review", "'execute': the schema of its inputs: parsed: 'steps'", "every node before hands over"),
    ("code-review", "'execute': the schema of its answers: 'files' is not required", None),
    ("code-review", "'execute': the schema of its answers: 'type' is gone", "both schemas accept the same values"),
    ("code-review", "the limit 'parallel' is 3", "there is room for all nodes"),
    ("code-review", "the limit 'parallel' is 1", None),
    ("code-review", "the limit 'executions' is 21", None),
    ("docs-repair", "'check': it is not tried again", "no result of this node is tried again"),
    ("docs-repair", "'write': it is not tried again", None),
    ("docs-repair", "'check': check 1 says 'retry'", None),
    ("issue-flow", "the limit 'maxIterations' is 41", "no node asks the judge"),
    ("issue-flow", "'closure.issue': validators guard every outcome", "no other outcome that would be guarded"),
    ("issue-flow", "'closure.issue': the validator 'git-clean' is not asked", None),
    ("wine-quality", "the limit 'parallel' is 3", None),
    ("project-flow", "the input 'owner' is required", None),
    ("lenient", "'initial.issue': its waits are 'fixed'", None),
]


@cache
def mutants(name: str) -> list[Mutant]:
    return [*list_mutants(plans()[name])]


@pytest.mark.parametrize(("name", "told", "reason"), REASONS)
def test_a_mutant_is_equivalent_for_a_reason(name: str, told: str, reason: str | None) -> None:
    plan = plans()[name]
    found = [each for each in mutants(name) if each.told.startswith(told)]
    assert found or reason is None
    for each in found:
        why = Equivalence(plan).explain(each, each.apply(plan))
        assert (why is None) if reason is None else (why is not None and reason in why)


def test_a_limit_that_no_run_reaches_makes_no_difference_unless_a_prompt_names_it() -> None:
    plan = replace(plans()["guest-book"], limits=replace(plans()["guest-book"].limits, executions=3))
    (higher,) = [each for each in list_mutants(plan) if each.told == "the limit 'executions' is 4 and not 3"]
    (lower,) = [each for each in list_mutants(plan) if each.told == "the limit 'executions' is 2 and not 3"]
    known = Equivalence(plan)
    assert known.explain(higher, higher.apply(plan)) == "no run has so many executions"
    assert known.explain(lower, lower.apply(plan)) is None
    asked = Prompt((), variables={"left": Provided("remaining")})
    nodes = {**plan.nodes, "read": replace(plan.nodes["read"], act=asked)}
    assert Equivalence(replace(plan, nodes=nodes)).explain(higher, higher.apply(replace(plan, nodes=nodes))) is None


def test_a_node_that_no_run_comes_to_makes_no_difference() -> None:
    plan = replace(plans()["docs-repair"], entries={"": "repair"})
    found = [each for each in list_mutants(plan, ("turns-shifted",)) if each.node == "write"]
    assert {Equivalence(plan).explain(each, each.apply(plan)) for each in found} == {"no run reaches this node"}


def test_the_same_schema_explains_nothing_where_the_gate_has_changed_as_well() -> None:
    plan = carrying()
    (found,) = [each for each in list_mutants(plan, ("intent-added",)) if each.node == "end"]
    assert Equivalence(plan).explain(found, found.apply(plan)) is None


class _Chance:
    """Answers as a model, a tool and a program may; the same request gets the same answer."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self._plan, self._seed = plan, seed

    def answer(self, effect: Effect) -> Json:
        random = Random(f"{self._seed} {effect.key}")
        match effect:
            case Ask():
                return {"answer": self._think(effect, random)}
            case Turn():
                tools = random.choices([*effect.tools, effect.completion], k=random.choice([0, 1, 1, 1, 2]))
                calls = [(each, self._think(effect, random)) for each in tools]
                return {"calls": [{"id": f"{at}", "tool": t, "arguments": a} for at, (t, a) in enumerate(calls)]}
            case Call():
                return {"value": "done"}
            case Shell():
                return {"exit": random.choice([0, 0, 1]), "stdout": random.choice(["", "", "x"]), "stderr": ""}
            case Execute():
                return simulate_stage(effect, {"exit": random.choice([0, 0, 0, 1])})
            case Publish():
                return simulate_stage(effect, {})
            case Wait():
                return {}
            case _:
                return {"valid": random.random() < 0.8}

    def _think(self, effect: Ask | Turn, random: Random) -> Json:
        """Return a value that the schema of the plan accepts, or one that is near; the mutant gets the same."""
        act = self._plan.nodes[read_key(effect.key).node].act
        assert isinstance(act, Prompt | Converse)
        fit, near = _list_answers(self._plan.contents[act.schema or ""])
        return random.choice(fit if fit and random.random() < 0.8 else near)


@cache
def _list_answers(schema: str) -> tuple[list[Json], list[Json]]:
    told, judge = json.loads(schema), prepare(schema)
    near = [each for each in (*list_samples(told, told), *list_samples(told, {})) if isinstance(each, dict)]
    return [each for each in near if judge.complaint(each) is None], near


def _run(plan: Plan, base: Plan, seed: int, inputs: Mapping[str, Json]) -> list[Any]:
    seen: list[Any] = []

    def observe(_event: Event, step: StepResult) -> None:
        asked = [(each.key, getattr(each, "prompt", ""), getattr(each, "tools", "")) for each in step.effects]
        seen.append((asked, step.moves, step.last))

    try:
        state = play(program_of(plan), _Chance(base, seed), Started("r", None, inputs), observe)
    except Failure as failure:
        return [*seen, str(failure)]
    return [*seen, state.ended, state.reason]


@pytest.mark.parametrize("name", EXAMPLES)
def test_runs_of_equivalent_mutants_do_not_differ(name: str) -> None:
    plan = plans()[name]
    bare, known = replace(plan, facts=None), Equivalence(plan)
    every = mutants(name)
    found: list[Mutant] = [each for each in every if known.explain(each, each.apply(plan))]
    others = [each for each in every if each not in found]
    inputs: Mapping[str, Json] = {
        key: {"issue": 7, "project": 5}.get(key, "some text") for key, each in plan.inputs.items() if each.required
    }
    differing = set()
    for seed in range(choose(4, whole=25)):
        expected = _run(bare, bare, seed, inputs)
        for each in found:
            assert _run(each.apply(plan), bare, seed, inputs) == expected, (each.told, seed)
        for other in Random(seed).sample(others, 10) if not differing else ():
            if _run(other.apply(plan), bare, seed, inputs) != expected:
                differing.add(other.told)
    assert differing, "the runs would not show a difference"
