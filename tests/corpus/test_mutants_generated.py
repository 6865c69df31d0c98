"""Faults of one change each, made from the bases of the corpus: each is told where it is, and as one error."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, reduce
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from campaigns import sample

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.place import pointer_text
from stagec.sources.project.settings import Settings

FILE = "steps_registry.json"
GONE = object()
VALUES = {"null": None, "boolean": True, "number": 7, "string": "x", "array": ["x"], "object": {"x": 1}}

STEP = ("steps", "*")
GATE = (*STEP, "structuredGate")
MOVE = (*STEP, "transitions", "*")
GUARD = ("validationSteps", "*")
CONDITION = (*GUARD, "validationConditions", 0)
PATTERN = ("failurePatterns", "*")
VALIDATOR = ("validators", "*")
OUTPUT = (*STEP, "outputSchemaRef")


class Fault(NamedTuple):
    """A change and the slugs by which it may be told; no slugs where the change is legal.

    In `path` a `*` stands for any member. A function as `value` is given the value that was there. `must_exist` is
    false for changes that may also add the member.
    """

    slug: str
    path: tuple[str | int, ...]
    value: Any
    must_exist: bool = True


def mistyped(slug: str, path: tuple[str | int, ...], *right: str, must_exist: bool = True) -> Iterator[Fault]:
    """Yield one fault for each kind of value that a member may not have."""
    return (Fault(slug, path, value, must_exist) for kind, value in VALUES.items() if kind not in right)


def each(slug: str, path: tuple[str | int, ...], *values: Any, must_exist: bool = True) -> Iterator[Fault]:
    """Yield one fault for each wrong value."""
    return (Fault(slug, path, value, must_exist) for value in values)


def gone(slug: str, owner: tuple[str | int, ...], *names: str) -> Iterator[Fault]:
    """Yield one fault for each member that is missing."""
    return (Fault(slug, (*owner, name), GONE) for name in names)


def extended(intent: str) -> Callable[[list[str]], list[str]]:
    """Return the change that adds an item."""
    return lambda listed: [*listed, intent]


SHAPE = (
    gone("reg.required-top", (), "agentId", "version", "c1", "steps"),
    *(mistyped("reg.type-top", (name,), "string") for name in ("agentId", "version", "c1", "pathTemplate")),
    *(mistyped("reg.type-top", (name,), "string", must_exist=False) for name in ("$schema", "entryStep")),
    *(mistyped("reg.type-top", (name,), "object") for name in ("validators", "failurePatterns", "entryStepMapping")),
    mistyped("step.steps-object", ("steps",), "object"),
    each("reg.version-semver", ("version",), "", "1.0", "v1.0.0", "1.0.0-", "1.0.0\n"),
    mistyped("reg.entry-mapping-type", ("entryStepMapping", "*"), "string"),
    gone("reg.step-required", STEP, "stepId", "c2", "c3", "name"),
    *(mistyped("reg.step-types", (*STEP, name), "string") for name in ("stepId", "c2", "c3", "edition", "name")),
    *(mistyped("reg.step-types", (*STEP, name), "string", must_exist=False) for name in ("model", "permissionMode")),
    mistyped("reg.step-types", (*STEP, "uvVariables", 0), "string"),
    *(mistyped("reg.step-types", (*STEP, name), "object") for name in ("transitions", "structuredGate")),
    mistyped("reg.step-types", STEP, "object"),
    each("reg.step-type-enum", (*STEP, "type"), "promt", "Prompt", "", None),
    each("reg.stepkind-enum", (*STEP, "stepKind"), "wrok", "WORK", "", None),
    each("reg.model-enum", (*STEP, "model"), "sonet", "claude-sonnet-4", "", 7, must_exist=False),
    mistyped("reg.schemaref-shape", OUTPUT, "object"),
    gone("reg.schemaref-shape", OUTPUT, "file", "schema"),
    mistyped("reg.schemaref-shape", (*GUARD, "outputSchemaRef", "file"), "string"),
    gone("reg.gate-required", GATE, "allowedIntents", "intentSchemaRef", "intentField"),
    mistyped("reg.gate-intent-enum", (*GATE, "allowedIntents", 0), "string"),
    each("reg.gate-intent-enum", (*GATE, "allowedIntents", 0), "nexxt", "Next", "continue", ""),
    each("reg.gate-ref-pattern", (*GATE, "intentSchemaRef"), "/properties/x", "common.schema.json#/x", "#", ""),
    each("reg.gate-targetmode-enum", (*GATE, "targetMode"), "implicit", "Explicit", "", 7, must_exist=False),
    mistyped("reg.gate-failfast-type", (*GATE, "failFast"), "boolean", must_exist=False),
    mistyped("reg.gate-failfast-type", (*GATE, "handoffFields"), "array", must_exist=False),
    mistyped("reg.gate-failfast-type", (*GATE, "targetField"), "string", must_exist=False),
    each("reg.transition-shape", MOVE, {}, "x", None, ["x"], {"condition": "x"}, {"targets": {"a": "x"}}),
    each(
        "reg.transition-shape", MOVE, {"target": 3}, {"taget": "x"}, {"target": None, "condition": "x", "targets": {}}
    ),
    gone("reg.failurepattern-required", PATTERN, "description", "edition"),
    mistyped("reg.failurepattern-required", (*PATTERN, "params"), "array"),
    gone("reg.validator-required", VALIDATOR, "type", "command", "successWhen", "failurePattern"),
    mistyped("reg.validator-required", VALIDATOR, "object"),
    each("reg.validator-type-enum", (*VALIDATOR, "type"), "file", "Command", "", None),
    gone("reg.validation-step-required", GUARD, "stepId", "name", "c2", "c3"),
    gone("reg.condition-validator-required", CONDITION, "validator"),
    mistyped("reg.condition-validator-required", CONDITION, "object"),
    each("reg.onfailure-action", (*GUARD, "onFailure", "action"), GONE, "retri", "Retry", "", None),
    each("reg.onfailure-maxattempts", (*GUARD, "onFailure", "maxAttempts"), 0, -1, 1.5, "3", None),
)
NAMES = (
    each("xref.entry-mapping", ("entryStepMapping", "*"), "nope", ""),
    each("xref.transition-target", (*MOVE, "target"), "nope", ""),
    each("xref.transition-fallback", (*MOVE, "fallback"), "nope", must_exist=False),
    each("xref.conditional-target", (*MOVE, "targets", "*"), "nope", ""),
    each("xref.condition-validator", (*CONDITION, "validator"), "nope", "git-dirty", ""),
    each("xref.condition-validator", ("validators",), GONE, {}),
    each("xref.failure-pattern", (*VALIDATOR, "failurePattern"), "nope", "git-clean", ""),
    each("xref.failure-pattern", ("failurePatterns",), GONE, {}),
)
TYPED = (
    each("step.kind-intents", (*GATE, "allowedIntents", 0), "continue"),
    each("step.kind-fallback-intent", (*GATE, "fallbackIntent"), "escalated", "", "Next", must_exist=False),
    each("gate.ref-missing", (*GATE, "intentSchemaRef"), GONE, None, ""),
    each("gate.ref-internal", (*GATE, "intentSchemaRef"), "properties/x", "polling.schema.json#/x"),
    each("gate.field-missing", (*GATE, "intentField"), GONE, None, ""),
    each("gate.ref-not-enum", (*GATE, "intentSchemaRef"), "#/properties/nope", "#/properties/stepId", "#/properties"),
    each("gate.enum-drift", (*GATE, "allowedIntents"), [], lambda listed: listed[1:], lambda listed: listed[:-1]),
    each("gate.schema-load", (*OUTPUT, "file"), "nope.schema.json", "../x.json", ""),
    each("gate.schema-load", (*OUTPUT, "schema"), "nope", "#/$defs/nope", ""),
    each("step.agentid-nonempty", ("agentId",), ""),
    each("step.version-nonempty", ("version",), ""),
    each("step.c1-nonempty", ("c1",), ""),
    each("step.key-eq-id", (*STEP, "stepId"), "other", "", str.upper),
    *(each(f"step.{name}-nonempty", (*STEP, name), "") for name in ("name", "c2", "c3", "edition")),
    each("step.c3-kebab", (*STEP, "c3"), "Polling", "a_b", "a1", "-a", "a-", "a--b", "a.b"),
    mistyped("step.uv-array", (*STEP, "uvVariables"), "array"),
    mistyped("step.stdin-bool", (*STEP, "usesStdin"), "boolean"),
    gone("step.gate-needs-transitions", STEP, "transitions"),
    each("step.permission-mode", (*STEP, "permissionMode"), "yolo", "Plan", "", None, must_exist=False),
)
LEGAL = (
    gone("", STEP, "name", "type", "stepKind", "edition", "uvVariables", "usesStdin", "description"),
    gone("", GUARD, "onFailure", "validationConditions", "description"),
    gone("", (), "validationSteps"),
    each("", (*GATE, "allowedIntents"), lambda listed: listed[::-1], extended("abort")),
    *(each("", (*way, "x-note"), 1, must_exist=False) for way in ((), STEP, GATE, MOVE, VALIDATOR, GUARD, OUTPUT)),
    each("", ("version",), "1.0.0-beta.1", "1.0.0+build.7"),
    each("", ("$schema",), "https://example.org/registry.json", must_exist=False),
    each("", (*STEP, "model"), "opus", must_exist=False),
    each("", (*STEP, "adaptation"), "brief", must_exist=False),
)
FAULTS = tuple(chain.from_iterable((*SHAPE, *NAMES, *TYPED, *LEGAL)))


def bases() -> tuple[Path, ...]:
    folder = os.environ.get("STAGEC_CORPUS")
    return tuple(sorted(Path(folder, "mutants", "bases").iterdir())) if folder else ()


@cache
def registry_of(base: Path) -> Any:
    return json.loads((base / FILE).read_bytes())


def reached(owner: Any, path: tuple[str | int, ...], *, must_exist: bool) -> Iterator[tuple[str | int, ...]]:
    """Yield every path of a document that a pattern stands for."""
    if not path:
        yield ()
        return
    head, *rest = path
    members = list(owner) if isinstance(owner, dict) and head == "*" else [head]
    for key in members:
        if holds(owner, key):
            yield from ((key, *deeper) for deeper in reached(owner[key], tuple(rest), must_exist=must_exist))
        elif not rest and not must_exist and isinstance(owner, dict):
            yield (key,)


def holds(owner: Any, key: str | int) -> bool:
    return key in owner if isinstance(owner, dict) else isinstance(owner, list) and key in range(len(owner))


def owner_in(document: Any, path: tuple[str | int, ...]) -> Any:
    """Return what has the place at the end of a path."""
    return reduce(lambda owner, key: owner[key], path[:-1], document)


def put(owner: Any, key: str | int, value: Any) -> Any:
    """Return what takes the place of a member."""
    return value(owner[key]) if callable(value) else value


def is_change(document: Any, path: tuple[str | int, ...], value: Any) -> bool:
    """Tell whether a change is one."""
    owner, key = owner_in(document, path), path[-1]
    return value is GONE or not holds(owner, key) or owner[key] != put(owner, key, value)


def changed(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy of a document with one change."""
    found = deepcopy(document)
    owner = owner_in(found, path)
    if value is GONE:
        del owner[path[-1]]
    else:
        owner[path[-1]] = put(owner, path[-1], value)
    return found


