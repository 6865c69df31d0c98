"""The JSON report keeps the promises of its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stagec.check.reporters import Report
from stagec.check.reporters.json import REPORTER
from stagec.core.value import replace

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[2] / "schemas" / "diagnostics.schema.json").read_bytes())


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("report", ["found", "clean"])
def test_a_report_is_valid_against_the_schema(report: str, request: pytest.FixtureRequest) -> None:
    printed = REPORTER.render(request.getfixturevalue(report))
    assert list(Draft202012Validator(SCHEMA).iter_errors(json.loads(printed))) == []


def test_the_schema_refuses_what_it_does_not_know(clean: Report) -> None:
    told = json.loads(REPORTER.render(clean))
    assert not Draft202012Validator(SCHEMA).is_valid({**told, "extra": 1})


def test_the_summary_counts_everything(found: Report) -> None:
    assert json.loads(REPORTER.render(found))["summary"] == {
        "errors": 6,
        "warnings": 1,
        "notes": 1,
        "folded": 3,
        "suppressed": 0,
        "baseline": 0,
        "files": 4,
        "flows": [{"id": "issue", "nodes": 2, "edges": 3}],
    }


def test_a_diagnostic_says_where_what_and_how_to_mend_it(found: Report) -> None:
    assert json.loads(REPORTER.render(found))["diagnostics"][1] == {
        "code": "STG201",
        "name": "unknown-target",
        "severity": "error",
        "origin": ["steps-registry:xref.target"],
        "file": ".agent/issue/steps_registry.json",
        "path": ".agent/issue/steps_registry.json",
        "pointer": "/steps/plan/transitions/next/target",
        "span": {"start": {"line": 9, "column": 28}, "end": {"line": 9, "column": 34}},
        "message": "step 'plan' goes to 'wrok' on 'next', but there is no such step; did you mean 'work'?",
        "related": [
            {
                "file": ".agent/issue/steps_registry.json",
                "path": ".agent/issue/steps_registry.json",
                "pointer": "/steps",
                "span": {"start": {"line": 2, "column": 3}, "end": {"line": 2, "column": 10}},
                "message": "the steps are declared here",
            },
            {
                "file": "schemas/plan.schema.json",
                "path": "schemas/plan.schema.json",
                "pointer": "",
                "span": {"start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 1}},
                "message": "there is nothing to show",
            },
        ],
        "folded": 3,
        "fix": {
            "message": "replace it by 'work'",
            "safe": True,
            "edits": [
                {
                    "change": "replace",
                    "file": ".agent/issue/steps_registry.json",
                    "pointer": "/steps/plan/transitions/next/target",
                    "value": "work",
                },
                {
                    "change": "rename",
                    "file": ".agent/issue/steps_registry.json",
                    "pointer": "/a~1b/0",
                    "value": "~",
                },
            ],
        },
        "help": "stagec explain STG201",
        "url": "https://example.org/rules/STG201/",
    }


def test_each_diagnostic_has_a_line_of_its_own(found: Report) -> None:
    lines = REPORTER.render(found).splitlines()
    assert [json.loads(line.removesuffix(","))["code"] for line in lines if line.startswith('{"code"')] == [
        each.code for each in found.diagnostics
    ]


def test_quiet_changes_nothing(found: Report) -> None:
    assert REPORTER.render(replace(found, quiet=True)) == REPORTER.render(found)
