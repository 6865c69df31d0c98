"""One mistake in a stage plan is one error, and what follows from it is not told again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from frontends.envelopes.conftest import Files, envelope

from stagec.check.pipeline import Compilation
from stagec.languages.envelopes.document import StagePlan
from stagec.languages.envelopes.lower import lower

Change = dict[str, Any]


def stages(change: Change, index: int) -> list[dict[str, Any]]:
    """Return three stages that nothing is wrong with, but for the changed members of one."""
    made = [
        envelope("S01_load_data", inputs={}, outputs={"out": "out.json"}),
        envelope("S02_clean_data", "S01_load_data"),
        envelope("S03_train_model", "S01_load_data", "S02_clean_data"),
    ]
    made[index] = {**made[index], **change}
    return made


@pytest.mark.parametrize(
    ("index", "change", "told"),
    [
        (0, {"outputs": {"out": "/out.json"}}, ["absolute-artifact-path"]),
        (0, {"outputs": {"out": "../out.json"}}, ["climbing-artifact-path"]),
        (0, {"outputs": {"out": "out.json/"}}, ["folder-as-artifact"]),
        (0, {"outputs": {"out": ""}}, ["unusable-artifact-path"]),
        (0, {"outputs": {"out": 7}}, ["mistyped-output"]),
        (0, {"outputs": {"out": "other.json"}}, ["unknown-artifact"]),
        (0, {"stageId": "S02_clean_data"}, ["duplicate-stage-id"]),
        (1, {"inputs": {"x": "S01_load_data/out.json/"}}, ["folder-as-artifact"]),
        (1, {"inputs": {"x": "S01_load_data/../out.json"}}, ["climbing-artifact-path"]),
        (1, {"dependencies": ["S07_nothing_there"]}, ["unknown-dependency"]),
        (1, {"dependencies": [7]}, ["mistyped-dependency"]),
        (1, {"dependencies": None}, ["null-envelope-member"]),
        (1, {"dependencies": "S01_load_data"}, ["mistyped-envelope-member"]),
        (1, {"dependencies": ["S01_load_data", "S02_clean_data"]}, ["self-dependency"]),
        (0, {"dependencies": ["S03_train_model"]}, ["dependency-cycle"]),
        (1, {"stageId": "S02-clean-data"}, ["misformed-stage-id"]),
    ],
)
def test_a_mistake_is_one_error(
    validate: Callable[..., Compilation], index: int, change: Change, told: list[str]
) -> None:
    found = validate({"plan.json": {"reportTitle": "demo", "stages": stages(change, index)}})
    assert [each.name for each in found.diagnostics if each.severity != "note"] == told


def test_a_misspelt_member_for_dependencies_is_one_warning(validate: Callable[..., Compilation]) -> None:
    made = stages({}, 1)
    made[1]["dependencise"] = made[1].pop("dependencies")
    found = validate({"plan.json": {"reportTitle": "demo", "stages": made}})
    assert [each.name for each in found.diagnostics if each.severity != "note"] == ["unknown-envelope-member"]


def test_an_envelope_alone_is_a_flow_only_if_it_needs_no_other(
    read_plans: Callable[[Files], tuple[StagePlan, ...]],
) -> None:
    alone = {
        "a/1.json": envelope("S01_load_data", inputs={"x": "data/wine.csv"}),
        "b/1.json": envelope("S02_clean_data", "S01_load_data"),
        "c/1.json": envelope("S02_clean_data", inputs={"x": "S01_load_data/out.json"}, dependencies=[]),
    }
    assert [lower(plan) is not None for plan in read_plans(alone)] == [True, False, False]
