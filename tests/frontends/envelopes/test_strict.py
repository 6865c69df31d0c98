"""`--strict`: what the JSON Schema of the protocol forbids is an error, and nothing else that this schema knows."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from campaigns import choose
from frontends.envelopes.conftest import envelope
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.sources.project.settings import Settings

TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
PROTOCOL: dict[str, Any] = {
    "type": "object",
    "required": ["stageId", "goal", "inputs", "outputs", "maxDurationSec"],
    "properties": {
        "stageId": {"type": "string", "pattern": r"^S[0-9]{2}_[a-z]+_[a-z_]+\Z"},
        "goal": {"type": "string", "minLength": 10, "maxLength": 200},
        "inputs": TEXTS,
        "outputs": TEXTS,
        "maxDurationSec": {"type": "number", "minimum": 30, "maximum": 600},
        "dependencies": {"type": "array", "items": {"type": "string"}},
        "retryable": {"type": "boolean"},
        "checkpointAfter": {"type": "boolean"},
    },
}
"""The JSON Schema that the protocol prints; its `$` means the end of the text, as in ECMAScript."""
BEYOND = frozenset({"zero-stage-number", "blank-goal", "meaningless-stage-id", "usable"})
"""Errors of stagec about members that the schema allows."""
OWN = ("stageId", "goal", "inputs", "outputs", "maxDurationSec", "dependencies", "retryable", "checkpointAfter")
PATHS = ("data/wine.csv", "out.json")

ids = st.one_of(
    st.from_regex(r"S[0-9]{2}_[a-z]{1,5}(_[a-z_0-9]{0,6})?", fullmatch=True),
    st.sampled_from(
        ["S01_load_data", "S02_eda", "S01_data", "S1_load", "S01_load_data\n", "", "S01_load_", "S02_a_b1"]
    ),
)
odd = st.one_of(st.none(), st.booleans(), st.integers(-5, 700), st.sampled_from(["x", "240", [], {}, [1], {"a": 1}]))
texts = st.dictionaries(st.sampled_from(["a", "b"]), st.one_of(st.sampled_from(PATHS), odd), max_size=2)
envelopes = st.fixed_dictionaries(
    {},
    optional={
        "stageId": st.one_of(ids, ids, odd),
        "goal": st.one_of(st.text("ab ü🍷", max_size=14), st.just("x" * 201), odd),
        "inputs": st.one_of(texts, odd),
        "outputs": st.one_of(texts, odd),
        "maxDurationSec": st.one_of(st.floats(20, 620), st.integers(20, 620), odd),
        "dependencies": st.one_of(st.just([]), st.lists(odd, max_size=2)),
        "retryable": odd,
        "checkpointAfter": odd,
    },
)


def find_violations(given: Any) -> set[str]:
    """Return the members about which the schema complains, of the items of lists only the list."""
    errors = Draft202012Validator(PROTOCOL).iter_errors(given)
    found: set[str] = set()
    for each in errors:
        path = [*each.absolute_path]
        found.add(each.message.split("'")[1] if each.validator == "required" else str(path[0]) if path else "$")
    return found


def find_swapped(given: Any) -> set[str]:
    """Return the members of which two have values of each other's types: the error about one of them is about both."""
    found: set[str] = set()
    for one, other in combinations(sorted(find_mistyped(given)), 2):
        exchanged = {**given, one: given[other], other: given[one]}
        if not {one, other} & find_mistyped(exchanged):
            found |= {one, other}
    return found


def find_mistyped(given: Any) -> set[str]:
    """Return the members whose value, or a value inside, has a wrong type."""
    errors = Draft202012Validator(PROTOCOL).iter_errors(given)
    return {str(each.absolute_path[0]) for each in errors if each.validator == "type" and each.absolute_path}


def find_errors(given: Any) -> dict[str, set[str]]:
    """Return the names of the errors of a strict run by the member of the envelope."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "plan.json")
        path.write_text(json.dumps({"reportTitle": "demo", "stages": [given]}), encoding="utf-8")
        settings = Settings(severity={"strict": Severity.ERROR})
        found = compile_project(Project(Path(folder).resolve(), (path.resolve(),), settings)).diagnostics
    errors: dict[str, set[str]] = {}
    for each in found:
        if each.severity == "error":
            errors.setdefault(str(each.at.pointer[2]) if len(each.at.pointer) > 2 else "$", set()).add(each.name)
    return errors


@given(envelopes)
@settings(max_examples=choose(40, whole=500))
def test_a_member_has_an_error_if_the_schema_forbids_it(given: Any) -> None:
    errors, violations = find_errors(given), find_violations(given)
    assert violations - find_swapped(given) <= errors.keys()
    assert errors or not violations
    unexplained = {member: names for member, names in errors.items() if member not in violations}
    assert all(
        names & BEYOND or member in {"inputs", "outputs", "dependencies"} for member, names in unexplained.items()
    )


def test_a_complete_envelope_has_no_error() -> None:
    assert find_errors(envelope("S01_load_data")) == {}
