"""Programs that are really run: how they end, what they write, and that nothing of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from processes import gone

from stagec.core.json import Json, object_of
from stagec.core.secrets import Redactor
from stagec.runtime.machine.exchange import Shell, Wait
from stagec.runtime.world.commands import CommandLine, CommandLock, run
from stagec.runtime.world.local_world import LocalWorld, Permissions

PLAIN = Redactor()
TOP = Path(__file__).parents[2]


def shell(command: str, milliseconds: int | None = None, **variables: str) -> dict[str, object]:
    return dict(run(CommandLine(("sh", "-c", command), milliseconds, {**os.environ, **variables}), PLAIN))


def test_a_program_ends_with_its_status_and_what_it_wrote() -> None:
    assert shell("echo out; echo err >&2; exit 3") == {"exit": 3, "stdout": "out\n", "stderr": "err\n"}


def test_words_are_handed_over_as_they_are() -> None:
    assert run(CommandLine(("printf", "%s|", "a b", "$HOME", "*")), PLAIN) == {
        "exit": 0,
        "stdout": "a b|$HOME|*|",
        "stderr": "",
    }


def test_a_program_reads_nothing() -> None:
    assert shell("cat")["exit"] == 0


def test_a_program_knows_its_request() -> None:
    assert shell("echo $STAGEC_KEY", STAGEC_KEY="r/a#1/1.0")["stdout"] == "r/a#1/1.0\n"


@pytest.mark.parametrize("word", ["no-such-program", "a\0b", "\udcff\ud800", os.sep])
def test_what_cannot_be_started_has_no_status(word: str) -> None:
    ended = run(CommandLine((word,)), PLAIN)
    assert (ended["exit"], ended["stdout"]) == (None, "")
    assert str(ended["stderr"]).startswith("it could not be started: ")


def test_what_was_killed_has_no_status() -> None:
    assert shell("echo so far; kill -9 $$") == {"exit": None, "stdout": "so far\n", "stderr": ""}


@pytest.mark.parametrize("command", ["echo $$; sleep 600", "echo $$; exec >&- 2>&-; sleep 600"])
def test_what_takes_too_long_is_killed(command: str) -> None:
    ended = shell(command, milliseconds=500)
    assert ended["exit"] is None
    assert gone(int(str(ended["stdout"])))


def test_what_a_program_leaves_running_is_ended_with_it() -> None:
    ended = shell("sleep 600 & echo $!")
    assert ended["exit"] == 0
    assert gone(int(str(ended["stdout"])))


def test_a_program_that_closed_its_streams_is_waited_for() -> None:
    assert shell("exec >&- 2>&-; sleep 0.2; exit 4")["exit"] == 4


def test_output_has_bounds_and_its_rest_is_read() -> None:
    ended = shell("head -c 3000000 /dev/zero; echo done >&2")
    assert (ended["exit"], len(str(ended["stdout"])), ended["stderr"]) == (0, 1_000_000, "done\n")


def test_output_that_is_no_text_is_text_all_the_same() -> None:
    assert shell(r"printf 'a\377b'")["stdout"] == "a\ufffdb"


def test_nothing_stays_when_the_runner_is_interrupted(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    line = f"('sh', '-c', 'echo $$ > {mark}; sleep 600')"
    probe = f"from stagec.runtime.world.commands import *; run(CommandLine({line}), Redactor())"
    process = subprocess.Popen(
        [sys.executable, "-c", probe], env={**os.environ, "PYTHONPATH": str(TOP / "compiler")}, stderr=subprocess.PIPE
    )
    while not mark.exists() or not mark.read_text(encoding="utf-8").strip():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in told
    assert gone(int(mark.read_text(encoding="utf-8")))


def cancelled(effect: Shell | Wait, world: LocalWorld, begun: Callable[[], bool]) -> Json:
    """Return what comes of a request that is cancelled once it has begun."""
    found: list[Json] = []
    thread = Thread(target=lambda: found.append(world.answer(effect)))
    thread.start()
    while not begun():
        time.sleep(0.01)
    world.cancel(effect.key)
    thread.join()
    return found[0]


def test_a_command_that_is_cancelled_is_killed_with_all_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leftovers: Callable[[], list[int]]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = Shell("r/a#1/1.0", "sleep 600 & echo $! > pids; echo $$ >> pids; touch begun; sleep 600")
    answer = cancelled(command, LocalWorld(Permissions()), Path("begun").exists)
    assert object_of(answer)["exit"] is None
    assert leftovers() == []


@pytest.mark.parametrize("effect", [Shell("r/a#1/1.0", "sleep 600"), Wait("r/a#1/1.0", 600_000)])
def test_what_is_cancelled_before_it_has_begun_ends_at_once(effect: Shell | Wait) -> None:
    world = LocalWorld(Permissions())
    world.cancel(effect.key)
    assert object_of(world.answer(effect)).get("exit") is None


def test_a_wait_that_is_cancelled_is_over() -> None:
    world = LocalWorld(Permissions())
    assert cancelled(Wait("r/a#1/1.0", 600_000), world, lambda: bool(world._stops)) == {}


def test_what_takes_too_long_may_end_by_itself_and_has_no_status_all_the_same() -> None:
    ended = shell("trap 'echo cleaned; exit 0' TERM; echo begun; sleep 600 & wait", milliseconds=500)
    assert ended == {"exit": None, "stdout": "begun\ncleaned\n", "stderr": "stopped after 0.5 s\n"}


def test_what_does_not_end_when_it_is_asked_to_is_killed() -> None:
    ended = shell("trap '' TERM; (trap '' TERM; sleep 600) & echo $$ $!; while :; do sleep 1; done", milliseconds=300)
    assert ended["exit"] is None
    assert all(gone(int(each)) for each in str(ended["stdout"]).split())


def test_the_lock_of_commands_makes_its_folder_for_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "one.run.commands"
    with closing(CommandLock(path)) as lock:
        lock.hold()
        assert path.exists()
        assert path.parent.stat().st_mode & 0o777 == 0o700
