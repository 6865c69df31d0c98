"""`stagec graph` draws what was asked for, says what it left out, and refuses what cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stagec.cli.app import run

EXAMPLES = Path(__file__).parents[2] / "registries"
REVIEW = str(EXAMPLES / "code-review")
BROKEN = str(EXAMPLES / "broken-on-purpose")

Shown = pytest.CaptureFixture[str]


def test_a_flowchart_goes_to_standard_output(capfd: Shown) -> None:
    assert run(["graph", REVIEW]) == 0
    shown = capfd.readouterr()
    assert shown.out.startswith("flowchart TB\n")
    assert shown.err == ""


def test_a_project_with_errors_is_drawn_and_it_is_said(capfd: Shown) -> None:
    assert run(["graph", BROKEN]) == 0
    shown = capfd.readouterr()
    assert "STG201 unknown-target" in shown.out
    assert shown.err == "stagec: note: drawn with 6 errors: 'stagec validate' says what is wrong\n"


@pytest.mark.parametrize("suffix", ["dot", "mmd", "json", "svg"])
def test_the_name_of_the_file_says_the_format(suffix: str, tmp_path: Path) -> None:
    beginnings = {"dot": "digraph", "mmd": "flowchart", "json": '{"format": "stagec.graph/1"', "svg": "<?xml"}
    assert run(["graph", REVIEW, "-o", str(tmp_path / f"x.{suffix}")]) == 0
    assert (tmp_path / f"x.{suffix}").read_text(encoding="utf-8").startswith(beginnings[suffix])


def test_a_name_that_says_no_format_is_refused(tmp_path: Path, capfd: Shown) -> None:
    assert run(["graph", REVIEW, "-o", str(tmp_path / "x.txt")]) == 2
    assert capfd.readouterr().err.startswith(
        "stagec: error: 'x.txt' does not say a format: --format does, or one of '."
    )


def test_a_focus_draws_what_is_near_and_says_what_is_left_out(capfd: Shown) -> None:
    assert run(["graph", REVIEW, "--format", "json", "--focus", "plan", "--depth", "0"]) == 0
    shown = capfd.readouterr()
    assert [box["name"] for box in json.loads(shown.out)["flows"][0]["boxes"]] == ["plan"]
    assert shown.err == "stagec: note: code-review: left out: 7 of 8 boxes, more than 0 lines away from 'plan'\n"


def test_a_node_that_is_not_there_is_refused(capfd: Shown) -> None:
    assert run(["graph", REVIEW, "--focus", "plam"]) == 2
    assert capfd.readouterr().err == "stagec: error: no node is called 'plam'; did you mean 'plan'?\n"


def test_a_flow_is_chosen_by_its_id(capfd: Shown) -> None:
    assert run(["graph", str(EXAMPLES), "--format", "json", "--flow", "code-review"]) == 0
    shown = capfd.readouterr()
    assert [flow["id"] for flow in json.loads(shown.out)["flows"]] == ["code-review"]
    assert shown.err == ""


def test_a_flow_that_is_not_there_is_refused(capfd: Shown) -> None:
    assert run(["graph", REVIEW, "--flow", "review"]) == 2
    assert capfd.readouterr().err == "stagec: error: no flow is called 'review'; did you mean 'code-review'?\n"


def test_cycles_are_drawn_as_one_box_when_asked(capfd: Shown) -> None:
    assert run(["graph", REVIEW, "--format", "json", "--collapse", "cycle"]) == 0
    boxes = json.loads(capfd.readouterr().out)["flows"][0]["boxes"]
    assert [box["role"] for box in boxes] == ["start", "group", "done", "failed"]


def test_where_there_is_no_flow_there_is_nothing_to_draw(tmp_path: Path, capfd: Shown) -> None:
    assert run(["graph", str(tmp_path)]) == 3
    assert "nothing to draw" in capfd.readouterr().err


def test_a_flow_that_is_too_large_is_drawn_by_phase_and_it_is_said(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "steps_registry.json").write_text(json.dumps(_registry(400)), encoding="utf-8")
    assert run(["graph", str(tmp_path)]) == 0
    shown = capfd.readouterr()
    assert "400 nodes" in shown.out
    assert "are too many to lay out" in shown.err


def _registry(steps: int) -> dict[str, object]:
    gate = {"allowedIntents": ["next"], "intentField": "intent", "intentSchemaRef": "#/properties/intent"}
    made = {
        f"initial.s{at}": {
            "stepId": f"initial.s{at}",
            "name": "S",
            "c2": "initial",
            "c3": f"s{at}",
            "stepKind": "work",
            "structuredGate": gate,
            "transitions": {"next": {"target": f"initial.s{at + 1}" if at + 1 < steps else None}},
        }
        for at in range(steps)
    }
    return {"agentId": "big", "version": "1.0.0", "c1": "steps", "entryStep": "initial.s0", "steps": made}


def test_an_image_is_not_written_to_a_terminal() -> None:
    master, terminal = os.openpty()
    try:
        command = [sys.executable, "-m", "stagec", "graph", REVIEW, "--format", "png"]
        environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "compiler")}
        ended = subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, env=environment, check=False)
    finally:
        os.close(terminal)
        os.close(master)
    assert (ended.returncode, ended.stderr) == (
        2,
        b"stagec: error: png is nothing for a terminal: --output names a file\n",
    )
