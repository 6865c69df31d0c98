"""Waits of cases: in plans, in pipelines that run as stages, in drawings and pages, and in tests of flows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from stagec.cli.app import run

STAGE = """---
id: {name}
name: {name}
retryPolicy: {{maxAttempts: 1, backoff: none}}
allowedTools: []
completionTool: submit
completionSchema: {{type: object, required: [again], properties: {{again: {{type: boolean}}}}}}
turnCap: 1
resolutionPolicy: fail
---
Do it.
"""
PIPELINE = """id: patient
entry: ask
maxStageExecutions: 5
stages: [ask.md, tell.md]
next:
  ask:
    - {when: {verdict: fail, reason: provider-failed}, stages: [ask], wait: 10m}
    - {when: {parsed.again: true}, stages: [ask], wait: 1.5h}
    - {when: {verdict: [ok, fail]}, stages: [tell], wait: 2s}
"""
INNER = """id: {name}
entry: {entry}
output: {entry}
context: {{}}
stages: [{stages}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, {"pipeline.yaml": PIPELINE, **{f"{name}.md": STAGE.format(name=name) for name in ("ask", "tell")}})
    return tmp_path


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def waits(folder: Path, node: str, capsys: pytest.CaptureFixture[str], file: str = "pipeline.yaml") -> list[object]:
    """Return the outcome and the wait of each edge of a node of the plan."""
    assert run(["compile", str(folder / file), "--root", str(folder), "-o", str(folder / "p.json")]) == 0
    capsys.readouterr()
    plan = json.loads((folder / "p.json").read_text())["plan"]
    return [(each["on"], each.get("wait", 0)) for each in plan["nodes"][node]["edges"]]


def test_the_edges_of_a_case_wait(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert waits(folder, "ask", capsys) == [
        ("fail", 600_000),
        ("ok", 5_400_000),
        ("ok", 2_000),
        ("fail", 2_000),
        ("fail", 0),
    ]


def test_what_follows_an_inner_pipeline_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outer = "id: outer\nentry: in\ncontext: {}\nstages: [tell.md, {id: in, pipeline: in/pipeline.yaml}]\n"
    outer += "next: {in: {stages: [tell], wait: 1m}}\n"
    write(tmp_path, {"pipeline.yaml": outer, "tell.md": STAGE.format(name="tell")})
    inner = INNER.format(name="in", entry="work", stages="look.md, work.md").replace("entry: work", "entry: look")
    inner += "next: {look: {stages: [work], wait: 3s}}\n"
    write(tmp_path / "in", {"pipeline.yaml": inner, **{f"{n}.md": STAGE.format(name=n) for n in ("look", "work")}})
    assert waits(tmp_path, "in/look", capsys) == [("ok", 3_000), ("fail", 0)]
    assert waits(tmp_path, "in/work", capsys) == [("ok", 60_000), ("fail", 0)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["graph", "--format", "mermaid"], "after 1 h 30 min"),
        (["graph", "--format", "json"], "ok: parsed.again = true, after 1 h 30 min"),
        (["plan"], "ok: parsed.again = true → ask, after 1 h 30 min"),
        (["bounds"], "all else takes at most 7 h 30 min"),
        (["bounds"], "waits of patient ask 1 h 30 min on ok ask 10 min on fail ask 2 s"),
    ],
)
def test_everything_that_shows_an_edge_shows_its_wait(
    folder: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    waits(folder, "ask", capsys)
    shown = folder / ("p.json" if arguments[0] == "plan" else "pipeline.yaml")
    assert run([*arguments, str(shown)]) == 0
    assert told in " ".join(capsys.readouterr().out.replace("<br/>", " ").split())


def test_the_handbook_tells_how_long_a_step_waits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["handbook", str(folder), "-o", str(folder / "site")]) == 0
    capsys.readouterr()
    assert any("after 1 h 30 min" in page.read_text() for page in (folder / "site").rglob("*.html"))


def test_a_changed_wait_is_a_change_that_runs_continue_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waits(folder, "ask", capsys)
    (folder / "p.json").rename(folder / "old.json")
    (folder / "pipeline.yaml").write_text(PIPELINE.replace("wait: 10m", "wait: 20m"))
    waits(folder, "ask", capsys)
    run(["diff", str(folder / "old.json"), str(folder / "p.json")])
    assert "ask: wait before the edge on fail 10 min → 20 min" in capsys.readouterr().out
    assert run(["breaking", str(folder / "p.json"), "--against", str(folder / "old.json"), "--format", "json"]) == 0
    assert "CHG247" in capsys.readouterr().out


def test_flow_tests_pass_over_waits_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = """scenario:
  conversations:
    ask: [[{failed: busy}], [{complete: {again: true}}], [{complete: {again: false}}]]
    tell: [[{complete: {again: false}}]]
tests:
  patient: {expect: {outcome: done, path: [ask, ask, ask, tell]}}
"""
    (folder / "patient.flow-test.yaml").write_text(tests)
    assert run(["test", str(folder)]) == 0
    assert "1 passed" in capsys.readouterr().out


def test_a_number_alone_is_no_duration(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pipeline.yaml").write_text(PIPELINE.replace("wait: 10m", "wait: 10"))
    assert run(["validate", str(folder)]) == 1
    assert "must be a string, found an integer, such as '10m'" in capsys.readouterr().out
