"""The examples have tests, which notice nearly every change of their flows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from campaigns import choose

from stagec.cli.app import run

EXAMPLES = Path(__file__).parents[2] / "registries"
SURVIVORS = {
    "guest-book": [
        "the schema of the input 'review': 'maxLength' 500 → 501",
        "the schema of the input 'review': 'maxLength' 500 → 499",
    ],
    "wine-quality": ["the limit 'parallel' is 3 and not 2"],
}
"""What the page of `stagec mutate` explains."""


@pytest.mark.parametrize(
    "name", ["code-review", "docs-repair", "guest-book", "issue-flow", "project-flow", "wine-quality"]
)
def test_an_example_has_tests_that_pass_and_notice_what_changes(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["test", str(EXAMPLES / name)]) == 0
    capfd.readouterr()
    sample = ["--limit", str(choose(40, full=100_000))]
    assert run(["mutate", str(EXAMPLES / name), *sample, "--jobs", "1", "--fail-under", "95", "--format", "json"]) == 0
    (flow,) = json.loads(capfd.readouterr().out)["flows"]
    survivors = [each["change"] for each in flow["mutants"] if each["state"] == "survived"]
    assert set(survivors) <= set(SURVIVORS.get(name, []))
    if flow["tried"] == flow["known"]:
        assert survivors == SURVIVORS.get(name, [])
