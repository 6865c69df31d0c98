"""Which files are orchestrator files."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from frontends.orchestrator.conftest import BASE

from stagec.check.pipeline import Compilation
from stagec.languages.orchestrator import FRONTEND

Validate = Callable[..., Compilation]


@pytest.mark.parametrize("file", [".agent/workflow.json", ".agent/workflow-merge.json", "a/b/.agent/workflow.json"])
def test_files_are_claimed_by_their_name(file: str) -> None:
    assert FRONTEND.claims(file)


@pytest.mark.parametrize("file", ["workflow.json", "agent/workflow.json", ".agent/a/workflow.json", ".agent/flow.json"])
def test_other_files_are_not_claimed(file: str) -> None:
    assert not FRONTEND.claims(file)


def test_a_file_of_any_name_is_recognised_when_it_is_named(validate: Validate) -> None:
    assert [flow.id for flow in validate({"elsewhere.json": BASE}, "elsewhere.json").flows] == ["elsewhere"]
    assert validate({"elsewhere.json": BASE}).flows == ()


def test_the_schema_beside_an_orchestrator_file_is_none(validate: Validate) -> None:
    schema = {"properties": {"phases": {}, "labelMapping": {}}}
    compilation = validate({".agent/workflow-schema.json": schema, ".agent/workflow.json": BASE})
    assert [flow.id for flow in compilation.flows] == ["workflow"]
    assert ".agent/workflow-schema.json" not in compilation.trees


def test_a_file_that_cannot_be_read_is_told(validate: Validate) -> None:
    assert [each.code for each in validate({".agent/workflow.json": b"{"}).diagnostics] == ["STG106"]
    found = validate({".agent/workflow.json": BASE, ".agent/workflow-b.json": b"\xff"}).diagnostics
    assert [each.code for each in found if each.at.file == ".agent/workflow-b.json"] == ["STG104"]
