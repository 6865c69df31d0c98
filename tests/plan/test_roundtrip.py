"""Whatever a plan says, it says after it was written and read, in the same bytes, and it lacks nothing it names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import validator_for
from plan.random_plans import plans
from plan_vectors.references import missing

from stagec.core.canonical import digest
from stagec.core.value import replace
from stagec.ir.plan import Plan, PlanError, dump, load, verify
from stagec.ir.plan.codec import write
from stagec.ir.plan.loader import read_frame, schema
from stagec.ir.plan.soundness import dangling

TABLES = ("nodes", "contents", "validators", "tools", "servers", "entries")
SATISFIED = validator_for(json.loads(json.dumps(schema())))
every_plan = settings(max_examples=choose(6, whole=20), deadline=None)


def reordered(given: Any) -> Any:
    """Return a value in which the members of every mapping are the other way round."""
    if isinstance(given, dict):
        return {name: reordered(each) for name, each in reversed(given.items())}
    if isinstance(given, tuple | list):
        return type(given)(map(reordered, given))
    fields = getattr(type(given), "_defaults", None)
    if fields is None:
        return given
    return type(given)(*(reordered(getattr(given, name)) for name in type(given).__match_args__))


@every_plan
@given(plans())
def test_a_plan_is_read_as_it_was_written(plan: Plan) -> None:
    data = dump(plan)
    loaded = load(data)
    assert loaded.plan == plan
    assert loaded.digest == digest(read_frame(data)[1])
    assert dump(loaded.plan) == data
    assert verify(data) == loaded


@every_plan
@given(plans())
def test_the_order_of_members_does_not_matter(plan: Plan) -> None:
    assert dump(reordered(plan)) == dump(plan)


@every_plan
@given(plans())
def test_a_plan_satisfies_the_published_schema(plan: Plan) -> None:
    assert SATISFIED.is_valid(json.loads(dump(plan)))


@every_plan
@given(plans())
def test_a_whole_plan_lacks_nothing(plan: Plan) -> None:
    assert list(dangling(plan)) == []


@every_plan
@given(plans(), st.data())
def test_what_is_taken_away_is_missed_where_it_was_named(plan: Plan, data: st.DataObject) -> None:
    some = [each for each in TABLES if len(getattr(plan, each)) > (each == "entries")]  # there must be an entry
    table = data.draw(st.sampled_from(some))
    gone = data.draw(st.sampled_from(sorted(getattr(plan, table))))
    kept = {name: each for name, each in getattr(plan, table).items() if name != gone}
    lacking = replace(plan, **{table: kept})
    found = list(dangling(lacking))
    assert found in ([], [(table, gone)])
    assert {f"{group} has no {name}" for group, name in found} == set(missing(json.loads(json.dumps(write(lacking)))))
    if found:
        with pytest.raises(PlanError):
            load(dump(lacking))