def mutants() -> Iterator[Any]:
    """Yield every fault at one place, which turns with the faults so that all bases and steps have their share."""
    for turn, fault in enumerate(FAULTS if bases() else ()):
        places = [
            (base, path)
            for base in bases()
            for path in reached(registry_of(base), fault.path, must_exist=fault.must_exist)
            if is_change(registry_of(base), path, fault.value)
        ]
        base, path = places[turn % len(places)]
        yield pytest.param(base, fault, path, id=f"{turn}-{fault.slug or 'legal'}-{base.name}{pointer_text(path)}")


def compiled(base: Path, document: Any = None) -> tuple[Diagnostic, ...]:
    overlay = {} if document is None else {FILE: json.dumps(document).encode()}
    return compile_project(Project(base, (base,), Settings(), overlay)).diagnostics


@cache
def known(base: Path) -> frozenset[tuple[str, str]]:
    return frozenset((one.code, one.message) for one in compiled(base))


def meets(one: Diagnostic, path: tuple[str | int, ...]) -> bool:
    """Tell whether a diagnostic stands at a place, inside it, or one level above."""
    return one.at.file == FILE and (one.at.pointer == path[:-1] or one.at.pointer[: len(path)] == path)


@pytest.mark.parametrize(("base", "fault", "path"), sample(tuple(mutants()), 60))
def test_a_single_fault_is_told_where_it_is_and_a_legal_change_is_not(
    base: Path, fault: Fault, path: tuple[str | int, ...]
) -> None:
    found = compiled(base, changed(registry_of(base), path, fault.value))
    added = [one for one in found if (one.code, one.message) not in known(base)]
    errors = [one for one in added if one.severity is Severity.ERROR]
    assert len(errors) <= bool(fault.slug), added
    if fault.slug:
        told = [one for one in added if f"steps-registry:{fault.slug}" in one.origin]
        assert any(meets(one, path) for one in told), added
