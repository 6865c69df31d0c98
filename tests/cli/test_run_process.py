"""Runs as processes: two of one run, Ctrl-C, requests to end, and a sudden death in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from playable import STEPS, steps
from processes import gone

from stagec.core.value import replace
from stagec.ir.plan import dump

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]
CHECK = "test -e go || { echo $$ > pid; exec sleep 600; }"
"""Goes on for ever unless there is a file `go`."""
BEGIN = ("run", "p", "--scenario", "s.yaml", "--run", "one")


class Running(NamedTuple):
    """A run that is executed, and the process of the command that it waits for."""

    process: subprocess.Popen[bytes]
    command: int


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p").write_bytes(dump(steps(CHECK)))
    (tmp_path / "s.yaml").write_text(STEPS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def running(folder: Path, environment: Callable[..., dict[str, str]]) -> Iterator[Running]:
    """Begin a run, and wait until its work is checked without end."""
    import sys

    process = subprocess.Popen(
        [sys.executable, "-m", "stagec", *BEGIN],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    pid = folder / "pid"
    while not pid.exists() or not pid.read_text(encoding="utf-8").strip():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    command = int(pid.read_text(encoding="utf-8"))
    yield Running(process, command)
    process.kill()
    process.communicate()
    with suppress(ProcessLookupError):
        os.kill(command, signal.SIGKILL)


def events(run: Run, *options: str) -> object:
    return json.loads(run("runs", "export", "one", *options).stdout)["events"]


def test_a_second_runner_is_refused(running: Running, run: Run) -> None:
    told = b"stagec: error: run 'one' is being executed by another process; Ctrl-C interrupts it there\n"
    for arguments in (("resume", "one"), ("runs", "replay", "one"), BEGIN):
        ended = run(*arguments)
        assert (ended.returncode, ended.stdout, ended.stderr) == (2, b"", told), arguments
    assert b" running  3 executions  4 events" in run("runs", "list").stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_ends_in_order(running: Running, run: Run, number: signal.Signals) -> None:
    running.process.send_signal(number)
    out, err = running.process.communicate(timeout=60)
    assert running.process.returncode == 128 + number
    assert out.splitlines()[-1] == "draft#2  next → close".encode()
    assert err.splitlines()[1:] == [
        b"stagec: the run is kept; to resume it: stagec resume one",
        b"stagec: interrupted",
    ]
    assert gone(running.command)
    assert run("runs", "replay", "one").stdout == b"equal: 4 events, 3 executions, not ended\n"


def test_a_run_that_was_killed_goes_on_as_if_nothing_had_happened(running: Running, run: Run, folder: Path) -> None:
    running.process.kill()
    running.process.communicate()
    (folder / "go").touch()
    assert run("runs", "list").stdout.split()[3] == b"interrupted"
    resumed = run("resume", "one")
    assert resumed.returncode == 0
    assert resumed.stdout.decode() == "close    closing → done\ndone: completed, 3 executions, 5 events\n"
    assert run("runs", "replay", "one").returncode == 0
    assert run(*BEGIN, "--runs", "others").returncode == 0
    assert events(run) == events(run, "--runs", "others")


@pytest.mark.needs("bash")
def test_a_reader_that_leaves_does_not_stop_a_run(folder: Path, environment: Callable[..., dict[str, str]]) -> None:
    import sys

    (folder / "go").touch()
    command = f"{sys.executable} -m stagec {' '.join(BEGIN)} | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], cwd=folder, env=environment(), capture_output=True, check=False)
    assert ended.stdout == b"0\n"
    assert ended.stderr.count(b"\n") == 1


def test_no_encoding_stops_a_run(folder: Path, run: Run) -> None:
    (folder / "go").touch()
    ended = run(*BEGIN, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert ended.returncode == 0
    assert b"draft    repeat -> draft\n" in ended.stdout


def test_what_a_command_prints_is_not_seen(folder: Path, run: Run) -> None:
    (folder / "p").write_bytes(dump(steps("echo loud; echo louder >&2")))
    ended = run(*BEGIN)
    assert b"loud" not in ended.stdout + ended.stderr


HOLDER = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""
"""Holds the file that every process of a run's commands holds."""
IMPATIENT = """
import sys
from stagec.cli.app import run
from stagec.runtime.world import commands
commands._PATIENCE = 0.3
sys.exit(run(sys.argv[1:]))
"""
"""Is stagec, but waits no ten seconds for the end of earlier commands."""
KNOWN = "correct-horse-battery"


