"""What has the form of a plan satisfies the published schema, and nothing else does."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
from campaigns import choose
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan.examples import FILES, payload
from plan.random_plans import plans
from plan.test_loader import mutate

from stagec.core.canonical import canonical
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.codec import CodecError, codec_of

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "plan.schema.json").read_bytes())
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)


class Every:
    """Every name of a form that there may be: what a plan refers to is no matter of its own form."""

    def __init__(self, form: str) -> None:
        self.form = re.compile(form, re.DOTALL)

    def __contains__(self, name: object) -> bool:
        return self.form.fullmatch(str(name)) is not None


TABLES = ("nodes", "validators", "tools", "servers", "entries", "choices", "plans")
KNOWN: Mapping[str, Any] = {**dict.fromkeys(TABLES, Every(".*")), "contents": Every("sha256:[0-9a-f]{64}")}


def has_the_form(plan: Any) -> bool:
    try:
        codec_of(Plan).read(plan, KNOWN)
    except CodecError:
        return False
    return True


@settings(max_examples=choose(6, whole=20), deadline=None, suppress_health_check=list(HealthCheck))
@given(plans(), st.integers(0, 1000))
def test_the_reader_and_the_schema_accept_the_same(plan: Plan, seed: int) -> None:
    data, chance = dump(plan), random.Random(seed)  # noqa: S311
    for _ in range(20):
        changed = payload(data)
        mutate(changed, chance)
        changed = json.loads(canonical(changed))  # to a schema 1.0 is an integer, and a plan writes it as one
        if changed.get("is") == "stagec.plan/1":  # without it nobody reads on
            assert VALIDATOR.is_valid({"digest": f"sha256:{'0' * 64}", "plan": changed}) == has_the_form(changed)


def members(given: Any) -> Iterator[tuple[str, str]]:
    """Yield every member in some JSON, each with the tag beside it."""
    if isinstance(given, dict):
        yield from ((str(given.get("is")), name) for name in given)
    for each in given.values() if isinstance(given, dict) else given if isinstance(given, list) else ():
        yield from members(each)


def test_every_member_there_is_occurs_in_the_plans_of_these_tests() -> None:
    vectors = Path(__file__).parents[1] / "plan_vectors"
    others = [(vectors / name / "plan.json").read_bytes() for name in ("file-review", "jumps")]
    found = {member for data in (*FILES.values(), *others) for member in members(payload(data))}

    @settings(max_examples=30, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(plans())
    def collect(plan: Plan) -> None:
        found.update(members(payload(dump(plan))))

    collect()
    known = {
        (each["properties"].get("is", {"const": "None"})["const"], name)
        for each in SCHEMA["$defs"].values()
        for name in each["properties"]
    }
    assert known - found == set()
