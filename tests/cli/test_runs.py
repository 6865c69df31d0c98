"""`stagec resume`, `replay`, `cancel` and `runs`: what can be done with runs that are kept."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from playable import STAGES, STEPS, judged, stages, steps

from stagec.cli.app import run, stagec
from stagec.core.canonical import canonical
from stagec.core.words import shorten_digest
from stagec.ir.plan import dump
from stagec.ir.plan.loader import write_frame
from stagec.runtime.drivers.local import Journal, create, journal_file, open_journal
from stagec.runtime.machine import Started, load

Shown = pytest.CaptureFixture[str]
ONE = Path(".stagec/runs/one.run")
JOURNALS = Path(__file__).parents[1] / "drivers" / "local" / "journals"
HALF = "inputs: {topic: winter}\nanswers:\n  draft: {action: next}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the plan of `steps` and two scenarios, of which one leads only half the way."""
    monkeypatch.chdir(tmp_path)
    Path("p").write_bytes(dump(steps()))
    Path("whole.yaml").write_text(STEPS, encoding="utf-8")
    Path("half.yaml").write_text(HALF, encoding="utf-8")
    return tmp_path


@pytest.fixture
def done(capfd: Shown) -> None:
    assert run(["run", "p", "--scenario", "whole.yaml", "--run", "one"]) == 0
    capfd.readouterr()


@pytest.fixture
def half(capfd: Shown) -> None:
    assert run(["run", "p", "--scenario", "half.yaml", "--run", "one"]) == 2
    capfd.readouterr()


@pytest.fixture
def held(half: None) -> Iterator[Journal]:
    """Hold the journal of a run, as who executes it does."""
    journal = open_journal(ONE)
    yield journal
    journal.close()


def said(capfd: Shown, *arguments: str) -> str:
    """Return what is said on standard error of a command that fails without printing anything else."""
    assert run(list(arguments)) == 2
    out, err = capfd.readouterr()
    assert out == ""
    return err


def test_a_run_goes_on_where_it_was_interrupted(half: None, capfd: Shown) -> None:
    assert run(["resume", "one", "--scenario", "whole.yaml"]) == 0
    out, err = capfd.readouterr()
    assert err.startswith("run one of writer, sha256:")
    assert out == "close    closing → done\ndone: completed, 2 executions, 4 events\n"