def printed(folder: Path, run: Run, command: str, *options: str, **variables: str) -> str:
    """Return what a journal keeps of a run whose validator is a command."""
    (folder / "p").write_bytes(dump(steps(command)))
    run(*BEGIN, *options, **variables)
    return json.dumps(events(run))


@pytest.mark.parametrize(
    ("options", "variables", "seen"),
    [
        ((), {}, ""),
        (("--pass-env", "COLOUR"), {}, "red"),
        (("--pass-env", "SHAPE", "--pass-env", "COLOUR"), {}, "red"),
        (("--pass-env", "SHAPE"), {}, ""),
        ((), {"STAGEC_PASS_ENV": "SHAPE COLOUR"}, "red"),
    ],
)
def test_a_command_sees_the_variables_that_somebody_names(
    folder: Path, run: Run, options: tuple[str, ...], variables: dict[str, str], seen: str
) -> None:
    kept = printed(folder, run, 'echo "<$COLOUR>"; exit 1', *options, COLOUR="red", **variables)
    assert f"<{seen}>" in kept


def test_a_command_sees_the_basic_variables_and_its_key(folder: Path, run: Run) -> None:
    kept = printed(folder, run, "env | cut -d= -f1 | sort | tr '\\n' ' '; exit 1", PYTHONWARNINGS="ignore", LC_TIME="C")
    names = set(kept.split('"stdout": "')[1].split('"')[0].split())
    assert {"PATH", "LC_ALL", "LC_TIME", "STAGEC_IDEMPOTENCY_KEY", "STAGEC_RUN_ID"} <= names
    assert names.isdisjoint({"PYTHONPATH", "PYTHONWARNINGS", "STAGEC_PASS_ENV"})


@pytest.mark.parametrize(
    ("options", "variables"), [(("--command-timeout", "0.3"), {}), ((), {"STAGEC_COMMAND_TIMEOUT": "0.3"})]
)
def test_a_command_has_the_time_that_somebody_gives_it(
    folder: Path, run: Run, options: tuple[str, ...], variables: dict[str, str]
) -> None:
    assert "stopped after 0.3 s" in printed(folder, run, "sleep 600", *options, **variables)


@pytest.mark.parametrize("stream", ["", " >&2"])
@pytest.mark.parametrize(
    "command",
    [
        f"echo {KNOWN}{{}}",
        "printf correct-{}; sleep 0.3; printf horse-battery{}",
        "head -c 70000 /dev/zero | tr '\\0' x{}; printf '\\nghp_0123456789abcdefghijABCDEFGHIJ'{}",
    ],
)
def test_no_secret_is_kept(folder: Path, run: Run, command: str, stream: str) -> None:
    kept = printed(folder, run, command.replace("{}", stream) + "; exit 1", MY_TOKEN=KNOWN)
    assert "[redacted]" in kept
    assert KNOWN not in kept
    assert "ghp_" not in kept


def test_no_command_is_started_beside_one_of_the_same_run(
    running: Running, run: Run, folder: Path, environment: Callable[..., dict[str, str]]
) -> None:
    import sys

    running.process.kill()
    running.process.communicate()
    (folder / "go").touch()
    assert gone(running.command)
    lock = folder / ".stagec" / "runs" / "one.run.commands"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        impatient = [sys.executable, "-c", IMPATIENT, "resume", "one"]
        refused = subprocess.run(impatient, cwd=folder, env=environment(), capture_output=True, check=False)
        assert (refused.returncode, b"is still running" in refused.stderr) == (2, True)
        assert json.dumps(events(run)).count('"seq"') == 4
    finally:
        holder.kill()
        holder.communicate()
    assert run("resume", "one").returncode == 0


def test_a_command_that_is_stopped_has_not_succeeded(folder: Path, run: Run) -> None:
    for kind in ("empty", "contains"):
        plan = steps("sleep 600")
        (check,) = plan.validators.items()
        success = replace(check[1].success, kind=kind, argument="")
        (folder / "p").write_bytes(dump(replace(plan, validators={check[0]: replace(check[1], success=success)})))
        assert (
            b"done: completed"
            not in run("run", "p", "--scenario", "s.yaml", "--run", kind, "--command-timeout", "0.3").stdout
        )
