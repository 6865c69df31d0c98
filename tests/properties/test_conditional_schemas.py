"""Random schemas with alternatives, conditions and denials: what stagec promises of an answer with an intent holds."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from handmade import repeating
from tests.campaigns import choose

from stagec.core.budgets import Budgets
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.ir.plan.document import Contents
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.samples import PlainDemands, RequiredValue, make_samples
from stagec.sources.contract.choices import identity
from stagec.sources.contract.conflict import emptiness
from stagec.sources.contract.promise import Presence, possible_values, promise
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources
from stagec.sources.shape.dialects import Dialect

KEYWORDS = ("oneOf", "anyOf", "if", "not", "allOf", "dependentSchemas")
MOST_FOUND = 0.995
"""Of intricate denials a few need values that nobody thinks of."""
INTENTS = ("next", "repeat")
VALUES: tuple[Any, ...] = ("a", "b", 1, 2, True)
ANSWERS = [
    {name: each for name, each in (("action", action), ("status", status), ("to", to)) if each is not ...}
    for action, status, to in product((*INTENTS, ...), (*VALUES, ...), (*VALUES, ...))
]


class Maker:
    """Makes a schema of an answer with an intent and two other members."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311

    def make(self) -> dict[str, Any]:
        chance = self.chance
        made: dict[str, Any] = {"$schema": chance.choice(tuple(Dialect)).address, "type": "object"}
        made["required"] = chance.choice((["action"], ["action", "status"], ["action", "to"]))
        made["properties"] = {"action": {"enum": list(INTENTS)}, "status": self.value(), "to": self.value()}
        if chance.random() < 0.3:
            made["additionalProperties"] = False
        for key in chance.sample(KEYWORDS, chance.choice((1, 1, 2))):
            made |= self.keyword(key, 2)
        return made

    def keyword(self, key: str, depth: int) -> dict[str, Any]:
        if key == "not":
            return {"not": self.part(depth - 1)}
        if key == "if":
            made = {"if": self.part(depth - 1)}
            for each in self.chance.choice((("then",), ("else",), ("then", "else"))):
                made[each] = self.part(depth - 1)
            return made
        if key == "dependentSchemas":
            inner = {each: self.part(depth - 1) for each in self.chance.sample(("action", "status", "to"), 2)}
            return {key: inner, "dependencies": inner}
        return {key: [self.part(depth - 1) for _ in range(self.chance.choice((1, 2, 2)))]}

    def part(self, depth: int) -> Any:
        chance = self.chance
        made: dict[str, Any] = {}
        if chance.random() < 0.6:
            made["properties"] = {
                "action": chance.choice(({"const": "next"}, {"enum": ["repeat"]}, {"const": "repeat"}))
            }
        if chance.random() < 0.3:
            made.setdefault("properties", {})[chance.choice(("status", "to"))] = self.value()
        if chance.random() < 0.5:
            made["required"] = [chance.choice(("status", "to", "action"))]
        if depth > 0 and chance.random() < 0.3:
            made |= self.keyword(chance.choice(KEYWORDS), depth)
        return made

    def value(self) -> Any:
        chance = self.chance
        made: dict[str, Any] = chance.choice(
            (
                {"enum": ["a", "b"]},
                {"enum": [1, "a", True]},
                {"type": "integer"},
                {"const": 2},
                {"type": ["string"]},
                {},
            )
        )
        return {**made, "not": chance.choice(({"const": "a"}, {"type": "string"}))} if chance.random() < 0.2 else made


def _schemas(schema: Any) -> tuple[Schemas, Schema]:
    sources = Sources(Path("/nowhere"), Budgets(), {"a.json": json.dumps(schema).encode()})
    return Schemas(sources), Schema(schema, Place("a.json"))


