"""Runs of stage plans as people start, interrupt, resume, cancel and look at them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]
Environment = Callable[..., dict[str, str]]
HEAD = "import json, os, sys, time; from pathlib import Path; outputs = json.loads(os.environ['STAGEC_OUTPUTS'])\n"
WRITES = "Path(outputs['data']).write_text(os.environ['STAGEC_STAGE_ID'])\n"
WAITS = f"Path('begun').touch()\nwhile not Path('go').exists(): time.sleep(0.01)\n{WRITES}"
LOAD, TRAIN, TEST, TELL = "S01_load_data", "S02_train_model", "S03_evaluate_model", "S04_notify_team"


def stage(name: str, program: str | None, needs: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    words = {} if program is None else {"run": [sys.executable, "-c", HEAD + program]}
    inputs = {each.lower(): f"{each}/data.txt" for each in needs}
    told = {"stageId": name, "goal": f"Do the work of {name}", "inputs": inputs, "outputs": {"data": "data.txt"}}
    return {**told, "maxDurationSec": 60, "dependencies": list(needs), **words, **more}


def programs(**given: str | None) -> list[dict[str, Any]]:
    """Return a plan of four stages, of which some run other programs than one that writes its output."""
    of = {"load": WRITES, "train": WRITES, "test": WRITES, "tell": WRITES, **given}
    return [
        stage(LOAD, of["load"]),
        stage(TRAIN, of["train"], (LOAD,)),
        stage(TEST, of["test"], (TRAIN,), checkpointAfter=False),
        stage(TELL, of["tell"], (TEST,), retryable=False),
    ]


@pytest.fixture
def compiled(tmp_path: Path, run: Run) -> Callable[..., Path]:
    """Write a plan of stages, and compile it."""

    def write(**given: str | None) -> Path:
        document = {"reportTitle": "wine", "stages": programs(**given)}
        (tmp_path / "plan.json").write_text(json.dumps(document), encoding="utf-8")
        ended = run("compile", "plan.json", "-o", "wine.plan.json")
        assert ended.returncode == 0, ended.stderr.decode()
        return tmp_path / "reports" / "wine" / "one"

    return write


@contextmanager
def begun(folder: Path, environment: Environment, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command, and wait until a stage that waits has begun."""
    process = subprocess.Popen(
        [sys.executable, "-m", "stagec", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        while not (folder / "begun").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


def words(ended: Ended | bytes) -> list[tuple[str, ...]]:
    """Return the lines of an output as words, without seconds."""
    lines = (ended if isinstance(ended, bytes) else ended.stdout).decode().splitlines()
    return [
        tuple(word for word in line.replace(",", "").split() if not word[0].isdigit() and word != "s") for line in lines
    ]


def statuses(run: Run, name: str = "one") -> Mapping[str, str]:
    told = json.loads(run("runs", "export", name).stdout)
    return {each["stage"]: each["status"] for each in told["stages"]}


def test_a_run_publishes_what_its_stages_leave_with_a_checkpoint_for_each(compiled: Any, run: Run) -> None:
    folder = compiled()
    ended = run("run", "wine.plan.json", "--run", "one")
    assert (ended.returncode, words(ended)) == (
        0,
        [
            (LOAD, "completed", f"ckpt-{LOAD}"),
            (TRAIN, "completed", f"ckpt-{TRAIN}"),
            (TEST, "completed"),
            (TELL, "completed", f"ckpt-{TELL}"),
            ("done:", "completed", "executions", "events"),
        ],
    )
    assert {each: (folder / each / "data.txt").read_text() for each in (LOAD, TEST)} == {LOAD: LOAD, TEST: TEST}
    assert sorted(each.name for each in (folder / "checkpoints").iterdir()) == [
        f"ckpt-{each}.json" for each in (LOAD, TRAIN, TELL)
    ]
    assert run("runs", "replay", "one").stdout.startswith(b"equal: 9 events")
    shown = words(run("runs", "show", "one"))
    assert shown[1] == (LOAD, "COMPLETED", "attempt", f"ckpt-{LOAD}")
    assert (LOAD, "execute", "success") in [line[:3] for line in shown]


def test_events_are_for_programs_and_a_run_has_a_name_of_the_protocol(compiled: Any, run: Run, tmp_path: Path) -> None:
    compiled()
    ended = run("run", "wine.plan.json", "--events", "jsonl")
    assert ended.returncode == 0
    assert all(json.loads(line)["seq"] for line in ended.stdout.splitlines())
    (name,) = (each.stem for each in (tmp_path / ".stagec" / "runs").glob("*.run"))
    assert time.strptime(name, "run-%Y%m%d-%H%M%S")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_interrupts_stages_and_leaves_a_run_that_can_be_resumed(
    compiled: Any, run: Run, environment: Environment, tmp_path: Path, number: signal.Signals
) -> None:
    folder = compiled(train=WAITS)
    with begun(tmp_path, environment, "run", "wine.plan.json", "--run", "one") as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert (TRAIN, "interrupted") in words(out)
    assert b"the run is kept; to resume it: stagec resume one\n" in err
    assert statuses(run) == {LOAD: "COMPLETED", TRAIN: "RESUMABLE", TEST: "BLOCKED", TELL: "BLOCKED"}
    (tmp_path / "go").touch()
    ended = run("resume", "one")
    assert (ended.returncode, [line[:2] for line in words(ended)[:-1]]) == (
        0,
        [(each, "completed") for each in (TRAIN, TEST, TELL)],
    )
    assert b"resumes from ckpt-S01_load_data: 1 stage of 4 kept\n" in ended.stderr
    assert f"[REHYDRATED:from=ckpt-{LOAD}]" in (folder / "run.log").read_text()


def test_a_second_request_to_end_does_not_wait_for_stages(
    compiled: Any, environment: Environment, tmp_path: Path
) -> None:
    compiled(train=f"import signal; signal.signal(2, signal.SIG_IGN); {WAITS}")
    with begun(tmp_path, environment, "run", "wine.plan.json", "--run", "one") as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=4)  # the stage itself would be killed only after eight seconds
    assert process.returncode in {-signal.SIGINT, 130}


def test_a_stage_that_fails_is_tried_three_times_and_then_resumed(compiled: Any, run: Run, tmp_path: Path) -> None:
    folder = compiled(train=f"if not Path('go').exists(): sys.exit(7)\n{WRITES}")
    ended = run("run", "wine.plan.json", "--run", "one")
    assert ended.returncode == 1
    assert words(ended)[1:4] == [(TRAIN, "exit"), (TRAIN, "exit", "attempt"), (TRAIN, "exit", "attempt")]
    assert words(ended)[-1][:3] == ("failed:", TRAIN, "attempt")
    assert b"to resume it: stagec resume one\n" in ended.stderr
    assert json.loads(run("runs", "export", "one").stdout)["stages"][1]["attempts"] == 3
    (tmp_path / "go").touch()
    assert run("resume", "one").returncode == 0
    assert (folder / TELL / "data.txt").exists()


def test_a_stage_that_fails_shows_the_last_line_of_its_error_output_and_the_log(compiled: Any, run: Run) -> None:
    secret = "sk-ant-" + "a1B2" * 10
    folder = compiled(train=f"print('Begin', file=sys.stderr); sys.exit('no column {secret} \\x1b[31m\\n\\n')")
    ended = run("run", "wine.plan.json", "--run", "one")
    told = ended.stdout.decode()
    assert told.count("no column") == 3
    assert secret not in told
    assert "\x1b" not in told
    assert f"log of the stages: {folder / 'run.log'}\n" in told
    shown = run("runs", "show", "one").stdout.decode()
    assert any(line.startswith(f"{TRAIN}  no column ") for line in shown.splitlines())
    assert f"log of the stages: {folder / 'run.log'}\n" in shown
    assert json.loads(run("runs", "export", "one").stdout)["stages"][1]["said"].startswith("no column ")
    (folder / "run.log").unlink()
    assert "log of the stages" not in run("runs", "show", "one").stdout.decode()


def test_a_stage_that_may_not_run_twice_needs_consent(
    compiled: Any, run: Run, environment: Environment, tmp_path: Path
) -> None:
    compiled(tell=WAITS)
    with begun(tmp_path, environment, "run", "wine.plan.json", "--run", "one") as process:
        process.kill()
        process.communicate()
    (tmp_path / "go").touch()
    refused = run("resume", "one")
    assert refused.returncode == 1
    assert f"stagec resume one --consent {TELL}\n".encode() in refused.stderr
    assert statuses(run)[TELL] == "BLOCKED"
    assert run("resume", "one", "--consent", "S04_notify").stderr.endswith(b"did you mean 'S04_notify_team'?\n")
    again = run("resume", "one", "--consent", TELL)
    assert (again.returncode, [line[:2] for line in words(again)[:-1]]) == (0, [(TELL, "completed")])


@pytest.mark.parametrize("spoil", ["truncate", "remove", "link", "manifest"])
def test_what_was_changed_after_a_run_was_interrupted_is_made_again(
    compiled: Any, run: Run, tmp_path: Path, spoil: str
) -> None:
    folder = compiled(tell=f"if not Path('go').exists(): sys.exit(7)\n{WRITES}")
    assert run("run", "wine.plan.json", "--run", "one").returncode == 1
    data, manifest = folder / TRAIN / "data.txt", folder / "checkpoints" / f"ckpt-{TRAIN}.json"
    if spoil == "manifest":
        manifest.write_bytes(manifest.read_bytes().replace(b'"attempt":1', b'"attempt":2'))
    elif spoil == "truncate":
        data.write_text("")
    else:
        data.unlink()
    if spoil == "link":
        data.symlink_to(folder / LOAD / "data.txt")
    (tmp_path / "go").touch()
    ended = run("resume", "one", "--consent", TELL)
    assert f"stagec: warning: {TRAIN} runs again: ckpt-{TRAIN} is not valid".encode() in ended.stderr
    assert [line[:2] for line in words(ended)[:-1]] == [(each, "completed") for each in (TRAIN, TEST, TELL)]
    assert data.read_text() == TRAIN


def test_what_a_stage_without_checkpoint_has_published_is_compared_with_the_journal(
    compiled: Any, run: Run, tmp_path: Path
) -> None:
    folder = compiled(tell=f"if not Path('go').exists(): sys.exit(7)\n{WRITES}")
    run("run", "wine.plan.json", "--run", "one")
    (tmp_path / "go").touch()
    (folder / TEST / "data.txt").write_text("changed")
    ended = run("resume", "one", "--consent", TELL)
    assert [line[0] for line in words(ended)[:-1]] == [TEST, TELL]


def test_a_run_that_was_killed_can_be_cancelled_and_then_not_be_resumed(
    compiled: Any, run: Run, environment: Environment, tmp_path: Path
) -> None:
    compiled(train=WAITS)
    with begun(tmp_path, environment, "run", "wine.plan.json", "--run", "one") as process:
        process.kill()
        process.communicate()
    assert run("runs", "cancel", "one").returncode == 0
    assert statuses(run)[TRAIN] == "BLOCKED"
    again = run("resume", "one")
    assert (again.returncode, b"it cannot be resumed" in again.stderr) == (2, True)


def test_a_run_is_cancelled_while_a_stage_runs(
    compiled: Any, run: Run, environment: Environment, tmp_path: Path
) -> None:
    compiled(train=WAITS)
    with begun(tmp_path, environment, "run", "wine.plan.json", "--run", "one") as process:
        assert run("runs", "cancel", "one").returncode == 0
        out, told = process.communicate(timeout=60)
    assert (process.returncode, out.splitlines()[-1].startswith(b"failed: ")) == (1, True), told
    assert "RUNNING" not in statuses(run).values()
    again = run("resume", "one")
    assert (again.returncode, b"it cannot be resumed" in again.stderr) == (2, True)


def test_a_run_is_paused_while_a_stage_runs_and_resumed(
    compiled: Any, run: Run, environment: Environment, tmp_path: Path
) -> None:
    compiled(train=WAITS)
    with begun(tmp_path, environment, "run", "wine.plan.json", "--run", "one") as process:
        assert run("runs", "pause", "one").returncode == 0
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert statuses(run)[TRAIN] == "RESUMABLE"
    (tmp_path / "begun").unlink()
    with begun(tmp_path, environment, "resume", "one"):
        assert statuses(run)[TRAIN] == "RUNNING"


def test_a_drawing_shows_how_the_stages_of_a_run_stand(compiled: Any, run: Run) -> None:
    compiled(train="sys.exit(7)")
    run("run", "wine.plan.json", "--run", "one")
    drawn = run("graph", "plan.json", "--run", "one").stdout.decode()
    assert "runone,failed:S02_train_model,attempt3:" in drawn.replace("<br/>", "").replace(" ", "")
    assert f"{LOAD}<br/>✓ completed, " in drawn
    assert f"{TRAIN}<br/>⚠ resumable, " in drawn
    assert f"{TELL}<br/>✗ blocked" in drawn
    assert "completed" not in run("graph", "plan.json").stdout.decode()
    assert run("graph", "plan.json", "--run", "other").returncode == 2


@pytest.mark.parametrize(("source", "given"), [("imported", ()), ("untrusted", ("--trust", "untrusted"))])
def test_a_checkpoint_from_elsewhere_counts_as_far_as_it_is_trusted(
    compiled: Any, run: Run, tmp_path: Path, source: str, given: tuple[str, ...]
) -> None:
    folder = compiled()
    assert run("run", "wine.plan.json", "--run", "other").returncode == 0
    compiled(load=f"if not Path('go').exists(): sys.exit(7)\n{WRITES}")
    assert run("run", "wine.plan.json", "--run", "one").returncode == 1
    path = f"reports/wine/other/checkpoints/ckpt-{LOAD}.json"
    brought = run("checkpoint", "import", path, "--into", "wine/one", "--trust", source, "--allow-untrusted")
    assert brought.returncode == 0, brought.stderr.decode()
    (tmp_path / "go").touch()
    if given:
        refused = run("resume", "one")
        assert (refused.returncode, f"ckpt-{LOAD} is untrusted: --trust".encode() in refused.stderr) == (2, True)
    ended = run("resume", "one", *given)
    assert f"stagec: warning: ckpt-{LOAD} is {source}: it was not written by this run".encode() in ended.stderr
    assert [line[:2] for line in words(ended)[:-1]] == [(each, "completed") for each in (TRAIN, TEST, TELL)]
    assert (folder / LOAD / "data.txt").read_text() == LOAD


def test_fewer_stages_run_at_the_same_time_if_somebody_says_so(compiled: Any, run: Run, tmp_path: Path) -> None:
    program = "Path('now').mkdir(); time.sleep(0.1); Path('now').rmdir()"
    names = [f"S0{number}_load_part" for number in range(1, 5)]
    stages = [stage(name, program, outputs={}) for name in names]
    (tmp_path / "plan.json").write_text(json.dumps({"reportTitle": "wine", "stages": stages}), encoding="utf-8")
    assert run("compile", "plan.json", "-o", "wine.plan.json").returncode == 0
    ended = run("run", "wine.plan.json", "--max-parallel", "1", "--run", "one")
    assert (ended.returncode, [line[0] for line in words(ended)[:-1]]) == (0, names)
    assert run("run", "wine.plan.json", "--max-parallel", "0").returncode == 2


def test_an_executor_carries_out_stages_without_a_command(compiled: Any, run: Run, tmp_path: Path) -> None:
    folder = compiled(load=None, train=None, test=None, tell=None)
    (tmp_path / "do.py").write_text(HEAD + WRITES, encoding="utf-8")
    assert b"--executor 'PROGRAM \xe2\x80\xa6' names the program" in run("run", "wine.plan.json").stderr
    (tmp_path / "s.yaml").write_text("processes: {}", encoding="utf-8")
    imagined = run("run", "wine.plan.json", "--run", "imagined", "--scenario", "s.yaml")
    assert (imagined.returncode, list(folder.parent.glob("imagined/S*"))) == (0, [])
    ended = run("run", "wine.plan.json", "--run", "one", "--executor", f"'{sys.executable}' do.py")
    assert ended.returncode == 0
    assert (folder / TELL / "data.txt").read_text() == TELL


def test_a_run_is_resumed_from_anywhere_in_the_project_where_it_began(compiled: Any, run: Run, tmp_path: Path) -> None:
    compiled(train=f"if not Path('go').exists(): sys.exit(7)\n{WRITES}")
    other = tmp_path / "other"
    other.mkdir()
    assert run("run", "wine.plan.json", "--run", "one", "--project", "other").returncode == 1
    (other / "go").touch()
    ended = run("resume", "one")
    assert ended.returncode == 0
    assert f"stagec: the run executes in {other}\n".encode() in ended.stderr
    assert (other / "reports" / "wine" / "one" / TELL / "data.txt").exists()
    assert not (tmp_path / "reports").exists()


def test_a_copied_folder_never_runs_in_the_one_where_the_run_began(
    compiled: Any, environment: Environment, run: Run, tmp_path: Path
) -> None:
    compiled(train=f"if not Path('go').exists(): sys.exit(7)\n{WRITES}")
    assert run("run", "wine.plan.json", "--run", "one").returncode == 1
    shutil.copytree(tmp_path, tmp_path / "copy")
    for folder in (tmp_path, tmp_path / "copy"):
        (folder / "go").touch()
    command = [sys.executable, "-m", "stagec", "resume", "one"]
    options: Any = {"cwd": tmp_path / "copy", "env": environment(), "capture_output": True}
    refused = subprocess.run(command, check=False, **options)
    assert refused.returncode == 2
    assert b"this journal is a copy, or was moved" in refused.stderr
    assert str(tmp_path / ".stagec" / "runs").encode() in refused.stderr
    assert subprocess.run([*command, "--project", "."], check=False, **options).returncode == 0
    results = Path("reports", "wine", "one", TELL, "data.txt")
    assert ((tmp_path / "copy" / results).exists(), (tmp_path / results).exists()) == (True, False)


def test_the_results_of_another_run_are_never_overwritten(compiled: Any, run: Run, tmp_path: Path) -> None:
    compiled()
    assert run("run", "wine.plan.json", "--run", "one").returncode == 0
    assert b"there is a run 'one' already" in run("run", "wine.plan.json", "--run", "one").stderr
    (tmp_path / ".stagec" / "runs" / "one.run").unlink()
    assert b"has results of another run: --run gives" in run("run", "wine.plan.json", "--run", "one").stderr


REFUSED = {
    "a reserved name": (("--run", "checkpoints"), b"the protocol reserves that name"),
    "an executor that is no command line": (("--executor", "'"), b"is not a command line"),
    "an executor without words": (("--executor", " "), b"--executor names no program"),
    "a project that is not there": (("--project", "nowhere"), b"--project names the folder in which the run executes"),
}


@pytest.mark.parametrize(("options", "told"), REFUSED.values(), ids=REFUSED)
def test_what_no_run_can_begin_with_is_refused(compiled: Any, run: Run, options: tuple[str, ...], told: bytes) -> None:
    compiled(train=None)
    ended = run("run", "wine.plan.json", *(options if "--executor" in options else (*options, "--executor", "true")))
    assert (ended.returncode, told in ended.stderr) == (2, True), ended.stderr.decode()


def test_on_a_terminal_what_runs_is_drawn_in_place(compiled: Any, environment: Environment, tmp_path: Path) -> None:
    compiled(train=f"print('[STAGE:progress:id={TRAIN}:pct=40] half of it', flush=True)\n{WAITS}")
    master, terminal = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "stagec", "run", "wine.plan.json", "--run", "one"],
        cwd=tmp_path,
        env=environment(TERM="xterm", COLUMNS="60", NO_COLOR="1"),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    seen = b""
    while b"40 %  half of it" not in seen:
        seen += os.read(master, 10_000)
    (tmp_path / "go").touch()
    with suppress(OSError):  # the end of a terminal is an error of its own
        while True:
            seen += os.read(master, 10_000)
    os.close(master)
    assert process.wait() == 0
    assert b"1 of 4 stages completed, 1 running" in seen
    assert b"s of  60 s   40 %" in seen
    assert seen.rstrip().splitlines()[-1].endswith(b"done: completed, 4 executions, 9 events")
    assert b"\x1b[1;3" not in seen
    rows = seen.replace(b"\x1b[J", b"").split(b"\r\n")
    assert max(map(len, rows[1:])) < 60 + len(b"\x1b[2A\r")


def test_a_stage_that_was_cut_off_is_interrupted_before_its_run_is_resumed(
    compiled: Any, run: Run, environment: Environment, tmp_path: Path
) -> None:
    compiled(train=WAITS)
    with begun(tmp_path, environment, "run", "wine.plan.json", "--run", "one") as process:
        assert statuses(run)[TRAIN] == "RUNNING"
        assert f"{TRAIN}<br/>running" in run("graph", "plan.json", "--run", "one").stdout.decode()
        process.kill()
        process.communicate()
    assert statuses(run)[TRAIN] == "INTERRUPTED"
    assert f"{TRAIN}<br/>⚠ interrupted, cut off" in run("graph", "plan.json", "--run", "one").stdout.decode()
