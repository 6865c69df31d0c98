"""Every operator changes one thing, says what, and makes plans that can be run."""

from __future__ import annotations

import pickle
from collections import Counter

import pytest
from campaigns import sample
from mutation.examples import plans

from stagec.change.mutation.mutant import Mutant
from stagec.change.mutation.trial import list_mutants, list_operators
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump, verify
from stagec.ir.plan.facts import facts

NAMES = [each.name for each in list_operators()]

SENTENCES = {
    "attempts-shifted": ("code-review", "'execute': it is not tried again"),
    "carried-dropped": ("issue-flow", "'initial.issue': 'analysis.approach' is not kept for other nodes"),
    "case-order": ("code-review", "'review': case 2 on 'ok' is asked before case 1"),
    "choice-changed": ("steps", None),
    "condition-changed": (
        "code-review",
        "'review': the condition on 'parsed.severity' of case 2 on 'ok' holds for 'low' as well",
    ),
    "deadline-removed": ("timed", "'check': it has no deadline of 30 min"),
    "edge-end": ("docs-repair", "'repair': the edge on 'ok' ends as 'done' instead of leading on"),
    "edge-target": ("docs-repair", "'repair': the edge on 'ok' leads to 'repair' instead of 'check'"),
    "entry-changed": ("docs-repair", "the entry is 'check' instead of 'write'"),
    "fallback-removed": ("lenient", "'initial.issue': the fallback is 'next' instead of 'repeat'"),
    "gate-removed": ("docs-repair", "'check': check 1 says 'retry'"),
    "input-dropped": ("guest-book", "'title': the value '/ctx/review' is dropped"),
    "input-requirement": ("project-flow", "the input 'owner' has no default"),
    "intent-added": ("issue-flow", "'initial.issue': the intent 'handoff' is allowed"),
    "intent-removed": ("issue-flow", "'initial.issue': the intent 'repeat' is gone, with its edges"),
    "join-changed": ("code-review", "'execute': the edge on 'ok' has no join 'review'"),
    "limit-shifted": ("docs-repair", "the limit 'executions' is 7 and not 8"),
    "need-removed": ("wine-quality", "'S08_notify_team' does not wait for 'S07_generate_report'"),
    "outcomes-swapped": (
        "docs-repair",
        "'repair': the edges on 'ok' (1) and 'fail' (2) lead where the other one leads",
    ),
    "retryable-changed": ("wine-quality", "'S08_notify_team': it may run again"),
    "schema-loosened": ("guest-book", "'title': the schema of its answers: title: 'minLength' 3 → 2"),
    "schema-tightened": ("guest-book", "'title': the schema of its answers: title: 'maxLength' 40 → 39"),
    "tool-added": ("docs-repair", "'check': the tool 'Edit' is allowed"),
    "tool-removed": ("docs-repair", "'check': the tool 'run_examples' is taken away"),
    "turns-shifted": ("docs-repair", "'check': 9 turns instead of 10"),
    "validator-dropped": ("issue-flow", "'closure.issue': the validator 'git-clean' is not asked"),
    "wait-changed": ("code-review", "'execute': it does not wait before it tries again"),
}


def test_every_operator_has_a_sentence_here() -> None:
    assert [*SENTENCES] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_says_what_it_changes(name: str) -> None:
    plan, sentence = SENTENCES[name]
    told = [each.told for each in list_mutants(plans()[plan], (name,))]
    assert told
    assert sentence is None or told.count(sentence) == 1


def test_elements_of_a_list_lose_their_join_or_fail_otherwise() -> None:
    told = [each.told for each in list_mutants(plans()["file-review"], ("join-changed",))]
    assert told == [
        "'list-files': the edge on 'ok' ends with the first element that fails",
        "'list-files': the edge on 'ok' has no join 'summarise'",
    ]


def _verified(plan: Plan) -> Plan:
    return verify(dump(replace(plan, facts=facts(plan)))).plan


@pytest.mark.parametrize("name", [*plans()])
def test_mutants_are_plans_that_differ_where_they_say(name: str) -> None:
    """What runs need is checked again, in the bytes."""
    plan = plans()[name]
    every = [*list_mutants(plan)]
    assert every
    for mutant in sample(every, 40):
        changed = mutant.apply(plan)
        assert replace(_verified(changed), facts=None) == changed
        if mutant.node is not None and set(mutant.nodes) == {mutant.node}:
            rest = {**changed.nodes, mutant.node: plan.nodes[mutant.node]}
            bare = replace(plan, facts=None)
            assert replace(changed, nodes=rest, contents=plan.contents) == bare, mutant.told
        assert mutant.told
        assert mutant.wanted
        assert pickle.loads(pickle.dumps(mutant)) == mutant


def test_mutants_come_in_one_order_and_once() -> None:
    for plan in plans().values():
        every = [*list_mutants(plan)]
        assert every == [*list_mutants(plan)]
        known: list[Mutant] = []
        for each in every:
            known += [each] * (each.apply(plan) == replace(plan, facts=None))
        assert not known, [each.told for each in known]
        assert Counter(each.operator for each in every).keys() <= set(NAMES)


def test_operators_have_pages() -> None:
    for each in list_operators():
        assert each.page.endswith(".")
        assert "\n" not in each.page
