"""`compile` and `verify` name the values that jsonschema judges otherwise than stagec."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from handmade import stages

from stagec.cli.app import run
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump

Shown = pytest.CaptureFixture[str]
EXAMPLE = Path(__file__).parents[2] / "registries" / "code-review"
OLD = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}


def judging(schema: Any) -> Plan:
    """Return a plan in which the answers of 'plan' have a schema."""
    plan, text = stages(), json.dumps(schema)
    name = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    act: Any = plan.nodes["plan"].act
    nodes = {**plan.nodes, "plan": replace(plan.nodes["plan"], act=replace(act, schema=name))}
    return replace(plan, nodes=nodes, contents={**plan.contents, name: text})


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (
            {"pattern": r"^\p{L}+$"},
            '"text": stagec accepts it; jsonschema cannot judge it: bad escape \\p at position 1',
        ),
        (
            {"properties": {"a": True, "b": True}, "dependencies": {"a": ["b"]}},
            '{"a": "x"}: stagec refuses it: "b" is a required property; jsonschema accepts it',
        ),
        (
            {**OLD, "contentEncoding": "base64"},
            '"x": stagec refuses it: "x" is not compliant with "base64" content encoding; jsonschema accepts it',
        ),
        (
            {"minimum": 1e308, "multipleOf": 1e-300},
            "1e+308: stagec accepts it; jsonschema refuses it: 1e+308 is not a multiple of 1e-300",
        ),
    ],
)
def test_verify_names_the_value_and_both_answers(schema: Any, told: str, tmp_path: Path, capfd: Shown) -> None:
    path = tmp_path / "x.plan.json"
    path.write_bytes(dump(judging(schema)))
    assert run(["verify", str(path)]) == 0
    first, second = capfd.readouterr().out.splitlines()
    assert first.startswith(f"{path}: verified: ")
    assert second == f"{path}: warning: the schema of the answers of 'plan': {told}"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "multipleOf": 0.1},
        {"enum": [1, True, 0, False, 1.5, "1"]},
        {"uniqueItems": True, "items": {"enum": [1, True]}},
        {
            "properties": {"a": {"pattern": "^(x+)+y$", "minLength": 60}},
            "required": ["a"],
        },  # Python would try for years
        {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
        {**OLD, "format": "date"},
        {**OLD, "format": "uri"},  # jsonschema judges it where other libraries are installed
        {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}}}},
    ],
)
def test_nothing_is_said_where_both_agree(schema: Any, tmp_path: Path, capfd: Shown) -> None:
    path = tmp_path / "x.plan.json"
    path.write_bytes(dump(judging(schema)))
    assert run(["verify", str(path)]) == 0
    assert capfd.readouterr().out.count("\n") == 1


def test_compile_warns_and_writes_the_plan(tmp_path: Path, capfd: Shown) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "code-review")
    stage = tmp_path / "code-review" / "stages" / "plan.md"
    text = stage.read_text(encoding="utf-8")
    text = text.replace("summary: {type: string}", r"summary: {type: string, pattern: '^\p{L}'}")
    stage.write_text(text, encoding="utf-8")
    target = tmp_path / "x.plan.json"
    assert run(["compile", str(tmp_path / "code-review"), "-o", str(target)]) == 0
    assert target.is_file()
    (warning,) = (each for each in capfd.readouterr().err.splitlines() if "warning: flow" in each)
    assert warning.startswith("stagec: warning: flow 'code-review': the schema of the answers of 'plan': {")
    assert warning.endswith(r": stagec accepts it; jsonschema cannot judge it: bad escape \p at position 1")
