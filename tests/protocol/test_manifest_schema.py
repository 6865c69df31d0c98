"""The published schema of manifests says what stagec says of their shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st
from protocol.manifests import native, native_json

from stagec.core.json import Json
from stagec.ir.protocol.checkpoint import NATIVE, encode_manifest, find_shape_faults

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "schemas" / "checkpoint.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
VALUES: list[Json] = [None, True, 0, 1, -1, 1.5, 2.0, "", "x", "S02_eda", "S01", "a" * 64, "A" * 64, [], {}, [{}], [7]]
VALUES += ["saved", "interrupted", "timeout", "local", "sha256", "run", "2026-01-02T10:30Z", "2026-01-02 10:30Z"]


def test_the_schema_is_one_and_names_the_form() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["title"] == NATIVE


@pytest.mark.parametrize("changes", [{}, {"status": "interrupted", "reason": "abort", "attempt": 3}, {"artifacts": ()}])
def test_what_stagec_writes_satisfies_it(changes: dict[str, Any]) -> None:
    VALIDATOR.validate(json.loads(encode_manifest(native(**changes))))


@given(
    member=st.sampled_from([*(each for each in native_json() if each != "format"), "reason"]),
    value=st.sampled_from(VALUES),
    absent=st.booleans(),
)
@settings(max_examples=choose(150, whole=500))
def test_it_refuses_what_stagec_refuses(member: str, value: Json, *, absent: bool) -> None:
    given_json = native_json(**{member: value})
    if absent:
        del given_json[member]
    assert VALIDATOR.is_valid(given_json) is (find_shape_faults(given_json) == ())


@pytest.mark.parametrize("member", ["relativePath", "sha256", "sizeBytes"])
@pytest.mark.parametrize("value", VALUES)
def test_entries_of_artifacts_are_judged_alike(member: str, value: Json) -> None:
    entry: dict[str, Json] = {"relativePath": "a", "sha256": "0" * 64, "sizeBytes": 1, member: value}
    given_json = native_json(artifacts=[entry])
    assert VALIDATOR.is_valid(given_json) is (find_shape_faults(given_json) == ())
