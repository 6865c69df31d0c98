"""The schemas that stagec publishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stagec.sources.shape.faults import topic_of
from stagec.sources.shape.schema import load_published, refuse

TOP = Path(__file__).parents[3]
NAMES = ("agent", "mcp", "steps_registry", "tools", "tools_lock", "workflow")
every_schema = pytest.mark.parametrize("name", NAMES)


def schema(name: str) -> Any:
    return json.loads((TOP / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


def described(given: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every member of every object that a schema describes."""
    if isinstance(given, dict):
        for key, member in given.items():
            if key in {"properties", "patternProperties"}:
                yield from (((*path, key, name), each) for name, each in member.items())
            yield from described(member, (*path, key))
    elif isinstance(given, list):
        for each in given:
            yield from described(each, path)


def follow(whole: Any, member: Any) -> Any:
    """Return a member, or the definition that it refers to and that several members share."""
    definition = member.get("$ref", "") if isinstance(member, dict) else ""
    return whole["$defs"][definition.removeprefix("#/$defs/")] if definition else member


@every_schema
def test_a_schema_is_valid(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


@every_schema
def test_a_schema_says_where_it_is_published(name: str) -> None:
    assert schema(name)["$id"] == f"urn:stagec:schema:{name}"


@every_schema
def test_every_member_has_a_title_and_a_description(name: str) -> None:
    whole = schema(name)
    told = [(path, follow(whole, member)) for path, member in described(whole)]
    bare = [path for path, member in told if not {"title", "description"} <= set(member)]
    assert bare == []


@every_schema
def test_every_pattern_and_choice_is_put_into_words(name: str) -> None:
    wordless = [
        path
        for path, member in described(schema(name))
        if isinstance(member, dict) and {"pattern", "oneOf"} & set(member) and "x-expects" not in member
    ]
    assert wordless == []


@every_schema
def test_a_schema_refers_to_itself_only(name: str) -> None:
    text = json.dumps(schema(name))
    assert text.count('"$ref": "') == text.count('"$ref": "#/$defs/')


def test_the_nearest_rule_of_a_keyword_counts() -> None:
    given = {
        "x-rules": {"type": "wrong-type", "required": "missing-key"},
        "properties": {"a": {"x-rules": {"type": "malformed-a"}, "type": "object", "required": ["b"]}},
    }
    assert topic_of(given, ("properties", "a", "type"))[0] == "malformed-a"
    assert topic_of(given, ("properties", "a", "required"))[0] == "missing-key"
    assert topic_of(given, ("properties", "a", "contains"))[0] == "wrong-shape"


def test_a_schema_is_read_and_compiled_once() -> None:
    assert load_published("agent") is load_published("agent")


def test_nothing_is_ever_looked_up() -> None:
    with pytest.raises(LookupError):
        refuse("https://example.com/schema.json")
