"""`stagec graph` draws what was asked for, says what it left out, and refuses what cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stagec.cli.app import run
from stagec.cli.commands.graph import GraphRequest, reduce_pictures
from stagec.core.failure import Failure
from stagec.core.shelf import member
from stagec.views import emitters
from stagec.views.emitters import Box, Emitter, Line, Picture, Role, Stroke

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
    assert "STG201 unknown-" in shown.out
    assert shown.err == "stagec: note: drawn with 6 errors: 'stagec validate' says what is wrong\n"


@pytest.mark.parametrize("suffix", ["dot", "mmd", "mermaid", "json", "svg"])
def test_the_name_of_the_file_says_the_format(suffix: str, tmp_path: Path) -> None:
    beginnings = {
        "dot": "digraph",
        "mmd": "flowchart",
        "mermaid": "flowchart",
        "json": '{"format": "stagec.graph/1"',
        "svg": "<?xml",
    }
    assert run(["graph", REVIEW, "-o", str(tmp_path / f"x.{suffix}")]) == 0
    assert (tmp_path / f"x.{suffix}").read_text(encoding="utf-8").startswith(beginnings[suffix])


def test_a_name_that_says_no_format_is_refused(tmp_path: Path, capfd: Shown) -> None:
    assert run(["graph", REVIEW, "-o", str(tmp_path / "x.txt")]) == 2
    assert capfd.readouterr().err.startswith("stagec: error: 'x.txt' names no format: use --format, or end it in '.")


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
    (tmp_path / "steps_registry.json").write_text(json.dumps(_registry(600)), encoding="utf-8")
    assert run(["graph", str(tmp_path)]) == 0
    shown = capfd.readouterr()
    assert "600 nodes" in shown.out
    assert "stagec: note: big: 600 lines are more than 500" in shown.err


@pytest.mark.parametrize(
    ("edges", "lines", "note"),
    [
        ("all", 5, ""),
        ("once", 1, ""),
        ("main", 0, "stagec: note: code-review: not drawn: every node leads by 'fail' to the end failed\n"),
    ],
)
def test_failures_of_every_node_are_drawn_as_asked(edges: str, lines: int, note: str, capfd: Shown) -> None:
    assert run(["graph", REVIEW, "--format", "json", "--edges", edges]) == 0
    shown = capfd.readouterr()
    told = json.loads(shown.out)["flows"][0]["lines"]
    assert sum(line["target"] == "failed" for line in told) == lines
    assert shown.err == note


def test_a_flow_that_pages_would_refuse_is_refused_with_the_way_out() -> None:
    boxes = {f"n{at}": Box(f"n{at}", f"n{at}", Role.NODE) for at in range(40)}
    lines = tuple(Line(f"n{at}", f"n{to}", Stroke.GO) for at in range(40) for to in range(at + 1, 40))
    pictures = (Picture("p", "p", boxes, lines),)
    with pytest.raises(Failure) as failure:
        reduce_pictures(pictures, GraphRequest(), member(emitters, "mermaid", Emitter))
    assert str(failure.value) == (
        "780 lines are more than the 500 that mermaid can show: --flow, --focus, --collapse and --edges main draw "
        "less, and --format svg and html show any number"
    )
    assert reduce_pictures(pictures, GraphRequest(), member(emitters, "svg", Emitter)) == pictures


PROGRAMS, PEOPLE = ("json", "graphml"), ("mermaid", "dot", "svg", "html")


@pytest.mark.parametrize(("form", "lines"), [*((form, 5) for form in PROGRAMS), *((form, 1) for form in PEOPLE)])
def test_programs_get_every_failure_and_people_one_for_all(form: str, lines: int, capfd: Shown) -> None:
    assert run(["graph", REVIEW, "--format", form]) == 0
    text = capfd.readouterr().out
    labels = {"json": '["fail"]', "graphml": ">fail<", "mermaid": '|"fail"|', "dot": "&#160;fail&#160;"}
    assert text.count(labels.get(form, ">fail</text>")) == lines


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
        b"stagec: error: png cannot be written to a terminal: --output names a file\n",
    )
