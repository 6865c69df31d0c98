"""`stagec run`: a plan is run, a journal of it is kept, and whatever cannot be is refused before anything is done."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playable import HOOKS, STAGES, STEPS, asking, command, judged, stages, steps

from stagec.cli.app import run
from stagec.core.canonical import canonical
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.loader import write_frame
from stagec.runtime.drivers.local import read_journal
from stagec.runtime.machine import Answered, Started

Shown = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the plan of `steps` and a scenario for it."""
    monkeypatch.chdir(tmp_path)
    write("writer.plan.json", steps())
    Path("s.yaml").write_text(STEPS, encoding="utf-8")
    return tmp_path


def write(name: str, plan: Plan) -> None:
    Path(name).write_bytes(dump(plan))


def scenario(text: str) -> None:
    Path("s.yaml").write_text(text, encoding="utf-8")


def history(name: str) -> Any:
    return read_journal(Path(f".stagec/runs/{name}.run"))


def refused(capfd: Shown, *arguments: str) -> str:
    """Return what is said of a run that is refused; nothing of it may be kept."""
    assert run(["run", *arguments]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert not Path(".stagec").exists()
    return shown.err


def test_each_execution_has_a_line_and_the_end_says_how(capfd: Shown) -> None:
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", "one"]) == 0
    out, err = capfd.readouterr()
    assert err.startswith("run one of writer, sha256:")
    assert out == (
        "draft    repeat → draft\n"
        "draft#2  next → close\n"
        "close    closing → done\n"
        "done: completed, 3 executions, 5 events\n"
    )


def test_what_has_happened_is_in_the_journal() -> None:
    run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", "one"])
    kept = history("one")
    assert kept.plan == Path("writer.plan.json").read_bytes()
    assert kept.facts == {"scenario": str(Path("s.yaml").absolute())}
    assert kept.events[:2] == (
        Started("one", None, {"topic": "winter"}),
        Answered("one/draft#1/1.0", {"answer": {"action": "repeat"}}),
    )


def test_stages_that_run_together_wait_for_each_other(capfd: Shown) -> None:
    write("p", stages())
    scenario(STAGES)
    assert run(["run", "p", "--scenario", "s.yaml"]) == 0
    assert capfd.readouterr().out == (
        "plan     ok → count, spell\n"
        "count    ok → waits for spell\n"
        "spell    ok → done\n"
        "done: completed, 3 executions, 6 events\n"
    )


def test_a_stage_that_fails_takes_the_others_with_it(capfd: Shown) -> None:
    write("p", stages())
    scenario(re.sub(r"\[\{complete: \{words: [12]\}\}\]", "[{say: no}]", STAGES))
    assert run(["run", "p", "--scenario", "s.yaml"]) == 1
    last = "failed: count, attempt 1: turn cap reached: 3 turns, "
    assert f"count    fail → failed\nspell    cancelled\n{last}" in capfd.readouterr().out


def test_a_run_that_fails_ends_with_1(capfd: Shown) -> None:
    write("p", steps(limit=1))
    assert run(["run", "p", "--scenario", "s.yaml"]) == 1
    last = "failed: draft#2, attempt 1: bound reached: the limit is 1, 1 execution, 2 events"
    assert capfd.readouterr().out == f"draft    repeat → failed\n{last}\n"


def test_a_failed_check_of_the_work_is_shown_with_where_it_leads(capfd: Shown) -> None:
    write("p", steps("exit 1"))
    scenario(f"{STEPS}commands: {{exit 1: [{{exit: 1}}, {{}}]}}\n")
    assert run(["run", "p", "--scenario", "s.yaml"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[2:] == [
        "close    closing refused: unfinished → draft",
        "draft#3  next → close",
        "close#2  closing → done",
        "done: completed, 5 executions, 8 events",
    ]


def test_commands_are_really_run_in_this_folder() -> None:
    write("p", steps("touch was-here"))
    assert run(["run", "p", "--scenario", "s.yaml"]) == 0
    assert Path("was-here").exists()


def test_a_plan_that_needs_no_answers_needs_no_scenario(capfd: Shown) -> None:
    write("p", command("sh", "-c", "test -e b || { test -e a && touch b; touch a; false; }"))
    assert run(["run", "p"]) == 0
    out = capfd.readouterr().out
    assert out.splitlines()[0] == "work    exit 1 → work"
    assert out.endswith("work#3  exit 0 → done\ndone: completed, 3 executions, 4 events\n")


def test_a_program_that_takes_too_long_is_killed(capfd: Shown) -> None:
    write("p", command("sleep", "600", milliseconds=100))
    assert run(["run", "p"]) == 1
    assert capfd.readouterr().out.startswith("work    killed → work\n")


def test_events_are_lines_of_json_and_nothing_else(capfd: Shown) -> None:
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", "one", "--events", "jsonl"]) == 0
    out, err = capfd.readouterr()
    told = [json.loads(line) for line in out.splitlines()]
    assert err == ""
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    assert told[-1] == {
        "seq": len(told),
        "event": "WorkflowExit",
        **{name: told[-1][name] for name in told[-1] if name not in {"seq", "event"}},
    }
    assert (told[-1]["status"], told[-1]["reason"]) == ("done", "completed")
    assert out.isascii()


def test_the_same_run_tells_the_same_events(capfd: Shown) -> None:
    texts = []
    for number in (1, 2):
        options = ("--run", "one", "--runs", str(number), "--events", "jsonl")
        run(["run", "writer.plan.json", "--scenario", "s.yaml", *options])
        texts.append(capfd.readouterr().out)
    assert texts[0] == texts[1] != ""


def test_the_judge_of_the_scenario_ends_the_run(capfd: Shown) -> None:
    write("p", judged())
    scenario("answers: {work: {}}\njudge: [false, true]\n")
    assert run(["run", "p", "--scenario", "s.yaml"]) == 0
    assert capfd.readouterr().out.endswith("done: completed, 2 executions, 5 events\n")


def test_people_are_asked_and_waits_are_skipped(capfd: Shown) -> None:
    write("p", asking())
    scenario(f"{STAGES}inputs: {{busy: true}}\nconfirm: true\nwaits: skip\n")
    assert run(["run", "p", "--scenario", "s.yaml"]) == 0


INPUTS: dict[str, tuple[list[str], object]] = {
    "a text": (["topic=summer"], "summer"),
    "a text that looks like a number": (["topic=12"], "12"),
    "an empty text": (["topic="], ""),
    "with an equals sign": (["topic=a=b"], "a=b"),
    "the last one": (["topic=a", "topic=b"], "b"),
    "of a file": (["@inputs.json"], 7),
    "of a file, then given": (["@inputs.json", "topic=b"], "b"),
}


@pytest.mark.parametrize(("given", "expected"), INPUTS.values(), ids=INPUTS)
def test_inputs_are_given_on_the_command_line(given: list[str], expected: object) -> None:
    Path("inputs.json").write_text('{"topic": 7}', encoding="utf-8")
    options = [part for each in given for part in ("--input", each)]
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", "one", *options]) == 0
    assert history("one").events[0].inputs == {"topic": expected}


def test_an_input_that_may_be_no_text_is_read_as_json() -> None:
    write("p", stages())
    scenario(STAGES)
    assert run(["run", "p", "--scenario", "s.yaml", "--run", "one", "--input", "busy=true"]) == 0
    assert history("one").events[0].inputs == {"busy": True}


def test_the_entry_is_given_on_the_command_line_or_by_the_scenario(capfd: Shown) -> None:
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--entry", "late"]) == 0
    scenario(f"{STEPS}entry: late\n")
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml"]) == 0
    assert capfd.readouterr().out == "close    closing → done\ndone: completed, 1 execution, 3 events\n" * 2


def test_the_plan_may_come_through_standard_input(folder: Path, capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    with open("writer.plan.json", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert run(["run", "-", "--scenario", "s.yaml"]) == 0


def test_a_scenario_whose_name_is_no_text_is_not_remembered() -> None:
    Path("s.yaml").rename("s\udcff.yaml")
    assert run(["run", "writer.plan.json", "--scenario", "s\udcff.yaml", "--run", "one"]) == 0
    assert history("one").facts == {}


def test_a_scenario_may_be_json(capfd: Shown) -> None:
    Path("s.json").write_text('{"inputs": {"topic": "x"}, "answers": {"draft": {"action": "next"}}}', encoding="utf-8")
    assert run(["run", "writer.plan.json", "--scenario", "s.json", "--run", "one"]) == 2
    assert "'s.json' has no answer to the request 'one/close#1/1.0': add 'close' to 'answers'" in capfd.readouterr().err


REFUSED: dict[str, tuple[list[str], str]] = {
    "no plan": (["none"], "'none' does not exist"),
    "no plan at all": (["s.yaml"], "'s.yaml' is refused: it does not have the frame of a plan"),
    "no scenario": (["writer.plan.json", "--scenario", "none"], "'none' does not exist"),
    "no input": (
        ["writer.plan.json"],
        "'writer' cannot be run: the input 'topic' is missing: --input topic=VALUE gives it\n",
    ),
    "another input": (
        ["writer.plan.json", "--scenario", "s.yaml", "--input", "topik=x"],
        "'writer' cannot be run: there is no input 'topik'; did you mean 'topic'?\n",
    ),
    "a wrong input": (
        ["writer.plan.json", "--input", "@wrong.json"],
        "'writer' cannot be run: the input 'topic' cannot be used",
    ),
    "no value": (["writer.plan.json", "--input", "topic"], "'topic' is not an input: write NAME=VALUE or @FILE"),
    "no file": (["writer.plan.json", "--input", "@none"], "'none' does not exist"),
    "no object": (["writer.plan.json", "--input", "@list.json"], "'list.json' holds no inputs: expected an object"),
    "no json": (["writer.plan.json", "--input", "@s.yaml"], "'s.yaml' cannot be read: it is not JSON"),
    "no entry": (
        ["writer.plan.json", "--scenario", "s.yaml", "--entry", "x"],
        "'writer' cannot be run: there is no entry 'x'; --entry names ",
    ),
    "a folder": (["writer.plan.json", "--scenario", "."], "'.' is a folder, and a file is expected"),
    "half a character": (
        ["writer.plan.json", "--scenario", "s.yaml", "--input", "topic=\udcff"],
        "'writer' cannot be run: its inputs cannot be read",
    ),
    "runs in a file": (
        ["writer.plan.json", "--scenario", "s.yaml", "--run", "one", "--runs", "s.yaml/x"],
        "run 'one' cannot be used: cannot make 's.yaml/x'",
    ),
}


@pytest.mark.parametrize(("arguments", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_run_is_refused(capfd: Shown, arguments: list[str], told: str) -> None:
    Path("wrong.json").write_text('{"topic": [1]}', encoding="utf-8")
    Path("list.json").write_text("[]", encoding="utf-8")
    assert refused(capfd, *arguments).startswith(f"stagec: error: {told}")


def test_a_plan_that_was_altered_is_refused(capfd: Shown) -> None:
    Path("p").write_bytes(dump(steps()).replace(b"Draft", b"Raft!"))
    assert refused(capfd, "p").startswith("stagec: error: 'p' is refused: it was changed: ")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/x", "-x", "a b", "a\nb", "ä", "a" * 101, "a\0"])
def test_a_name_that_no_file_should_have_is_refused(capfd: Shown, name: str) -> None:
    told = refused(capfd, "writer.plan.json", "--scenario", "s.yaml", f"--run={name}")
    assert " cannot name a run: letters, digits, '.', '_' and '-', 100 at most" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("name", ["a", "A.b_c-1", "0", "a" * 100, "con.x"])
def test_a_name_that_a_file_may_have_is_taken(name: str) -> None:
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", name]) == 0
    assert history(name).events[0].run == name


def test_a_run_of_this_name_is_not_touched(capfd: Shown) -> None:
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", "one"]) == 0
    before = Path(".stagec/runs/one.run").read_bytes()
    capfd.readouterr()
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", "one"]) == 2
    assert capfd.readouterr().err == (
        "stagec: error: there is a run 'one' already: 'stagec resume' resumes it, --run gives a new run another name\n"
    )
    assert Path(".stagec/runs/one.run").read_bytes() == before


@pytest.mark.parametrize("plan", ["../../etc", "審査", "a b\x1b[2J", "", "." * 200, "x" * 500])
def test_a_run_gets_a_name_that_a_file_may_have(plan: str) -> None:
    write("p", replace(steps(), id=plan))
    assert run(["run", "p", "--scenario", "s.yaml"]) == 0
    (made,) = Path(".stagec/runs").iterdir()
    assert made.suffix == ".run"
    assert made.name.removesuffix(".run").replace("-", "").replace(".", "").replace("_", "").isalnum()
    assert len(made.name) < 120


def test_what_is_wrong_with_a_scenario_is_shown_where_it_stands(capfd: Shown) -> None:
    scenario("answer: {}\nanswers: [1]\n")
    told = refused(capfd, "writer.plan.json", "--scenario", "s.yaml")
    assert "error[STG125] unknown-key: unknown key 'answer'; did you mean 'answers'?\n --> s.yaml:1:1\n" in told
    assert "wrong-type: 'answers' must be an object, found an array\n --> s.yaml:2:10\n" in told
    assert told.endswith("stagec: error: 's.yaml' is not a valid scenario: 2 mistakes\n")


def test_a_scenario_that_is_no_yaml_is_shown(capfd: Shown) -> None:
    scenario("answers: {\n")
    assert "error[STG107] invalid-yaml: " in refused(capfd, "writer.plan.json", "--scenario", "s.yaml")


@pytest.mark.parametrize("text", ["", "- a\n", "text\n"])
def test_a_scenario_is_an_object(capfd: Shown, text: str) -> None:
    scenario(text)
    told = refused(capfd, "writer.plan.json", "--scenario", "s.yaml")
    assert told.splitlines()[-1].startswith("stagec: error: 's.yaml' is not a ")


def test_a_scenario_for_another_plan_is_refused(capfd: Shown) -> None:
    scenario("inputs: {topic: x}\nanswers:\n  drfat: {}\nconversations: {close: [{say: x}]}\n")
    assert refused(capfd, "writer.plan.json", "--scenario", "s.yaml") == (
        "stagec: error: s.yaml:3:3: there is no step 'drfat'; did you mean 'draft'?\n"
        "stagec: error: s.yaml:4:17: step 'close' has no use for 'conversations': it belongs under 'answers'\n"
        "stagec: error: 's.yaml' is not a scenario for the plan 'writer'\n"
    )


def test_a_request_without_an_answer_stops_the_run_and_keeps_it(capfd: Shown) -> None:
    scenario("inputs: {topic: x}\nanswers:\n  draft: {action: next}\n")
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", "one"]) == 2
    out, err = capfd.readouterr()
    assert out == "draft    next → close\n"
    assert err.splitlines()[1:] == [
        "stagec: error: 's.yaml' has no answer to the request 'one/close#1/1.0': add 'close' to 'answers'",
        "stagec: error: the run is kept; to resume it: stagec resume one",
    ]
    assert len(history("one").events) == 2


def test_the_command_that_goes_on_names_the_folder_of_the_runs(capfd: Shown) -> None:
    scenario("inputs: {topic: x}\n")
    assert run(["run", "writer.plan.json", "--scenario", "s.yaml", "--run", "one", "--runs", "my runs"]) == 2
    assert capfd.readouterr().err.endswith("stagec resume one --runs 'my runs'\n")


@pytest.fixture
def fresh_hooks() -> Iterator[None]:
    """Forget the module of the hooks, before and after: another test has other hooks, or none."""
    sys.modules.pop("own_hooks", None)
    yield
    sys.modules.pop("own_hooks", None)


def hooked() -> None:
    write("p", stages(hooks={"gate": "own_hooks:gate"}))
    Path("own_hooks.py").write_text(HOOKS, encoding="utf-8")


def test_a_plan_with_callables_is_refused(capfd: Shown) -> None:
    hooked()
    assert refused(capfd, "p") == (
        "stagec: error: the plan names Python callables, 'own_hooks:gate': "
        "--allow-hooks lets them be called, a scenario can answer for them under 'hooks'\n"
    )


@pytest.mark.usefixtures("fresh_hooks")
def test_callables_are_called_when_they_may() -> None:
    hooked()
    scenario(STAGES)
    assert run(["run", "p", "--scenario", "s.yaml", "--allow-hooks", "--run", "one"]) == 0
    assert history("one").events[1] == Answered("one/plan#1/1.0", {"value": "proceed"})


def test_a_scenario_answers_for_callables() -> None:
    write("p", stages(hooks={"gate": "own_hooks:gate"}))
    scenario(f"{STAGES}hooks: {{'own_hooks:gate': proceed}}\n")
    assert run(["run", "p", "--scenario", "s.yaml"]) == 0


@pytest.mark.usefixtures("fresh_hooks")
def test_a_callable_that_fails_is_told_and_fails_the_stage(capfd: Shown) -> None:
    hooked()
    Path("own_hooks.py").write_text("def gate(given):\n    raise ValueError(given['ctx']['workflowRunId'])\n")
    scenario(STAGES)
    assert run(["run", "p", "--scenario", "s.yaml", "--allow-hooks", "--run", "one"]) == 1
    assert "stagec: note: the hook 'own_hooks:gate' failed: ValueError: one\n" in capfd.readouterr().err
    assert history("one").events[1] == Answered("one/plan#1/1.0", {"error": "ValueError: one"})


def test_nothing_of_a_plan_commands_the_terminal(capfd: Shown) -> None:
    name = "dra\x1b[2J\nft"
    payload = json.dumps(json.loads(dump(steps()))["plan"]).replace('"draft"', json.dumps(name))
    Path("p").write_bytes(write_frame(canonical({**json.loads(payload), "id": "wri\x1bter"})))
    scenario(json.dumps({"inputs": {"topic": "x"}, "answers": {name: {"action": "next"}}}))
    assert run(["run", "p", "--scenario", "s.yaml"]) == 2
    shown = capfd.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert r"dra\x1b[2J\nft    next → close" in shown.out


def test_a_scenario_that_is_a_pipe_is_refused_and_not_waited_for(capfd: Shown) -> None:
    os.mkfifo("pipe.yaml")
    write("p", steps())
    why = refused(capfd, "p", "--scenario", "pipe.yaml")
    assert "'pipe.yaml' is not a scenario: it is not a regular file" in why


def test_a_clock_that_no_counter_can_hold_is_no_error(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    """Python itself cannot read a clock after the year 2262: then nobody knows the times of events."""

    def refuse() -> int:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr("stagec.core.clock.time.time_ns", refuse)
    write("p", steps())
    assert run(["run", "p", "--scenario", "s.yaml"]) == 0
    (name,) = (each.stem for each in Path(".stagec/runs").glob("*.run"))
    assert name.startswith("writer-1970")
    capfd.readouterr()
    assert run(["runs", "show", name]) == 0
    assert re.search(r"^  0 +started$", capfd.readouterr().out, re.MULTILINE)
