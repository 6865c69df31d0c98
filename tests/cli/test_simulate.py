"""`stagec simulate`: somebody plays the world, or a scenario does, and nothing is done."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from handmade import completed, processes
from playable import STAGES, STEPS, asking, command, judged, stages, steps

from stagec.cli.app import run
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Text
from stagec.ir.plan.document import Contents
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Exists
from stagec.ir.plan.node import Edge, Go

Shown = pytest.CaptureFixture[str]
Play = Callable[..., tuple[int, list[str]]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> Play:
    """Walk through a plan by typing lines; return the exit status, and the lines that are printed."""

    def walk(plan: Plan, *typed: str, options: tuple[str, ...] = ()) -> tuple[int, list[str]]:
        Path("p").write_bytes(dump(plan))
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        status = run(["simulate", "p", *options])
        shown = capfd.readouterr()
        assert shown.err == ""
        return status, shown.out.splitlines()

    return walk


TOPIC = ("--input", "topic=winter")


def test_what_is_asked_is_shown_with_the_ways_that_lead_on(play: Play) -> None:
    status, lines = play(steps(), options=TOPIC)
    assert (status, lines) == (
        0,
        [
            "",
            "draft asks the model for an answer",
            "  | Draft winter",
            "  1  next → close",
            "  2  repeat → draft",
            "  3  abort → end (failed)",
            "  answer: a number, an outcome, or JSON; help says more",
        ],
    )


def test_an_outcome_a_number_and_json_lead_on(play: Play) -> None:
    status, lines = play(steps(), "repeat", "1", '{"action": "closing"}', "pass", options=TOPIC)
    assert status == 0
    assert [line for line in lines if line.startswith((">", "draft  ", "draft#2  ", "close  ", "done"))] == [
        "> repeat",
        "draft    repeat → draft",
        "> 1",
        "draft#2  next → close",
        '> {"action": "closing"}',
        "> pass",
        "close    closing → done",
        "done: completed, 3 executions",
    ]


def test_a_check_of_the_work_may_fail(play: Play) -> None:
    status, lines = play(steps(), "next", "closing", "fail", options=TOPIC)
    assert status == 0
    assert "close checks the work: exit 0" in lines
    assert "close    closing refused: unfinished → draft" in lines


def test_what_was_answered_can_be_taken_back(play: Play) -> None:
    _, lines = play(steps(), "next", "undo", "undo", options=TOPIC)
    assert lines[-1] == "there is nothing to undo"
    assert [line for line in lines if "asks the model" in line] == [
        "draft asks the model for an answer",
        "close asks the model for an answer",
        "draft asks the model for an answer",
    ]


def test_the_end_can_be_taken_back(play: Play) -> None:
    status, lines = play(steps(), "abort", "next", "undo", "quit", "next", options=TOPIC)
    assert status == 0
    assert "draft    abort → failed" in lines
    assert "the run has ended: undo, state, help or quit" in lines
    assert lines[-1] == "> quit"


def test_a_run_that_ends_as_failed_ends_with_1(play: Play) -> None:
    assert play(steps(), "abort", options=TOPIC)[0] == 1


def test_where_the_run_stands_is_told(play: Play) -> None:
    _, lines = play(stages(), "ok", "state")
    assert lines[-3:] == [
        "3 executions of 20 at most",
        "at work: count, spell",
        "visited: plan 1 time, count 1 time, spell 1 time",
    ]


def test_help_names_the_commands(play: Play) -> None:
    _, lines = play(steps(), "help", options=TOPIC)
    assert [line.split()[0] for line in lines[lines.index("> help") + 1 :]] == [
        "NUMBER",
        "OUTCOME",
        "JSON",
        "say",
        "call",
        "cap",
        "deadline",
        "deadline",
        "undo",
        "state",
        "help",
        "quit",
    ]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            "nxt",
            "'nxt' is not an answer: type the number of an edge, 'next', 'repeat' or 'abort', or a JSON object; did",
        ),
        ("9", "'9' is not an answer: "),
        ("", "'' is not an answer: "),
        ("[1]", "'[1]' is not an answer: "),
        ("\x1b[2J", r"'\x1b[2J' is not an answer: "),
        ("9" * 5000, "'9999"),
    ],
)
def test_what_is_no_answer_changes_nothing(play: Play, typed: str, told: str) -> None:
    _, lines = play(steps(), typed, "state", options=TOPIC)
    assert any(line.startswith(told) for line in lines)
    assert "1 execution of 20 at most" in lines
    assert "\x1b" not in "".join(lines)


def test_an_answer_that_the_schema_refuses_is_asked_for_again(play: Play) -> None:
    _, lines = play(steps(), '{"action": 1}', options=TOPIC)
    assert any(line.startswith("draft asks the model for an answer again: ") for line in lines)


def test_a_way_that_no_answer_can_take_is_not_offered(play: Play) -> None:
    schema = '{"type":"object","required":["action"],"properties":{"action":{"enum":["next","repeat","closing"]}}}'
    _, lines = play(steps(schema=schema), "abort", options=TOPIC)
    assert "  3  abort → end (failed)" not in lines
    assert lines[-1].startswith("'abort' is not an answer: ")


def test_a_model_works_with_tools(play: Play) -> None:
    status, lines = play(stages(), "say I look.", 'call Read {"path": "a"}', "one two", "ok", "1", "ok")
    assert status == 0
    assert 'plan calls the tool Read with {"path":"a"}' in lines
    assert "plan lets the model take turn 3; an attempt has 3" in lines
    assert "  | one two" in lines
    assert lines[-1] == "done: completed, 3 executions"


def test_a_tool_may_fail_and_people_may_refuse(play: Play) -> None:
    _, lines = play(stages(), "call Read", "error no such file", "call Bash", "perhaps", "no")
    assert "'perhaps' is not an answer: type yes or no" in lines
    assert "plan asks people whether it may call the tool Bash" in lines
    assert any("no such file" in line for line in lines)
    assert any("GrantDenied" in line for line in lines)


@pytest.mark.parametrize("typed", ["cap", "2", "fail"])
def test_a_stage_fails_when_all_turns_pass(play: Play, typed: str) -> None:
    status, lines = play(stages(), typed)
    assert status == 1
    assert "plan     fail → failed" in lines


def test_deadlines_pass_where_somebody_says_so(play: Play) -> None:
    plan = stages()
    timed = replace(plan.nodes["plan"], act=replace(plan.nodes["plan"].act, deadline=60_000))
    limits = replace(plan.limits, deadline=120_000)
    late = replace(plan, nodes={**plan.nodes, "plan": timed}, limits=limits, facts=None)
    late = replace(late, facts=facts(late))
    status, lines = play(late, "deadline stage", "undo", "deadline run")
    assert status == 1
    assert "plan     fail → failed" in lines
    assert lines[-1] == "failed: plan, attempt 1: the deadline of the run has passed: 2 min, 1 execution"
    _, lines = play(plan, "deadline stage", "deadline run")
    assert [each for each in lines if "no deadline" in each] == ["the stage has no deadline", "the run has no deadline"]


def test_waits_of_a_stage_that_is_tried_again_pass(play: Play) -> None:
    status, lines = play(stages(), "ok", "ok", "cap")
    assert status == 1
    assert "spell    fail → failed" in lines


def test_several_that_are_asked_for_together_are_counted(play: Play) -> None:
    _, lines = play(stages(), "ok")
    assert "  1 more is asked for at the same time" in lines


def test_in_a_branch_the_ways_lead_to_its_end(play: Play) -> None:
    _, lines = play(stages(), "ok")
    assert lines[-4:-1] == [
        "  1 more is asked for at the same time",
        "  1  ok → end of its branch (done)",
        "  2  fail → end of its branch (failed)",
    ]


def test_what_begins_a_branch_takes_edges_on_fail_only(play: Play) -> None:
    plan = stages()
    edges = (
        Edge("ok", Go("spell"), (Exists(("parsed", "x"), present=True),)),
        Edge("ok", Go("plan")),
        Edge("fail", Go("spell")),
    )
    _, lines = play(
        completed(replace(plan, nodes={**plan.nodes, "count": replace(plan.nodes["count"], edges=edges)})), "ok", "1"
    )
    assert lines[lines.index("count lets the model take turn 1; an attempt has 3") + 3 :][:2] == [
        "  1  ok → end of its branch (done)",
        "  2  fail → spell",
    ]
    assert "count    ok → waits for spell" in lines


def test_a_long_prompt_is_cut_short(play: Play) -> None:
    def shown(lines: int) -> list[str]:
        plan = stages()
        text = Contents()
        act = replace(plan.nodes["plan"].act, prompt=(Text(text.add("".join(f"{each}\n" for each in range(lines)))),))
        nodes = {**plan.nodes, "plan": replace(plan.nodes["plan"], act=act)}
        _, told = play(completed(replace(plan, nodes=nodes, contents={**plan.contents, **text.texts})))
        return [line.removeprefix("  | ") for line in told if line.startswith("  | ")]

    assert shown(9) == [str(each) for each in range(9)]
    assert shown(10) == [*(str(each) for each in range(8)), "(2 more lines)"]


def test_lines_keep_their_place_on_a_narrow_terminal(folder: Path, environment: Callable[..., dict[str, str]]) -> None:
    (folder / "p").write_bytes(dump(stages()))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "stagec", "simulate", "p"]
    subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=theirs, env=environment(COLUMNS="40", NO_COLOR="1"), check=True
    )
    os.close(theirs)
    told = os.read(ours, 10_000).decode().splitlines()
    os.close(ours)
    assert told[-3:] == [
        "  answer: JSON submits the result; say",
        "    TEXT; call TOOL {…}; cap uses all",
        "    turns",
    ]


def test_people_are_asked(play: Play) -> None:
    status, lines = play(asking(), "no", options=("--input", "busy=true"))
    assert status == 1
    assert any(line.startswith("plan asks people: ") for line in lines)


def test_a_program_is_not_run(play: Play, folder: Path) -> None:
    status, lines = play(command("touch", "was-here"), "3", "fail", '{"exit": 0}')
    assert status == 0
    assert "work runs touch was-here" in lines
    assert not (folder / "was-here").exists()


def test_a_judge_is_played(play: Play) -> None:
    status, lines = play(judged(), "{}", "no", "{}", "yes")
    assert status == 0
    assert "work asks whether the work is done (poll:state)" in lines


def test_a_callable_is_played(play: Play) -> None:
    _, lines = play(stages(hooks={"gate": "a:b"}), '"proceed"')
    assert "plan calls a:b for gate" in lines
    assert "plan lets the model take turn 1; an attempt has 3" in lines


def test_a_scenario_plays(capfd: Shown) -> None:
    Path("p").write_bytes(dump(steps("touch was-here")))
    Path("s.yaml").write_text(f"{STEPS}commands: {{touch was-here: {{}}}}\n", encoding="utf-8")
    assert run(["simulate", "p", "--scenario", "s.yaml"]) == 0
    assert capfd.readouterr().out == (
        "draft    repeat → draft\n"
        "draft#2  next → close\n"
        "close    closing → done\n"
        "done: completed, 3 executions, 5 events\n"
    )
    assert sorted(each.name for each in Path().iterdir()) == ["p", "s.yaml"]


def test_a_scenario_that_leaves_a_command_open_is_not_enough(capfd: Shown) -> None:
    Path("p").write_bytes(dump(steps("touch was-here")))
    Path("s.yaml").write_text(STEPS, encoding="utf-8")
    assert run(["simulate", "p", "--scenario", "s.yaml"]) == 2
    assert "add 'touch was-here' to 'commands'" in capfd.readouterr().err
    assert not Path("was-here").exists()


def test_waits_do_not_pass_in_a_scenario(capfd: Shown) -> None:
    Path("p").write_bytes(dump(stages()))
    Path("s.yaml").write_text(STAGES.replace("{complete: {words: 2}}", "{say: no}"), encoding="utf-8")
    assert run(["simulate", "p", "--scenario", "s.yaml"]) == 1


def test_what_cannot_begin_is_refused(capfd: Shown) -> None:
    Path("p").write_bytes(dump(steps()))
    assert run(["simulate", "p"]) == 2
    assert (
        capfd.readouterr().err
        == "stagec: error: 'writer' cannot be run: the input 'topic' is missing: --input topic=VALUE gives it\n"
    )


@pytest.mark.parametrize(
    ("typed", "ended"),
    [
        (["pass", "", "pass", "yes", "0", "", "pass", "", '{"exit": 0}', ""], "done"),
        (["timeout", "yes"], "interrupted"),
        (["fail", "no"], "failed"),
        (["pass", "fail", "no"], "failed"),
        (['{"missing": ["table"]}', '{"valid": false}'], "failed"),
    ],
)
def test_stages_end_as_somebody_types(play: Play, typed: list[str], ended: str) -> None:
    status, lines = play(processes(), *typed)
    assert lines[-1].startswith(ended), lines
    assert status == (0 if ended == "done" else 1)


def test_what_is_no_answer_about_a_stage_says_what_would_be_one(play: Play) -> None:
    _, lines = play(processes(), "perhaps", "quit")
    assert any("type pass, fail, timeout, an exit status, or a JSON object" in line for line in lines)
