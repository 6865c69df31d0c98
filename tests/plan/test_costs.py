"""What is known to be cheap without weighing it is cheap when it is weighed."""

from __future__ import annotations

import json
from random import Random

import pytest

from stagec.core.expansion import patterns_in, weigh
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.document import Contents, Input, Limits, Names
from stagec.ir.plan.facts import _is_plain, schema_in, unaffordable

SCHEMAS = ("not", "if", "then", "else", "additionalProperties", "propertyNames", "additionalItems", "contains", "items")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
TABLES = ("properties", "dependentSchemas", "dependencies", "$defs")
VALUES: tuple[tuple[str, Json], ...] = (
    ("enum", [1, 2, 3, "four"]),
    ("required", ["a", "b"]),
    ("dependentRequired", {"a": ["b", "c"]}),
    ("dependencies", {"a": ["b"]}),
    ("const", {}),
    ("uniqueItems", True),
    ("minimum", 1),
    ("format", "regex"),
)


def random_schema(random: Random, depth: int) -> Json:
    """Return a schema of all keywords that apply schemas, but those that refer, repeat or match."""
    made: dict[str, Json] = dict(random.sample(VALUES, random.randint(0, 3)))
    for _ in range(random.randint(0, 3) if depth else 0):
        inner = [random_schema(random, depth - 1) for _ in range(random.randint(0, 3))]
        kind = random.randrange(3)
        if kind == 0:
            made[random.choice(SCHEMAS)] = random_schema(random, depth - 1)
        elif kind == 1:
            made[random.choice(LISTS)] = inner
        else:
            made[random.choice(TABLES)] = {str(at): each for at, each in enumerate(inner)}
    return made


@pytest.mark.parametrize("random", list(map(Random, range(20))), ids=range(20))
def test_a_plain_schema_weighs_no_more_than_what_is_written(random: Random) -> None:
    for _ in range(20):
        text = json.dumps(random_schema(random, 4), separators=(",", ":"))
        schema, reason = schema_in(text)
        assert reason == ""
        assert _is_plain(text)
        assert weigh(schema).weight(schema) <= max(2 * len(text), 1)
        assert list(patterns_in(schema)) == []


def plan_of(schema: str) -> Plan:
    contents = Contents()
    inputs = {"given": Input(schema=contents.add(schema))}
    return Plan("p", Names("step", "intent"), {}, {}, contents.texts, Limits(), inputs=inputs)


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ('{"$ref":"#"}', "refers to itself without end"),
        ('{"\\u0024ref":"#"}', "refers to itself without end"),
        ('{"$recursiveRef":"#"}', "refers to itself without end"),
        ('{"$dynamicAnchor":"a","$dynamicRef":"#a"}', "refers to itself without end"),
        ('{"pattern":"(a{1000}){1000}"}', "has the pattern"),
        ('{"patter\\u006e":"(a{1000}){1000}"}', "has the pattern"),
        ('{"patternProperties":{"(a{1000}){1000}":{}}}', "has the pattern"),
        ("[" * 400 + "]" * 400, "is not an object"),
        ('{"not":' * 400 + "{}" + "}" * 400, "levels deep"),
        ('{"unevaluatedProperties":' * 20 + '{"allOf":[{}]}' + "}" * 20, ""),
    ],
)
def test_what_costs_too_much_is_found_however_it_is_written(schema: str, told: str) -> None:
    found = [reason for _, reason in unaffordable(plan_of(schema))]
    assert len(found) == bool(told)
    assert all(told in reason for reason in found)


def test_a_schema_whose_parts_are_judged_again_and_again_is_weighed() -> None:
    schema = "{}"
    for _ in range(12):
        schema = f'{{"unevaluatedProperties":false,"allOf":[{schema}]}}'
    assert [reason.partition(",")[0] for _, reason in unaffordable(plan_of(schema))] != []
    assert list(unaffordable(replace(plan_of("{}"), inputs={}))) == []
