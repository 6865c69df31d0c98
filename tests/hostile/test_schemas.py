"""Schemas that explode, loop, or refer to more than there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Registry = Callable[..., dict[str, Any]]
INTENTS = {"type": "object", "properties": {"x": {"enum": ["next"]}}}
LONG = 10_000

PATTERNS = {
    "nested": "(a+)+$",
    "alternatives": "^(a|a)*$",
    "a megabyte of it": "(a+)+" * 150_000,
    "a megabyte of groups": "(" * 400_000 + ")" * 400_000,
    "open groups": "(" * 900_000,
    "brackets": "[" * 900_000,
    "repetitions": "a{1000}{1000}{1000}{1000}",
    "many repetitions": "a{1,1000}" * 100,
    "bars": "|" * 900,
    "optional": "a?" * 400 + "a" * 100,
    "classes": "[\\w-\\d]" * 100,
    "large range": "[\u0001-\U0010ffff]{999999999}",
    "huge repetition": "a{999999999999999999999999}",
    "huge code point": "\\u{ffffff}",
    "lookbehind": "(?<=" * 200 + "a" + ")" * 200,
    "back references": "(a*)*\\1*\\1*\\1*b",
}


def chain(length: int, step: str = "#/$defs/k{}") -> dict[str, Any]:
    links = {f"k{number}": {"$ref": step.format(number + 1)} for number in range(length)}
    return {"a": {"$ref": "#/$defs/k0"}, "$defs": {**links, f"k{length}": INTENTS}}


def diamonds(depth: int, keyword: str = "allOf") -> dict[str, Any]:
    twice = {f"k{n}": {keyword: [{"$ref": f"#/$defs/k{n + 1}"}] * 2} for n in range(depth)}
    return {"a": {"$ref": "#/$defs/k0"}, "$defs": {**twice, f"k{depth}": INTENTS}}


def tower(depth: int) -> dict[str, Any]:
    """Two ways down at every level, each through a member."""
    twice = {"allOf": [{"properties": {"x": {"$ref": "#/a"}}}, {"properties": {"x": {"$ref": "#/a"}}}]}
    return {"a": twice} if depth else {}


def doubling(depth: int) -> dict[str, Any]:
    """At every level two different schemas below the same member."""
    below = {
        f"{side}{n}": {"allOf": [{"properties": {"x": {"$ref": f"#/$defs/{each}{n + 1}"}}} for each in "lr"]}
        for n in range(depth)
        for side in "lr"
    }
    return {"a": {"$ref": "#/$defs/l0"}, "$defs": {**below, f"l{depth}": INTENTS, f"r{depth}": INTENTS}}


GRAPHS: dict[str, Any] = {
    "cycle of one": {"a": {"$ref": "#/a"}},
    "cycle of two": {"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}},
    "cycle through the root": {"allOf": [{"$ref": "#"}, {"$ref": "#"}], "a": {"$ref": "#"}},
    "fan-out": {"allOf": [{"$ref": "#"}] * 40_000, "a": {"$ref": "#"}},
    "cycle through members": {"a": {"properties": {"x": {"$ref": "#/a"}}}},
    "cycle of files": {"a": {"$ref": "t.schema.json#/a"}},
    "chain": chain(LONG),
    "chain of anchors": {
        "a": {"$ref": "#k0"},
        "$defs": {f"k{n}": {"$anchor": f"k{n}", "$ref": f"#k{n + 1}"} for n in range(LONG)},
    },
    "references to nothing": {"a": INTENTS, "$defs": {f"k{n}": {"$ref": f"#/n{n}"} for n in range(20_000)}},
    "the same reference to nothing": {"a": INTENTS, "$defs": {f"k{n}": {"$ref": "#/nowhere"} for n in range(20_000)}},
    "references to no anchor": {"a": INTENTS, "$defs": {f"k{n}": {"$ref": f"#n{n}"} for n in range(20_000)}},
    "references to no file": {"a": INTENTS, "$defs": {f"k{n}": {"$ref": f"n{n}.json"} for n in range(20_000)}},
    "references out": {"a": INTENTS, "$defs": {f"k{n}": {"$ref": f"../../../n{n}.json"} for n in range(20_000)}},
    "references to machines": {
        "a": INTENTS,
        "$defs": {f"k{n}": {"$ref": f"http://127.0.0.1:9/{n}"} for n in range(20_000)},
    },
    "diamonds": diamonds(60),
    "diamonds of choices": diamonds(60, "anyOf"),
    "tower": tower(60),
    "doubling": doubling(60),
    "many values": {"a": {"properties": {"x": {"enum": [f"v{n}" for n in range(80_000)]}}}},
    "many constants": {"a": {"properties": {"x": {"oneOf": [{"const": f"v{n}"} for n in range(40_000)]}}}},
    "many branches": {"a": {"allOf": [{"properties": {"y": {}}}] * 20_000}},
    "long pointer": {"a": {"$ref": "#" + "/a" * 400_000}},
    "long pointer in escapes": {"a": {"$ref": "#/" + "%25" * 200_000}},
    "long file": {"a": {"$ref": "x" * 900_000 + ".json"}},
    "deep file": {"a": {"$ref": "x/" * 400_000 + "y.json"}},
    "dots": {"a": {"$ref": "x/../" * 150_000 + "s.schema.json#/a"}},
    "file with NUL": {"a": {"$ref": "a%00b.json"}},
    "file with surrogate": {"a": {"$ref": "a%ed%a0%80b.json"}},
    "broken address": {
        "a": {"$ref": "http://[::1/x"},
        "b": {"$ref": "//[x"},
        "c": {"$id": "http://[", "$ref": "//\u2100.com"},
    },
    "broken dialect": {"$schema": "http://[::1/x", "a": INTENTS},
    "broken pointers": {"a": {"$ref": "#/\u0663"}, "b": [{"$ref": "#/b/\u0663"}, {"$ref": "#/b/" + "1" * 5_000}]},
    "identities": {"a": INTENTS, "$defs": {f"k{n}": {"$id": f"http://x/{n}", "$ref": "#"} for n in range(15_000)}},
    "dialects": {"a": INTENTS, "$defs": {f"k{n}": {"$schema": f"http://127.0.0.1:9/{n}"} for n in range(15_000)}},
    "wrong types": {"a": INTENTS, "$defs": {f"k{n}": {"type": "strin"} for n in range(30_000)}},
    "no schemas": {"a": INTENTS, "$defs": {f"k{n}": 7 for n in range(60_000)}},
    "members of wrong types": {**{f"k{n}": {"type": 7} for n in range(40_000)}, "a": INTENTS},
    "references of wrong types": {
        "a": {"$ref": 7},
        "b": {"$ref": ["#"]},
        "c": {"$id": 7, "$anchor": {}, "$schema": []},
    },
    "branches of wrong types": {"a": {"allOf": {"0": 1}, "anyOf": 3, "oneOf": "x", "properties": [1], "$defs": 7}},
}
POINTERS = {
    "members": "#" + "/properties/x" * 30,
    "references": "#" + "/properties/x" * 25_000,
    "slashes": "#" + "/" * 400_000,
    "indexes": "#" + "/allOf/0/properties/x" * 20,
    "huge index": "#/allOf/" + "9" * 100_000,
    "foreign digits": "#/allOf/\u00b2",
    "escapes": "#/" + "~1" * 200_000,
}


@pytest.mark.parametrize("keyword", ["pattern", "patternProperties"])
@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_patterns(write: Any, attack: Any, registry: Registry, pattern: str, keyword: str) -> None:
    write("steps_registry.json", registry())
    inside: Any = pattern if keyword == "pattern" else {pattern: {}}
    write("schemas/s.schema.json", {"a": {**INTENTS, "$defs": {"p": {keyword: inside}}}})
    attack()


def test_ten_thousand_patterns(write: Any, attack: Any, registry: Registry) -> None:
    write("steps_registry.json", registry())
    named = {f"k{number}": {"pattern": f"^(a{number}|b+)*$"} for number in range(20_000)}
    write("schemas/s.schema.json", {"a": INTENTS, "$defs": named})
    assert "STG164" in attack().codes


@pytest.mark.parametrize("schema", GRAPHS.values(), ids=GRAPHS)
def test_references(write: Any, attack: Any, registry: Registry, schema: dict[str, Any]) -> None:
    write("steps_registry.json", registry())
    write("schemas/s.schema.json", schema)
    write("schemas/t.schema.json", {"a": {"$ref": "s.schema.json#/a"}})
    attack(seconds=3.0 if len(json.dumps(schema)) > 300_000 else 1.0)


@pytest.mark.parametrize("pointer", POINTERS.values(), ids=POINTERS)
@pytest.mark.parametrize("name", ["tower", "doubling", "cycle through members", "many branches", "fan-out", "chain"])
def test_pointers(write: Any, attack: Any, registry: Registry, make_step: Any, name: str, pointer: str) -> None:
    write("steps_registry.json", registry({"initial.a": make_step("initial.a", pointer=pointer)}))
    write("schemas/s.schema.json", GRAPHS[name])
    attack()


@pytest.mark.parametrize("name", ["chain", "chain of anchors", "many values", "many constants", "many branches"])
def test_a_thousand_steps_with_one_costly_schema(
    write: Any, attack: Any, registry: Registry, make_step: Any, name: str
) -> None:
    write("steps_registry.json", registry({f"s{n}": make_step(f"s{n}", "s0") for n in range(1_500)}))
    write("schemas/s.schema.json", GRAPHS[name])
    attack(seconds=3.0)


def test_a_thousand_schemas(write: Any, attack: Any, registry: Registry) -> None:
    write("steps_registry.json", registry())
    for number in range(1_000):
        write(f"schemas/n{number}.schema.json", {"a": {"$ref": f"n{number + 1}.schema.json#/a"}})
    write("schemas/s.schema.json", {"a": {"$ref": "n0.schema.json#/a"}})
    assert attack(seconds=2.0).codes >= {"STG214"}
