"""`stagec test`: scenarios of flows and what must come of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import yaml

from stagec.cli.app import run

Shown = pytest.CaptureFixture[str]
STARTER = Path(__file__).parents[2] / "compiler" / "starters" / "pipeline"
TOP = Path(__file__).parents[2]
FILE = Path("review.flow-test.yaml")
COMMON = """\
scenario:
  inputs: {topic: the tides}
  conversations:
    draft:
      - - {calls: [{tool: Read, arguments: {path: notes.md}}]}
        - {complete: {text: The moon pulls at the sea.}}
      - - {complete: {text: Moon and sun pull at the sea.}}
  tools: {Read: High water at 6:10.}
tests:
  approved at once: # the shortest run
    scenario:
      conversations: {review: [[{complete: {approved: true, remarks: ""}}]]}
    expect:
      outcome: done
      path: [draft, review]
      visits: {draft: 1, review: {least: 1, most: 1}}
      calls: {Read: 1, Write: 0}
      turns: 3
      executions: {most: 2}
      result: {parsed: {approved: true}}
  sent back once:
    scenario:
      conversations:
        review:
          - - {complete: {approved: false, remarks: Longer.}}
          - - {complete: {approved: true, remarks: ""}}
    expect:
      outcome: done
      path: [draft, review, draft, review]
      results: {draft: {parsed: {text: Moon and sun pull at the sea.}}}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the smallest pipeline, with two tests that pass."""
    shutil.copytree(STARTER, tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    FILE.write_text(COMMON, encoding="utf-8")
    return tmp_path


def expect(change: str, to: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert text.count(change) == 1
    FILE.write_text(text.replace(change, to), encoding="utf-8")


def test_tests_that_pass_are_listed_with_what_they_cover(capfd: Shown) -> None:
    assert run(["test"]) == 0
    assert capfd.readouterr().out.splitlines()[:4] == [
        "review.flow-test.yaml: draft-and-review",
        "  passed  approved at once",
        "  passed  sent back once",
        "2 tests: 2 passed, 0 failed",
    ]


@pytest.mark.parametrize(
    ("change", "to", "told"),
    [
        ("path: [draft, review]\n", "path: [draft]\n", "15:7: the run takes draft → review"),
        ("Read: 1", "Read: 2", "17:15: expected 2 calls of 'Read', found 1"),
        ("Write: 0", "Write: {least: 1}", "17:24: expected at least 1 call of 'Write', found 0"),
        ("visits: {draft: 1,", "visits: {draft: {most: 0},", "16:16: expected at most 0 visits of 'draft', found 1"),
        ("turns: 3", "turns: {most: 2}", "18:7: expected at most 2 turns, found 3"),
        ("executions: {most: 2}", "executions: 7", "19:7: expected 7 executions, found 2"),
        ("{approved: true}", "{approved: false}", "expected false, found true"),
        ("{approved: true}", "{agreed: true}", "expected true, found nothing"),
        ("turns: 3", "waits: 5", "18:7: expected 5 milliseconds, found 0"),
        ("turns: 3", "prompts: {draft: [the tides, High water, the moon]}", "'draft' asks without 'the moon'"),
        ("turns: 3", "prompts: {nobody: x}", "'nobody' makes no request"),
        ("turns: 3", "tools: {draft: [], review: []}", "18:15: 'draft' has the tools 'Read'"),
        ("turns: 3", "attempts: {draft: 2}", "18:18: expected 2 attempts of 'draft', found 1"),
        (
            "turns: 3",
            "refuses: {review: [{approved: null}, {remarks: x}, {}]}",
            '18:17: the schema accepts the answer changed by {"remarks":"x"}, {}',
        ),
        (
            "turns: 3",
            "accepts: {review: [{approved: false}, {approved: 1}, text]}",
            '18:17: the schema refuses the answer changed by {"approved":1}, "text"',
        ),
        ("turns: 3", "refuses: {nobody: [{more: 1}]}", "18:17: 'nobody' has no answer that could be changed"),
        ("turns: 3", 'unfit: [{topic: ""}, {topic: x}]', 'the run can begin with the inputs changed by {"topic":"x"}'),
        ("turns: 3", "fit: [{topic: x}, {topic: null}]", 'cannot begin with the inputs changed by {"topic":null}'),
        ("turns: 3", "inputs: {draft: [x]}", "18:16: 'draft' has the inputs none"),
        ("text: Moon and sun pull at the sea.}}}", "text: x}}}", "expected 'x', found 'Moon and sun pull"),
    ],
)
def test_what_does_not_hold_is_told_at_its_place(change: str, to: str, told: str, capfd: Shown) -> None:
    expect(change, to)
    assert run(["test"]) == 1
    out = capfd.readouterr().out
    assert told in out
    assert "2 tests: 1 passed, 1 failed" in out


@pytest.mark.parametrize(
    ("change", "to", "told"),
    [
        ("    review:\n", "    revue:\n", "there is no stage 'revue'"),
        ("review: [[", "review: [], x: [[", ""),
        ("  inputs: {topic: the tides}", "  inputs: {topc: x}", "topc"),
        ("  inputs: {topic: the tides}", "  inputs: {}", "the input 'topic' is missing"),
        ("  tools: {Read: High water at 6:10.}", "  tools: {}", "'Read'"),
    ],
)
def test_a_scenario_that_cannot_be_played_fails_the_test(change: str, to: str, told: str, capfd: Shown) -> None:
    if FILE.read_text().count(change) != 1:
        change = change.replace("    review:\n", "        review:\n          - - {complete: {approved: false")
        to = to.replace("    revue:\n", "        revue:\n          - - {complete: {approved: false")
    expect(change, to)
    assert run(["test"]) in {1, 2}
    shown = capfd.readouterr()
    assert told in shown.out + shown.err


def test_update_writes_what_came_of_the_runs_and_keeps_the_rest(capfd: Shown) -> None:
    expect("path: [draft, review]\n", "path: [review]\n")
    expect("Read: 1", "Read: 9")
    expect("turns: 3", "turns: 4")
    assert run(["test"]) == 1
    assert run(["test", "--update"]) == 0
    assert "updated review.flow-test.yaml" in capfd.readouterr().err
    assert yaml.safe_load(FILE.read_text(encoding="utf-8")) == yaml.safe_load(COMMON)
    assert "# the shortest run" in FILE.read_text(encoding="utf-8")
    assert run(["test"]) == 0


def test_coverage_is_listed_and_demanded(capfd: Shown) -> None:
    assert run(["test", "-k", "AT ONCE", "--coverage"]) == 0
    out = capfd.readouterr().out
    assert "1 test: 1 passed, 0 failed" in out
    assert "no test takes 'review' → 'draft'" in out
    assert run(["test", "--fail-under", "100"]) == 1
    assert "less than the required 100 %" in capfd.readouterr().out
    assert run(["test", "--fail-under", "1"]) == 0


def test_json_and_junit_have_the_same_results(capfd: Shown) -> None:
    expect("turns: 3", "turns: 4")
    assert run(["test", "--format", "json"]) == 1
    told: Any = json.loads(capfd.readouterr().out)
    jsonschema.validate(told, json.loads((TOP / "schemas" / "test_report.schema.json").read_bytes()))
    assert (told["version"], told["failed"]) == (1, 1)
    (file,) = told["files"]
    assert [each["passed"] for each in file["tests"]] == [False, True]
    assert file["tests"][0]["complaints"] == [{"line": 18, "column": 7, "message": "expected 4 turns, found 3"}]
    assert run(["test", "--format", "junit"]) == 1
    suites = ET.fromstring(capfd.readouterr().out)
    assert suites.attrib["failures"] == "1"
    assert [each.attrib["name"] for each in suites.iter("testcase")] == ["approved at once", "sent back once"]
    assert [each.attrib["message"] for each in suites.iter("failure")] == ["18:7: expected 4 turns, found 3"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tests: {}", "empty-value"),
        ("tests: {a: {expect: {outcom: done}}}", "outcom"),
        ("tests: {a: {expect: {outcome: fine}}}", "unknown-value"),
        ("tests: {a: {expect: {turns: -1}}}", "value-out-of-range"),
        ("tests: {a: {scenario: {answer: 1}, expect: {turns: 1}}}", "unknown key 'answer'"),
        ("scenario: []\ntests: {a: {expect: {turns: 1}}}", "wrong-type"),
        ("[]", "wrong-type"),
        ("tests: {a: {expect: {turns: 1}}", "never closed"),
        ("flow: other\ntests: {a: {expect: {turns: 1}}}", "'flow' is 'other': there is no such flow"),
    ],
)
def test_a_file_that_is_none_of_tests_is_refused_with_the_place(text: str, told: str, capfd: Shown) -> None:
    FILE.write_text(text, encoding="utf-8")
    assert run(["test"]) == 2
    shown = capfd.readouterr().err
    assert told in shown
    assert "review.flow-test.yaml" in shown


def test_a_flow_with_errors_is_not_tested(capfd: Shown) -> None:
    pipeline = Path("pipeline.yaml")
    pipeline.write_text(pipeline.read_text(encoding="utf-8").replace("draft: review", "draft: revue"))
    assert run(["test"]) == 2
    assert "is not compiled" in capfd.readouterr().err


def test_the_nearest_flow_is_tested_and_several_must_be_told_apart(project: Path, capfd: Shown) -> None:
    inside = Path("tests/deep")
    inside.mkdir(parents=True)
    FILE.rename(inside / FILE)
    assert run(["test"]) == 0
    other = Path("pipeline.yaml").read_text(encoding="utf-8").replace("id: draft-and-review", "id: other")
    Path("other.pipeline.yaml").write_text(other, encoding="utf-8")
    Path("other").mkdir()
    shutil.copy("pipeline.yaml", "other/pipeline.yaml")
    capfd.readouterr()
    assert run(["test", "tests"]) in {0, 2}


def test_without_tests_the_status_says_so(capfd: Shown) -> None:
    FILE.unlink()
    assert run(["test"]) == 3
    assert "holds no file '*.flow-test.yaml'" in capfd.readouterr().err
    FILE.write_text(COMMON, encoding="utf-8")
    assert run(["test", "-k", "nowhere"]) == 3
    assert "no test has 'nowhere' in its name" in capfd.readouterr().err


def test_validate_does_not_take_a_file_of_tests_for_something_else(capfd: Shown) -> None:
    assert run(["validate"]) == 0
    assert "flow-test" not in capfd.readouterr().out


def test_null_and_an_empty_text_differ(capfd: Shown) -> None:
    expect("{approved: true}", '{remarks: ""}')
    assert run(["test"]) == 0
    expect('{remarks: ""}', "{remarks: null}")
    assert run(["test"]) == 1
    assert "expected nothing, found ''" in capfd.readouterr().out


def test_what_is_told_and_offered_to_models_can_be_expected() -> None:
    expect("turns: 3", "prompts: {draft: the tides, review: [The moon pulls]}\n      tools: {draft: [Read]}")
    assert run(["test"]) == 0


def test_update_writes_what_is_offered(capfd: Shown) -> None:
    expect("turns: 3", "tools: {draft: [Write]}\n      prompts: {draft: [the tides, no such text]}")
    assert run(["test", "--update"]) == 0
    held = yaml.safe_load(FILE.read_text(encoding="utf-8"))["tests"]["approved at once"]["expect"]
    assert (held["tools"], held["prompts"]) == ({"draft": ["Read"]}, {"draft": ["the tides"]})
    assert run(["test"]) == 0


def test_several_processes_say_the_same_in_the_same_order(capfd: Shown) -> None:
    tests = yaml.safe_load(COMMON)
    every = [(f"test {number}", each) for number in range(600) for each in tests["tests"].values()]
    FILE.write_text(json.dumps({**tests, "tests": dict(every)}), encoding="utf-8")
    expected = run(["test", "--jobs", "1", "--format", "json"]), capfd.readouterr().out
    assert (run(["test", "--jobs", "3", "--format", "json"]), capfd.readouterr().out) == expected
