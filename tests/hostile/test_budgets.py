"""What asks for more than a budget is refused at its edge, in time and memory that do not depend on how much more."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Schema = dict[str, Any]
Registry = Callable[..., dict[str, Any]]
LEVELS: dict[str, Callable[[Schema], Schema]] = {
    "allOf": lambda ref: {"allOf": [ref, ref]},
    "anyOf": lambda ref: {"anyOf": [ref, ref]},
    "oneOf": lambda ref: {"oneOf": [ref, {"not": ref}]},
    "if": lambda ref: {"if": ref, "then": ref, "else": ref},
    "dependentSchemas": lambda ref: {"dependentSchemas": {"a": ref, "b": ref}},
    "a required property": lambda ref: {
        "type": "object",
        "required": ["x"],
        "properties": {"x": {"allOf": [ref, ref]}},
    },
    "items and contains": lambda ref: {"items": ref, "contains": ref},
    "unevaluatedProperties": lambda ref: {"allOf": [ref], "unevaluatedProperties": False},
}


def multiplied(level: Callable[[Schema], Schema], levels: int = 40) -> Schema:
    parts = {f"k{n}": level({"$ref": f"#/$defs/k{n + 1}"}) for n in range(levels)}
    leaf = {"type": "object", "properties": {"x": {"enum": ["next"]}}}
    return {"a": {"$ref": "#/$defs/k0"}, "$defs": {**parts, f"k{levels}": leaf}}


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("command", ["validate", "compile", "graph"])
def test_references_that_multiply(
    write: Any, attack: Any, registry: Registry, level: Callable[[Schema], Schema], command: str
) -> None:
    write("steps_registry.json", registry())
    write("schemas/s.schema.json", multiplied(level))
    ended = attack(command=command)
    assert command != "validate" or "STG163" in ended.codes


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
def test_a_configuration_judged_by_such_a_schema(write: Any, attack: Any, level: Callable[[Schema], Schema]) -> None:
    schema = multiplied(level)
    machine = {
        "id": "m", "version": "1.0.0", "entry": "a", "stages": [{"id": "a", "prompt": "x"}],
        "configSchema": {"$ref": "#/$defs/k0", "$defs": schema["$defs"]}, "config": {"x": {}, "a": 1, "b": 1},
    }  # fmt: skip
    write("state_machine.json", machine)
    assert "STG163" in attack("state_machine.json").codes


def test_references_across_files(write: Any, attack: Any, registry: Registry) -> None:
    write("steps_registry.json", registry())
    for number in range(40):
        below = f"k{number + 1}.schema.json" if number < 39 else "#/$defs/end"
        write(f"schemas/k{number}.schema.json", {"allOf": [{"$ref": below}, {"$ref": below}], "$defs": {"end": {}}})
    write("schemas/s.schema.json", {"a": {"$ref": "k0.schema.json"}})
    assert "STG163" in attack().codes


@pytest.mark.parametrize(
    "pattern", [r"x{}\p{{L}}{{99}}", r"(?:\p{{L}}{{9}}{}){{11}}", ".{{900}}{}", r"[^\p{{Lu}}]{{50}}{}"]
)
def test_many_patterns(write: Any, attack: Any, registry: Registry, pattern: str) -> None:
    write("steps_registry.json", registry())
    many = {f"p{number}": {"pattern": pattern.format(number)} for number in range(2_500)}
    write("schemas/s.schema.json", {"a": {"type": "object", "properties": many}})
    assert attack(seconds=3.0).codes & {"STG163", "STG164"}


@pytest.mark.parametrize("levels", [63, 64, 65, 100, 300, 400, 480, 10_000])
def test_a_deep_configuration(write: Any, attack: Any, registry: Registry, levels: int) -> None:
    write("steps_registry.json", registry({}))
    write("stagec.toml", f"roots = {'[' * levels}{']' * levels}")
    assert attack().status == 2


@pytest.mark.parametrize("levels", [199, 200, 201])
@pytest.mark.parametrize("file", ["x.json", "x.yaml"])
def test_the_deepest_file_there_can_be(write: Any, attack: Any, file: str, levels: int) -> None:
    write(file, "[" * levels + "]" * levels)
    ended = attack("--budget", "depth=200", "validate", file, command="--budget=nodes=1000000")
    assert ("STG110" in ended.codes) is (levels > 200)


def test_a_project_that_asks_for_more_than_it_may_have(write: Any, attack: Any, registry: Registry) -> None:
    write("steps_registry.json", registry({}))
    write("stagec.toml", "[budgets]\nfile-size = 100000000\n")
    write("schemas/s.schema.json", json.dumps({"a": "x" * 60_000_000}))
    assert attack().status == 2


@pytest.mark.parametrize("command", ["validate", "verify", "run", "simulate"])
def test_a_file_that_never_ends(write: Any, attack: Any, command: str) -> None:
    write("a.txt", "")
    ended = attack("/dev/zero", command=command)
    assert ended.status == (1 if command == "validate" else 2)