@pytest.mark.parametrize("seed", range(choose(60, whole=2_000)))
def test_what_is_promised_of_answers_with_an_intent_holds(seed: int) -> None:
    schema = Maker(seed).make()
    valid = [each for each in ANSWERS if jsonschema_rs.validator_for(schema).is_valid(each)]
    schemas, whole = _schemas(schema)
    if emptiness(schemas, whole) is not None:
        assert valid == []
    for intent, name in product(INTENTS, ("status", "to")):
        having = [each for each in valid if each.get("action") == intent]
        promised = promise(schemas, whole, (name,), of_object=True, given=(("action",), intent))
        if promised.presence is Presence.SURE:
            assert all(name in each for each in having), (intent, name)
        if promised.presence is Presence.IMPOSSIBLE:
            assert not any(name in each for each in having), (intent, name)
        named = possible_values(schemas, promised)
        if isinstance(named, tuple):
            known = set(map(identity, named))
            assert all(identity(each[name]) in known for each in having if name in each), (intent, name)


def test_what_may_be_left_out_can_be_left_out_or_is_called_uncertain() -> None:
    told: Counter[str] = Counter()
    for seed in range(choose(100, whole=1_000)):
        schema = Maker(seed).make()
        schemas, whole = _schemas(schema)
        valid = [each for each in ANSWERS if jsonschema_rs.validator_for(schema).is_valid(each)]
        for intent, name in product(INTENTS, ("status", "to")):
            having = [each for each in valid if each.get("action") == intent]
            promised = promise(schemas, whole, (name,), of_object=True, given=(("action",), intent))
            if having and promised.presence in {Presence.POSSIBLE, Presence.UNKNOWABLE}:
                left_out = any(name not in each for each in having)
                told[f"{promised.presence} {left_out}"] += 1
    # what is left out may let two alternatives of a `oneOf` hold, so that no answer leaves it out after all
    assert told["possible False"] * 400 <= told["possible True"], told
    assert told["possible True"] > told["unknowable True"] > 0


def test_an_answer_is_made_up_for_every_intent_that_an_answer_can_have() -> None:
    told: Counter[str] = Counter()
    for seed in range(choose(50, whole=2_000)):
        schema = {**Maker(seed).make(), "$schema": Dialect.OF_2019.address}  # plans have schemas of late drafts
        contents = Contents()
        name = contents.add(json.dumps(schema))
        program = program_of(replace(repeating(), contents={**repeating().contents, **contents.texts}))
        valid = [each for each in ANSWERS if jsonschema_rs.validator_for(schema).is_valid(each)]
        for intent in INTENTS:
            if any(each.get("action") == intent for each in valid):
                made = next(make_samples(program, name, [RequiredValue(("action",), intent)]), None)
                told["found" if made is not None else f"not found: {seed} {intent}"] += 1
    assert told["found"] >= MOST_FOUND * told.total() > 0, told


def test_no_answer_has_a_value_that_its_schema_is_said_never_to_allow() -> None:
    told: Counter[bool] = Counter()
    for seed in range(choose(50, whole=2_000)):
        schema = {**Maker(seed).make(), "$schema": Dialect.OF_2019.address}
        contents = Contents()
        name = contents.add(json.dumps(schema))
        program = program_of(replace(repeating(), contents={**repeating().contents, **contents.texts}))
        demands = PlainDemands(program, name)
        valid = [each for each in ANSWERS if jsonschema_rs.validator_for(schema).is_valid(each)]
        having = {(member, json.dumps(each[member])) for each in valid for member in each}
        for member, given in {(member, json.dumps(each[member])) for each in ANSWERS for member in each}:
            is_allowed = demands.allow(RequiredValue((member,), json.loads(given)))
            told[is_allowed] += 1
            assert is_allowed or (member, given) not in having, (seed, member, given)
        for member in ("action", "status", "to"):
            is_allowed = demands.allow(RequiredValue((member,), absent=True))
            told[is_allowed] += 1
            assert is_allowed or all(member in each for each in valid), (seed, member)
    assert told[False] > 0 < told[True]
