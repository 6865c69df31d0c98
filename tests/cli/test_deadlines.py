"""Deadlines through the command line: what plans say, what scenarios let pass, and what is found, recorded and told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nursery
import pytest

STAGE = """---
id: {name}
name: {name}
allowedTools: []
completionTool: submit_{name}
completionSchema: {{type: object, required: [done], properties: {{done: {{type: boolean}}}}}}
retryPolicy: {{maxAttempts: 2, backoff: "fixed:1000"}}
turnCap: 3
resolutionPolicy: fail
{more}---
Work, then call `submit_{name}`.
"""
PIPELINE = """id: late
entry: ask
runDeadline: 2h
deadline: {tell: 10m}
stages: [ask.md, tell.md]
next:
  ask:
    - {when: {verdict: fail, reason: deadline-exceeded}, stages: [tell], wait: 1m}
    - {stages: [tell]}
  tell: {stages: []}
"""
TESTS = """flow: late
tests:
  the stage is late:
    scenario: {conversations: {ask: [[{deadline: stage}]], tell: [[{complete: {done: true}}]]}}
    expect: {outcome: done, path: [ask, tell], waits: 60000, results: {ask: {reason: deadline-exceeded}}}
  the run is late:
    scenario: {conversations: {ask: [[{complete: {done: true}}]], tell: [[{deadline: run}]]}}
    expect: {outcome: failed, path: [ask, tell]}
"""
Stagec = Callable[..., str]


@pytest.fixture
def stagec(tmp_path: Path) -> Stagec:
    """Run stagec in the folder of a pipeline whose stages and runs have deadlines."""
    (tmp_path / "pipeline.yaml").write_text(PIPELINE)
    for name, more in (("ask", "stagec: {deadline: 30m}\n"), ("tell", "")):
        (tmp_path / f"{name}.md").write_text(STAGE.format(name=name, more=more))
    (tmp_path / "late.flow-test.yaml").write_text(TESTS)

    def run(*words: str, code: int = 0) -> str:
        ended = nursery.run(words, tmp_path, nursery.environment())
        assert ended.returncode == code, ended.stderr.decode() + ended.stdout.decode()
        return ended.stdout.decode()

    return run


def test_a_deadline_passes_where_a_scenario_says_so(stagec: Stagec, tmp_path: Path) -> None:
    stagec("validate", ".")
    stagec("test", ".")
    stagec("compile", ".", "-o", "plan.json")
    assert "a run fails after 2 h" in stagec("plan", "plan.json")
    turns = '{"ask": [{"deadline": "stage"}], "tell": [{"deadline": "run"}]}'
    (tmp_path / "s.json").write_text(f'{{"conversations": {turns}, "waits": "skip"}}')
    told = stagec("run", "plan.json", "--scenario", "s.json", code=1)
    assert "the deadline of the run has passed: 2 h" in told


def test_paths_cover_the_case_and_bounds_use_deadlines(stagec: Stagec) -> None:
    assert "1 of 1 case" in stagec("paths", ".")
    assert "time     at most 41 min" in stagec("bounds", ".")
    assert "time     at most 41 min" in stagec("bounds", ".", "--turn", "3600")


def test_a_scenario_for_a_stage_without_a_deadline_is_told(stagec: Stagec, tmp_path: Path) -> None:
    text = (tmp_path / "pipeline.yaml").read_text()
    (tmp_path / "pipeline.yaml").write_text(text.replace("deadline: {tell: 10m}\n", ""))
    given = "{conversations: {ask: [[{complete: {done: true}}]], tell: [[{deadline: stage}]]}}"
    test = f"flow: late\ntests:\n  no:\n    scenario: {given}\n    expect: {{outcome: failed}}\n"
    (tmp_path / "late.flow-test.yaml").write_text(test)
    assert "and there is none" in stagec("test", ".", code=1)


@pytest.mark.parametrize("form", ["dot", "mermaid", "json", "graphml", "svg", "html"])
def test_drawings_show_deadlines(stagec: Stagec, tmp_path: Path, form: str) -> None:
    stagec("graph", ".", "--format", form, "-o", "drawn")
    told = (tmp_path / "drawn").read_text()
    assert all(each in told for each in ("deadline 30 min", "deadline 10 min", "deadline of a run: 2 h"))
