"""One mistake in an orchestrator file is told once, whatever follows from it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from frontends.orchestrator.conftest import FILE, change

from stagec.check.pipeline import Compilation
from stagec.core.diagnostic import Severity
from stagec.core.json import Json

Validate = Callable[..., Compilation]
LABELS = ("ready", "review", "done", "blocked", "order:1", "sentinel")
WHOLE: tuple[tuple[str, Json], ...] = (
    ("/rules", {"maxCycles": 6}),
    ("/agents/judge/closeBinding", {"primary": {"kind": "direct"}, "condition": "approved"}),
    ("/handoff", {"commentTemplates": {"judgeApproved": "x"}}),
    ("/prioritizer", {"agent": "worker", "labels": ["order:1"], "defaultLabel": "order:1"}),
    ("/labels", {name: {"color": "a2eeef", "description": name} for name in LABELS}),
    ("/labels/sentinel/role", "marker"),
    (
        "/projectBinding",
        {
            "inheritProjectsForCreateIssue": False,
            "donePhase": "done",
            "evalPhase": "review",
            "planPhase": "todo",
            "sentinelLabel": "sentinel",
        },
    ),
)
"""A file with everything that a file can have."""


def codes(validate: Validate, *edits: tuple[str, Json]) -> list[str]:
    found = validate({FILE: change(*WHOLE, *edits)}).diagnostics
    return [each.code for each in found if each.severity is not Severity.NOTE]


def test_nothing_is_wrong_with_the_whole_file(validate: Validate) -> None:
    assert codes(validate) == []


@pytest.mark.parametrize(
    ("pointer", "given", "code"),
    [
        ("/phases/done/type", "terminl", "STG2105"),
        ("/phases/todo/agent", "workr", "STG2109"),
        ("/phases/todo/agent", ..., "STG2105"),
        ("/phases/todo", ..., "STG2108"),
        ("/phases/done", ..., "STG2108"),
        ("/phases/review", ..., "STG2108"),
        ("/phases", ..., "STG2100"),
        ("/phases", {}, "STG2100"),
        ("/agents", ..., "STG2100"),
        ("/agents/judge", ..., "STG2109"),
        ("/agents/worker/role", "transform", "STG2118"),
        ("/agents/worker/role", ..., "STG2118"),
        ("/agents/judge/outputPhases", ..., "STG2118"),
        ("/agents/judge/outputPhases/approved", "doen", "STG2108"),
        ("/agents/worker/outputPhase", "revew", "STG2108"),
        ("/agents/worker/fallbackPhase", None, "STG2118"),
        ("/agents/judge/closeBinding/condition", "aproved", "STG2111"),
        ("/agents/judge/closeBinding/primary", ..., "STG2110"),
        ("/labelMapping", ..., "STG2100"),
        ("/labelMapping/done", "doen", "STG2108"),
        ("/labels/done", ..., "STG2112"),
        ("/prioritizer/agent", ..., "STG120"),
        ("/projectBinding/donePhase", "x", "STG2116"),
        ("/projectBinding/sentinelLabel", "ready", "STG2117"),
        ("/rules/maxCycles", 0, "STG2106"),
        ("/issueSource/kind", ..., "STG2101"),
    ],
)
def test_a_mistake_is_told_once(validate: Validate, pointer: str, given: Json, code: str) -> None:
    assert codes(validate, (pointer, given)) == [code]


def test_two_mistakes_are_told_both(validate: Validate) -> None:
    assert sorted(codes(validate, ("/phases/done/type", "terminl"), ("/rules/maxCycles", 0))) == ["STG2105", "STG2106"]


@pytest.mark.parametrize("text", ["{", "", "[]", "null", '{"phases": {"a": {"a": {"a": {}}}}}', "\ufeff{}", "{\r\n}"])
def test_hostile_texts_are_told(validate: Validate, text: str) -> None:
    assert validate({FILE: text.encode()}).diagnostics
