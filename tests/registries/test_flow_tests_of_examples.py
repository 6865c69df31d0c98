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
    "reviewed-change": [  # a failed stage cancels its sibling and fails the run, whatever its edge says
        "'review/correctness': the edge on 'fail' ends as 'done' instead of 'failed'",
        "'review/security': the edge on 'fail' ends as 'done' instead of 'failed'",
        "'review/correctness': the edges on 'ok' (1) and 'fail' (2) lead where the other one leads",
        "'review/security': the edges on 'ok' (1) and 'fail' (2) lead where the other one leads",
    ],
    "support-desk": ["'answer': the tool 'read_ticket' is allowed", "'answer': the tool 'find_customer' is taken away"],
    "wine-quality": ["the limit 'parallel' is 3 and not 2"],
}
"""What the page of `stagec mutate` explains."""


@pytest.mark.parametrize("name", sorted({path.name for path in EXAMPLES.iterdir()} - {"broken-on-purpose"}))
def test_an_example_has_tests_that_pass_and_notice_what_changes(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["test", str(EXAMPLES / name)]) == 0
    capfd.readouterr()
    sample = ["--limit", str(choose(40, full=200, whole=100_000))]
    assert run(["mutate", str(EXAMPLES / name), *sample, "--jobs", "1", "--fail-under", "95", "--format", "json"]) == 0
    for flow in json.loads(capfd.readouterr().out)["flows"]:
        survivors = [each["change"] for each in flow["mutants"] if each["state"] == "survived"]
        assert set(survivors) <= set(SURVIVORS.get(name, []))
        if flow["tried"] == flow["known"] and flow["id"] != "support-desk-apart":
            assert survivors == SURVIVORS.get(name, [])
