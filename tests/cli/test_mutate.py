"""`stagec mutate`: which changes of flows their tests notice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stagec.change.mutation.trial import list_operators
from stagec.cli.app import run

TOP = Path(__file__).parents[2]
Shown = pytest.CaptureFixture[str]
TEST = """\
scenario: {inputs: {topic: the tides}, conversations: {draft: [[{complete: {text: The moon.}}]]}}
tests:
  approved:
    scenario: {conversations: {review: [[{complete: {approved: true, remarks: ""}}]]}}
    expect: {outcome: done, path: [draft, review]}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the smallest pipeline, with one test."""
    shutil.copytree(TOP / "compiler" / "starters" / "pipeline", tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    Path("a.flow-test.yaml").write_text(TEST, encoding="utf-8")
    return tmp_path


def mutate(capfd: Shown, *options: str) -> Any:
    assert run(["mutate", "--format", "json", *options]) == 0
    told = json.loads(capfd.readouterr().out)
    jsonschema.validate(told, json.loads((TOP / "schemas" / "mutation.schema.json").read_bytes()))
    (flow,) = told["flows"]
    return flow


def test_survivors_have_a_place_and_what_would_notice_them(capfd: Shown) -> None:
    assert run(["mutate"]) == 0
    lines = capfd.readouterr().out.splitlines()
    at = lines.index("stages/draft.md:14:10: survived: 'draft': 9 turns instead of 10 [turns-shifted]")
    assert lines[at + 1].startswith("  a test would notice it by a run in which a model uses all its turns")
    assert any(each.startswith("draft-and-review: 1 test, ") for each in lines)
    assert "  2 changes without effect: every result leads to the same node" in lines


def test_the_counts_agree(capfd: Shown) -> None:
    flow = mutate(capfd)
    states = [each["state"] for each in flow["mutants"]]
    assert flow["tried"] == flow["known"] == len(states)
    assert {state: states.count(state) for state in set(states)} == {
        state: flow[state] for state in ("noticed", "survived", "equivalent")
    }
    assert flow["percent"] == round(100 * flow["noticed"] / (flow["tried"] - flow["equivalent"]), 1)
    ended = [each for each in flow["mutants"] if each["change"].startswith("'draft': the edge on 'ok' ends as 'done'")]
    assert [(each["test"], each["message"]) for each in ended] == [("approved", "the run takes draft")]


def test_a_test_that_says_more_notices_more(capfd: Shown) -> None:
    before = {each["change"] for each in mutate(capfd)["mutants"] if each["state"] == "survived"}
    more = TEST.replace("path: [draft, review]", "path: [draft, review], tools: {draft: [Read]}, unfit: [{topic: ''}]")
    Path("a.flow-test.yaml").write_text(more, encoding="utf-8")
    after = {each["change"] for each in mutate(capfd)["mutants"] if each["state"] == "survived"}
    assert before - after == {
        "'draft': the tool 'Read' is taken away",
        "the schema of the input 'topic': 'minLength' 1 → 0",
    }
    assert not after - before


def test_only_some_operators_are_tried(capfd: Shown) -> None:
    flow = mutate(capfd, "--only", "turns-shifted", "--only", "edge-end")
    assert {each["operator"] for each in flow["mutants"]} == {"edge-end", "turns-shifted"}
    assert run(["mutate", "--only", "turn-shifted"]) == 2
    assert "no operator 'turn-shifted'; did you mean 'turns-shifted'?" in capfd.readouterr().err


def test_a_sample_is_the_same_for_the_same_seed(capfd: Shown) -> None:
    every, one, same, other = (
        mutate(capfd, *options)
        for options in ([], ["--limit", "7"], ["--limit", "7", "--seed", "0"], ["--limit", "7", "--seed", "1"])
    )
    assert one == same
    assert one["mutants"] != other["mutants"]
    assert (one["tried"], one["known"]) == (7, every["known"])
    assert [each for each in every["mutants"] if each in one["mutants"]] == one["mutants"]
    assert run(["mutate", "--limit", "7"]) == 0
    assert f"  7 of {every['known']} were tried" in capfd.readouterr().out


def test_the_number_of_processes_changes_nothing(capfd: Shown) -> None:
    assert mutate(capfd, "--jobs", "3") == mutate(capfd, "--jobs", "1")


def test_the_status_says_whether_enough_is_noticed(capfd: Shown) -> None:
    assert run(["mutate", "--fail-under", "5"]) == 0
    assert run(["mutate", "--fail-under", "95"]) == 1
    assert "draft-and-review: less than the required 95 %" in capfd.readouterr().out


def test_all_changes_are_listed_on_request(capfd: Shown) -> None:
    assert run(["mutate", "--all", "--only", "case-order"]) == 0
    out = capfd.readouterr().out
    assert "noticed: 'review': case 1 on 'ok' is gone [case-order]\n  approved: " in out
    assert "equivalent: 'review': case 2 on 'ok' is asked before case 1 [case-order]" in out


def test_tests_must_pass_first(capfd: Shown) -> None:
    Path("a.flow-test.yaml").write_text(TEST.replace("[draft, review]", "[draft]"), encoding="utf-8")
    assert run(["mutate"]) == 1
    err = capfd.readouterr().err
    assert "the tests must pass without a change: 'approved'" in err
    assert "'stagec test' says why" in err


def test_the_page_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    page, tests = (
        (TOP / "docs" / "user-guide" / f"{each}.md").read_text(encoding="utf-8") for each in ("mutate", "test")
    )
    shown = page.partition("$ stagec mutate demo --only turns-shifted\n")[2].partition("```")[0]
    text = tests.partition("```yaml demo/review.flow-test.yaml\n")[2].partition("```")[0]
    more = page.partition("```yaml\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    assert run(["init", "demo"]) == 0
    Path("demo/review.flow-test.yaml").write_text(text, encoding="utf-8")
    capfd.readouterr()
    assert run(["mutate", "demo", "--only", "turns-shifted"]) == 0
    assert capfd.readouterr().out == shown
    Path("demo/review.flow-test.yaml").write_text(text + more, encoding="utf-8")
    assert run(["mutate", "demo", "--only", "turns-shifted", "--fail-under", "100"]) == 0


def test_the_page_lists_every_operator() -> None:
    page = (TOP / "docs" / "mutation-operators.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    every = [(each.name, each.page[0].lower() + each.page[1:].removesuffix(".")) for each in list_operators()]
    assert rows == [f"| `{name}` | {told} |" for name, told in every]


def test_without_tests_the_status_says_so(capfd: Shown) -> None:
    Path("a.flow-test.yaml").unlink()
    assert run(["mutate"]) == 3
    assert "holds no file '*.flow-test.yaml'" in capfd.readouterr().err