def test_the_scenario_is_remembered_from_any_folder(
    half: None, capfd: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("half.yaml").write_text(f"{HALF}  close: {{action: closing}}\n", encoding="utf-8")
    monkeypatch.chdir("/")
    assert run(["resume", str(tmp_path / ONE)]) == 0


def test_a_scenario_that_is_gone_is_named(half: None, capfd: Shown) -> None:
    Path("half.yaml").unlink()
    assert said(capfd, "resume", "one").endswith("half.yaml', no longer exists: --scenario gives another\n")


def test_events_are_numbered_through_all_sittings(half: None, capfd: Shown) -> None:
    run(["run", "p", "--scenario", "half.yaml", "--run", "one", "--runs", "x", "--events", "jsonl"])
    first = capfd.readouterr().out
    run(["resume", "one", "--runs", "x", "--scenario", "whole.yaml", "--events", "jsonl"])
    second = capfd.readouterr().out
    numbers = [json.loads(line)["seq"] for line in (first + second).splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_run_that_was_interrupted_tells_what_one_in_a_row_tells(capfd: Shown) -> None:
    run(["run", "p", "--scenario", "half.yaml", "--run", "one", "--events", "jsonl"])
    run(["resume", "one", "--scenario", "whole.yaml", "--events", "jsonl"])
    pieces = capfd.readouterr().out
    Path("all.yaml").write_text(f"{HALF}  close: {{action: closing}}\n", encoding="utf-8")
    run(["run", "p", "--scenario", "all.yaml", "--run", "one", "--runs", "x", "--events", "jsonl"])
    assert capfd.readouterr().out == pieces


def test_a_run_that_has_ended_is_told_again(done: None, capfd: Shown) -> None:
    assert run(["resume", "one"]) == 0
    assert capfd.readouterr().out == "done: completed, 3 executions, 5 events\n"


def test_callables_have_to_be_allowed_again(capfd: Shown) -> None:
    Path("p").write_bytes(dump(stages(hooks={"gate": "own_hooks:gate"})))
    Path("s.yaml").write_text(f"{STAGES}hooks: {{'own_hooks:gate': proceed}}\n", encoding="utf-8")
    Path("t.yaml").write_text("{}", encoding="utf-8")
    assert run(["run", "p", "--scenario", "t.yaml", "--run", "one", "--allow-hooks"]) == 2
    capfd.readouterr()
    assert "--allow-hooks lets them be called" in said(capfd, "resume", "one")
    assert run(["resume", "one", "--scenario", "s.yaml"]) == 0


def test_a_run_that_never_began_says_so(capfd: Shown) -> None:
    data = dump(steps())
    create(ONE, data, load(data).digest).close()
    assert said(capfd, "resume", "one") == (
        "stagec: error: run 'one' has not started: it has no events, 'stagec run' starts it\n"
    )
    assert run(["run", "p", "--scenario", "whole.yaml", "--run", "one"]) == 0


@pytest.mark.parametrize("command", ["resume", "runs replay"])
def test_a_run_that_is_executed_is_left_alone(held: Journal, capfd: Shown, command: str) -> None:
    assert said(capfd, *command.split(), "one") == (
        "stagec: error: run 'one' is being executed by another process; Ctrl-C interrupts it there\n"
    )


def test_a_run_that_is_executed_is_shown_as_far_as_it_is(held: Journal, capfd: Shown) -> None:
    assert run(["runs", "show", "one"]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "running, 2 executions, 2 events"
    assert run(["runs", "export", "one"]) == 0
    exported = json.loads(capfd.readouterr().out)
    assert (exported["status"], exported["outcome"], len(exported["events"])) == ("running", None, 2)
    assert run(["runs", "list", "--format", "json"]) == 0
    (listed,) = json.loads(capfd.readouterr().out)["runs"]
    assert (listed["status"], listed["executions"], listed["events"]) == ("running", 2, 2)


def test_runs_that_are_executed_are_listed_without_waiting_for_their_locks(
    held: Journal, capfd: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_seconds: float) -> None:
        raise AssertionError

    monkeypatch.setattr(journal_file.time, "sleep", fail)
    assert run(["runs", "list"]) == 0
    assert capfd.readouterr().out.split()[3:4] == ["running"]


@pytest.mark.parametrize("command", ["resume", "runs replay", "runs cancel", "runs show", "runs export"])
@pytest.mark.parametrize("name", ["oen", "../one", "one.run", "", "/", "\x1b[2J"])
def test_a_run_that_is_not_there_is_told(done: None, capfd: Shown, command: str, name: str) -> None:
    told = said(capfd, *command.split(), "--", name)
    assert told.startswith("stagec: error: no run is called ")
    assert "\x1b" not in told


def test_the_nearest_name_is_told(done: None, capfd: Shown) -> None:
    assert said(capfd, "runs", "replay", "One1") == (
        "stagec: error: no run is called 'One1' in '.stagec/runs'; did you mean 'one'?\n"
    )


@pytest.mark.parametrize("command", ["resume", "runs replay", "runs cancel", "runs show", "runs export"])
def test_a_damaged_journal_is_told(done: None, capfd: Shown, command: str) -> None:
    ONE.write_bytes(ONE.read_bytes()[:5000])
    told = said(capfd, *command.split(), "one")
    assert told.startswith("stagec: error: run 'one' cannot be used: its journal is damaged")


def test_a_run_is_found_by_the_path_of_its_file(done: None, capfd: Shown) -> None:
    assert run(["runs", "replay", str(ONE)]) == 0


def test_a_replay_is_equal(done: None, capfd: Shown) -> None:
    assert run(["runs", "replay", "one"]) == 0
    assert capfd.readouterr().out == "equal: 5 events, 3 executions, done: completed\n"


def test_a_replay_of_half_a_run_is_equal(half: None, capfd: Shown) -> None:
    assert run(["runs", "replay", "one"]) == 0
    assert capfd.readouterr().out == "equal: 2 events, 2 executions, not ended\n"


def test_a_replay_that_differs_names_the_event(capfd: Shown) -> None:
    data = dump(steps())
    journal = create(ONE, data, load(data).digest)
    journal.append(Started("one", None, {"topic": "x"}))
    journal.take_digest("0" * 32)
    journal.seal()
    journal.close()
    assert run(["runs", "replay", "one"]) == 1
    assert capfd.readouterr().out == (
        "different: event 0, start: its requests or trace events differ from the journal\n"
    )


def test_a_run_that_differs_is_not_gone_on_with(capfd: Shown) -> None:
    data = dump(steps())
    journal = create(ONE, data, load(data).digest)
    journal.append(Started("one", None, {"topic": "x"}))
    journal.take_digest("0" * 32)
    journal.seal()
    journal.close()
    assert "event 0 now has another result than recorded" in said(capfd, "resume", "one", "--scenario", "whole.yaml")


def test_a_run_is_cancelled_for_good(half: None, capfd: Shown) -> None:
    assert run(["runs", "cancel", "one"]) == 0
    assert capfd.readouterr().out == "close    cancelled\nfailed: close, attempt 1: cancelled, 2 executions, 3 events\n"
    assert run(["resume", "one"]) == 1
    capfd.readouterr()
    assert (
        said(capfd, "runs", "cancel", "one")
        == "stagec: error: run 'one' has ended as failed: there is nothing to cancel\n"
    )


def test_runs_are_listed_with_how_they_stand(done: None, capfd: Shown) -> None:
    Path("judged").write_bytes(dump(judged()))
    run(["run", "p", "--scenario", "half.yaml", "--run", "two"])
    run(["run", "judged", "--run", "three"])
    run(["run", "p", "--scenario", "half.yaml", "--run", "four"])
    run(["runs", "cancel", "four"])
    Path(".stagec/runs/five.run").write_text("no journal", encoding="utf-8")
    data = dump(steps())
    create(Path(".stagec/runs/six.run"), data, load(data).digest).close()
    Path(".stagec/runs/notes.txt").touch()
    capfd.readouterr()
    held = open_journal(Path(".stagec/runs/three.run"))
    try:
        assert run(["runs", "list"]) == 0
    finally:
        held.close()
    name = load(dump(steps())).digest[:19]
    unanswered = "'half.yaml' has no answer to the request 'two/close#1/1.0': add 'close' to 'answers'"
    assert [re.split(r" {2,}", line) for line in capfd.readouterr().out.splitlines()] == [
        ["five", "damaged", "its journal is damaged: it does not have the header of a journal"],
        ["four", "writer", name, "failed", "2 executions", "3 events", "close, attempt 1: cancelled"],
        ["one", "writer", name, "done", "3 executions", "5 events", "completed"],
        ["six", "writer", name, "not begun", "0 executions", "0 events"],
        ["three", "judged", shorten_digest(load(dump(judged())).digest), "running", "1 execution", "1 event"],
        ["two", "writer", name, "interrupted", "2 executions", "2 events", unanswered],
    ]


def test_runs_are_listed_for_programs(done: None, capfd: Shown) -> None:
    Path(".stagec/runs/bad.run").write_text("no journal", encoding="utf-8")
    assert run(["runs", "list", "--format", "json"]) == 0
    first, second = json.loads(capfd.readouterr().out)["runs"]
    assert (first["run"], first["status"], first["plan"], first["events"]) == ("bad", "damaged", None, None)
    assert second == {
        "run": "one",
        "plan": "writer",
        "digest": load(dump(steps())).digest,
        "status": "done",
        "reason": "completed",
        "executions": 3,
        "events": 5,
        "retryAt": None,
        "usage": None,
    }


@pytest.mark.parametrize("command", ["resume", "runs replay", "runs cancel", "runs show", "runs export"])
def test_shells_complete_the_names_of_runs(done: None, command: str) -> None:
    def completed(*words: str) -> list[str]:
        shell = ShellComplete(stagec, {}, "stagec", "_STAGEC_COMPLETE")
        return [each.value for each in shell.get_completions([*command.split(), *words], "o")]

    assert completed() == ["one"]
    assert completed("--runs", "elsewhere") == []
    assert completed("--runs", "p") == []


def test_a_file_is_no_folder_of_runs(capfd: Shown) -> None:
    assert said(capfd, "runs", "list", "--runs", "p") == "stagec: error: cannot read 'p': Not a directory\n"


def test_how_far_a_run_has_come_that_has_not_ended_is_told(half: None, capfd: Shown) -> None:
    assert run(["runs", "show", "one"]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "not ended, 2 executions, 2 events"


def test_a_folder_without_runs_is_told(capfd: Shown) -> None:
    assert run(["runs", "list"]) == 0
    assert capfd.readouterr().out == "0 runs in .stagec/runs\n"


def test_a_journal_of_a_plan_that_nobody_knows_is_unusable(capfd: Shown) -> None:
    data = write_frame(canonical({"is": "stagec.plan/9"}))
    journal = create(ONE, data, json.loads(data)["digest"])
    journal.append(Started("one"))
    journal.close()
    assert run(["runs", "list"]) == 0
    assert "unusable" in capfd.readouterr().out
    assert "its format is 'stagec.plan/9'" in said(capfd, "runs", "show", "one")


def test_the_history_of_a_run_is_a_table(capfd: Shown) -> None:
    Path("p").write_bytes(dump(stages()))
    Path("s.yaml").write_text(STAGES, encoding="utf-8")
    run(["run", "p", "--scenario", "s.yaml", "--run", "one"])
    capfd.readouterr()
    assert run(["runs", "show", "one"]) == 0
    shown = capfd.readouterr().out
    title, *times = re.findall(r"\d\d:\d\d:\d\d", shown)
    assert (len(times), title) == (6, times[0])
    assert re.sub(
        r"  \d\d:\d\d:\d\d(?=  )|, began \d{4}-\d\d-\d\d [\d:]{8} UTC, last event after 0.\d s", "", shown
    ) == (
        f"one: reader, {load(dump(stages())).digest[:19]}\n"
        "  0         started\n"
        "  1  plan   turn       Read\n"
        "  2  plan   call Read  one two three\n"
        '  3  plan   turn       submit {"words":3}  ok → count, spell\n'
        '  4  count  turn       submit {"words":1}  ok → waits for spell\n'
        '  5  spell  turn       submit {"words":2}  ok → done\n'
        "done: completed, 3 executions, 6 events\n"
    )


def test_commands_and_judges_are_in_the_table(capfd: Shown) -> None:
    Path("p").write_bytes(dump(steps("echo checked; exit 1")))
    run(["run", "p", "--scenario", "whole.yaml", "--run", "one"])
    Path("p").write_bytes(dump(judged()))
    Path("j.yaml").write_text("answers: {work: {said: something}}\njudge: true\n", encoding="utf-8")
    run(["run", "p", "--scenario", "j.yaml", "--run", "two"])
    capfd.readouterr()
    run(["runs", "show", "one"])
    run(["runs", "show", "two"])
    told = re.sub(r"  \d\d:\d\d:\d\d(?=  )", "", capfd.readouterr().out)
    lines = [re.split(r" {2,}", line.strip()) for line in told.splitlines()]
    assert ["4", "close", "run echo checked; exit 1", "exit 1", "closing refused: unfinished → draft"] in lines
    assert ["1", "work", "ask", '{"said":"something"}'] in lines
    assert ["2", "work", "judge", "yes", "verdict → done"] in lines


def test_a_run_is_exported_as_json(done: None, capfd: Shown) -> None:
    assert run(["runs", "export", "one"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert {name: told[name] for name in ("run", "plan", "digest", "outcome", "reason")} == {
        "run": "one",
        "plan": "writer",
        "digest": load(dump(steps())).digest,
        "outcome": "done",
        "reason": "completed",
    }
    assert told["events"][:2] == [
        {"seq": 0, "is": "started", "run": "one", "entry": None, "inputs": {"topic": "winter"}, "machine": 4},
        {"seq": 1, "is": "answered", "key": "one/draft#1/1.0", "answer": {"answer": {"action": "repeat"}}},
    ]


def test_a_run_is_shown_as_json_with_the_times_of_its_events(done: None, capfd: Shown) -> None:
    assert run(["runs", "show", "one", "--format", "json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    started, answered, *_ = shown["events"]
    assert started.pop("begun") is None
    times = [
        datetime.fromisoformat(each.pop(name))
        for each, name in ((answered, "begun"), (answered, "at"), (started, "at"))
    ]
    assert times[2] <= times[0] <= times[1] <= datetime.now(UTC)
    run(["runs", "export", "one"])
    exported = json.loads(capfd.readouterr().out)
    assert [started, answered] == exported["events"][:2]
    assert {**shown, "events": []} == {**exported, "events": []}


def test_what_is_exported_depends_on_the_run_alone(done: None, capfd: Shown, tmp_path: Path) -> None:
    run(["runs", "export", "one"])
    once = capfd.readouterr().out
    run(["run", "p", "--scenario", "whole.yaml", "--run", "one", "--runs", str(tmp_path / "elsewhere")])
    capfd.readouterr()
    run(["runs", "export", "one", "--runs", str(tmp_path / "elsewhere")])
    assert capfd.readouterr().out == once


@pytest.fixture
def frozen(folder: Path) -> Iterator[None]:
    """Take from the folder of runs, and from its files, every right to write."""
    runs = folder / ".stagec" / "runs"
    for each in (*runs.iterdir(), runs):
        each.chmod(0o555 if each.is_dir() else 0o444)
    yield
    runs.chmod(0o755)


@pytest.mark.parametrize("command", ["runs list", "runs show one", "runs export one", "runs replay one"])
def test_runs_are_looked_at_where_nothing_can_be_written(done: None, frozen: None, command: str) -> None:
    before = ONE.stat()
    assert run(command.split()) == 0
    assert (ONE.stat().st_mtime_ns, len(list(ONE.parent.iterdir()))) == (before.st_mtime_ns, 1)


@pytest.mark.parametrize("version", [1, 2])
def test_runs_of_older_versions_are_shown_and_resumed(capfd: Shown, version: int) -> None:
    ONE.parent.mkdir(parents=True)
    for each in JOURNALS.glob(f"killed-{version}.run*"):
        shutil.copyfile(each, ONE.with_name(each.name))
    name = f"killed-{version}"
    assert [run(command.split()) for command in ("runs list", f"runs show {name}", f"runs export {name}")] == [0, 0, 0]
    assert run(["runs", "replay", name]) == 0
    assert run(["resume", name, "--scenario", "whole.yaml"]) == 0
    assert capfd.readouterr().out.endswith("done: completed, 3 executions, 5 events\n")
    assert sorted(each.name for each in ONE.parent.iterdir()) == [
        *(f"{name}.run{suffix}" for suffix in ("", "-wal", ".old", ".old-wal")),
    ]


def test_a_failed_run_names_its_node_its_attempt_and_the_reason_wherever_it_is_shown(capfd: Shown) -> None:
    bad = re.sub(r"draft: .*", "draft: {attempts: [{action: no}, 7]}", STEPS)
    Path("s.yaml").write_text(bad, encoding="utf-8")
    assert run(["run", "p", "--scenario", "s.yaml", "--run", "bad"]) == 1
    reason = "draft, attempt 2: no usable answer: the answer is no object"
    assert capfd.readouterr().out.splitlines()[-1] == f"failed: {reason}, 1 execution, 3 events"
    run(["runs", "show", "bad"])
    assert capfd.readouterr().out.splitlines()[-1] == f"failed: {reason}, 1 execution, 3 events"
    run(["runs", "replay", "bad"])
    assert capfd.readouterr().out == f"equal: 3 events, 1 execution, failed: {reason}\n"
    run(["runs", "export", "bad"])
    told = json.loads(capfd.readouterr().out)
    assert (told["outcome"], told["reason"]) == ("failed", reason)
    assert told["failure"] == {
        "kind": "invalid-answer",
        "node": "draft",
        "visit": 1,
        "attempt": 2,
        "detail": "the answer is no object",
    }
