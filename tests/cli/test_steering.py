"""Runs that are steered from elsewhere: answered, paused and cancelled while another process executes them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from campaigns import choose
from playable import STEPS, judged, stages, steps
from processes import gone
from sealed_names import find_file
from terminal import type_at_terminal

from stagec.core.json import Json, object_of
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.document import Server, Tool
from stagec.ir.plan.facts import facts
from stagec.runtime.drivers.local import JournalError
from stagec.runtime.drivers.local.live_journal import read_stored
from stagec.runtime.drivers.local.mailbox import Mailbox, list_waiting
from stagec.runtime.drivers.messages import MessageKind, name_answer, write_message
from stagec.runtime.machine import Answered

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]
Process = subprocess.Popen[bytes]
Begin = Callable[..., Process]
SAYS = json.dumps({"answers": {"work": [{"said": "one"}, {"said": "two"}, {"said": "three"}]}})
KEY = "one/work#1/1.1"
WAITS = ("run", "p", "--scenario", "s.json", "--run", "one", "--answers", "wait")
SERVER = Path(__file__).parents[1] / "world" / "server.py"
ONE = Path(".stagec/runs/one.run")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p").write_bytes(dump(judged()))
    (tmp_path / "s.json").write_text(SAYS)
    return tmp_path


@pytest.fixture
def begin(folder: Path, environment: Callable[..., dict[str, str]]) -> Iterator[Begin]:
    """Begin commands that are gone when the test ends."""
    begun: list[Process] = []

    def start(*words: str) -> Process:
        process = subprocess.Popen(
            [sys.executable, "-m", "stagec", *words],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        begun.append(process)
        return process

    yield start
    for each in begun:
        each.kill()
        each.communicate()


def wait_until(is_so: Callable[[], bool], process: Process) -> None:
    while not is_so():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def is_asked(path: Path, key: str = KEY) -> bool:
    """Tell whether who executes a run has come to ask a question; one that was asked before is asked again soon."""
    try:
        return any(each.question.key == key and each.is_executed for each in list_waiting(path))
    except JournalError:
        return False


def decide(path: Path, key: str = KEY) -> Mapping[str, Json]:
    """Return the answer to a question in a journal, which is there once."""
    (found,) = [
        each.answer for each in read_stored(path).history.events if isinstance(each, Answered) and each.key == key
    ]
    return object_of(found)


def test_a_question_waits_until_it_is_answered(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    assert run("runs", "list").stdout.split()[3] == b"waiting"
    assert b"is the work of step 'work' done?" in run("runs", "questions").stdout
    (asked,) = json.loads(run("runs", "questions", "one", "--format", "json").stdout)["questions"]
    assert (asked["run"], asked["key"], asked["executed"], asked["sent"]) == ("one", KEY, True, None)
    assert run("runs", "answer", "one", "no").returncode == 0
    wait_until(lambda: is_asked(folder / ONE, "one/work#2/1.1"), process)
    assert run("runs", "answer", "one", "one/work#2/1.1", "yes").returncode == 0
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0, told
    assert b"stagec runs answer one 'one/work#1/1.1' yes, or no" in told
    assert (decide(folder / ONE)["done"], decide(folder / ONE)["by"]) == (False, "terminal")
    assert [each.name for each in (folder / ONE).parent.iterdir()] == ["one.run"]


def test_a_question_that_nobody_answers_in_time_is_a_no(begin: Begin, folder: Path) -> None:
    process = begin(*WAITS, "--answer-timeout", "0.1")
    wait_until(lambda: is_asked(folder / ONE, "one/work#3/1.1") or process.poll() is not None, process)
    process.kill()
    process.communicate()
    assert (decide(folder / ONE)["done"], decide(folder / ONE)["by"]) == (False, "nobody")


def test_what_is_no_answer_is_refused(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    for words in (("perhaps",), ("yes", "no", "yes"), ("one/work#9/1.1", "yes"), ("", "yes")):
        assert run("runs", "answer", "one", *words).returncode == 2, words
    assert run("runs", "answer", "another", "yes").returncode == 2
    assert not Mailbox(folder / ONE).list_names()


def test_the_second_answer_is_told_of_the_first(begin: Begin, run: Run, folder: Path) -> None:
    """The run is interrupted, so that the first answer stays where it is."""
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    process.kill()
    process.communicate()
    assert run("runs", "answer", "one", "no").returncode == 0
    assert b"answered, by terminal" in run("runs", "questions", "one").stdout
    second = run("runs", "answer", "one", KEY, "yes")
    assert (second.returncode, b"the answer 'no' counts, by terminal" in second.stderr) == (1, True)
    process = begin("resume", "one", "--answers", "wait")
    wait_until(lambda: is_asked(folder / ONE, "one/work#2/1.1"), process)
    third = run("runs", "answer", "one", KEY, "yes")
    assert (third.returncode, b"the answer 'no' counts, by terminal" in third.stderr) == (1, True)
    assert decide(folder / ONE)["done"] is False


def test_an_answer_from_elsewhere_ends_a_question_at_the_terminal(folder: Path, run: Run) -> None:
    path = folder / ONE

    def answer() -> None:
        while not (path.exists() and is_asked(path)):
            time.sleep(0.02)
        run("runs", "answer", "one", "yes")

    elsewhere = threading.Thread(target=answer)
    elsewhere.start()
    status, shown = type_at_terminal(folder, WAITS[:-2], [])
    elsewhere.join()
    assert (status, "yes: answered elsewhere, by terminal" in shown) == (0, True), shown


def test_what_is_typed_first_counts(folder: Path, run: Run) -> None:
    status, shown = type_at_terminal(folder, WAITS[:-2], [("[d]etails: ", "y\n")])
    assert (status, "elsewhere" in shown) == (0, False), shown
    assert (decide(folder / ONE)["by"], run("runs", "answer", "one", KEY, "no").returncode) == ("terminal", 1)


def test_a_run_that_waits_is_paused_and_asks_again(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    assert b"is asked to pause it" in run("runs", "pause", "one").stderr
    _, told = process.communicate(timeout=60)
    assert (process.returncode, b"paused, by terminal: the run is kept; to resume it: stagec resume one" in told) == (
        130,
        True,
    ), told
    assert b"interrupted" in run("runs", "list").stdout
    assert b"paused, by terminal" in run("runs", "list").stdout
    again = run("runs", "pause", "one")
    assert (again.returncode, b"no process executes run 'one'" in again.stderr) == (2, True)
    process = begin("resume", "one", "--answers", "wait")
    wait_until(lambda: is_asked(folder / ONE), process)
    assert run("runs", "answer", "one", "yes").returncode == 0
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_pause_for_an_earlier_session_does_not_stop_the_next(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    os.kill(process.pid, signal.SIGSTOP)
    assert run("runs", "pause", "one").returncode == 0
    process.kill()
    process.communicate()
    process = begin("resume", "one", "--answers", "wait")
    wait_until(lambda: is_asked(folder / ONE), process)
    assert run("runs", "answer", "one", "yes").returncode == 0
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_messages_to_an_earlier_run_of_the_same_name_do_not_count(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    process.kill()
    process.communicate()
    assert run("runs", "answer", "one", "yes").returncode == 0
    (folder / ONE).unlink()
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    (waiting,) = list_waiting(folder / ONE)
    assert waiting.sent is None


@pytest.fixture
def checking(begin: Begin, folder: Path) -> tuple[Process, int]:
    """Begin a run, and wait until a command of it runs without end."""
    (folder / "p").write_bytes(dump(steps("echo $$ > pid; exec sleep 600")))
    (folder / "s.yaml").write_text(STEPS, encoding="utf-8")
    process = begin("run", "p", "--scenario", "s.yaml", "--run", "one")
    pid = folder / "pid"
    wait_until(lambda: pid.exists() and bool(pid.read_text().strip()), process)
    return process, int(pid.read_text())


def test_a_run_is_paused_while_a_command_runs(checking: tuple[Process, int], run: Run) -> None:
    process, number = checking
    assert run("runs", "pause", "one").returncode == 0
    process.communicate(timeout=60)
    assert (process.returncode, gone(number)) == (130, True)
    assert run("runs", "replay", "one").returncode == 0


def test_a_run_is_cancelled_while_a_command_runs(checking: tuple[Process, int], run: Run, folder: Path) -> None:
    process, number = checking
    asked = run("runs", "cancel", "one")
    assert (asked.returncode, b"is asked to cancel it" in asked.stderr) == (0, True)
    out, told = process.communicate(timeout=60)
    assert (process.returncode, gone(number)) == (1, True), told
    assert out.splitlines()[-1] == b"failed: close, attempt 1: cancelled, 3 executions, 5 events"
    assert run("runs", "replay", "one").returncode == 0
    assert run("resume", "one").returncode == 1
    assert [each.name for each in (folder / ONE).parent.iterdir() if each.is_dir()] == []


def test_a_cancelled_run_tells_each_event_once(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS, "--events", "jsonl")
    wait_until(lambda: is_asked(folder / ONE), process)
    assert run("runs", "cancel", "one").returncode == 0
    out, _ = process.communicate(timeout=60)
    numbers = [json.loads(line)["seq"] for line in out.splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert json.loads(out.splitlines()[-1])["event"]


def test_cancelling_counts_also_when_who_executes_is_killed_before(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    os.kill(process.pid, signal.SIGSTOP)
    assert run("runs", "cancel", "one").returncode == 0
    process.kill()
    process.communicate()
    process = begin("resume", "one", "--answers", "wait")
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert read_stored(folder / ONE).history.events[-1:] != ()
    assert b"failed" in run("runs", "list").stdout


@pytest.fixture
def calling(begin: Begin, folder: Path) -> Process:
    """Begin a run, and wait until a call of an MCP server does not end."""
    server = Server(command=sys.executable, args=(str(SERVER), "calling"))
    nodes = {name: replace(each, act=replace(each.act, tools=("hang",))) for name, each in stages().nodes.items()}
    plan = replace(stages(), nodes=nodes, servers={"s": server}, tools={"hang": Tool("mcp", "unknown", "s")})
    (folder / "p").write_bytes(dump(replace(plan, facts=facts(plan))))
    (folder / "s.yaml").write_text("conversations: {plan: [{calls: [{tool: hang, arguments: {}}]}]}\n")
    process = begin("run", "p", "--scenario", "s.yaml", "--run", "one", "--servers")
    wait_until((folder / "calls").exists, process)
    return process


@pytest.mark.parametrize(("word", "status"), [("pause", 130), ("cancel", 1)])
def test_a_run_ends_in_the_middle_of_a_call_of_a_server(
    calling: Process, run: Run, folder: Path, word: str, status: int
) -> None:
    assert run("runs", word, "one").returncode == 0
    _, told = calling.communicate(timeout=60)
    assert calling.returncode == status, told
    assert all(gone(int(each)) for each in (folder / "pids").read_text().split())
    assert run("runs", "replay", "one").returncode == 0


@pytest.mark.parametrize("number", range(choose(3, full=5, whole=20)))
def test_a_run_that_is_killed_at_any_moment_takes_the_answer_once(
    begin: Begin, run: Run, folder: Path, number: int
) -> None:
    """The answer is sent at some moment, and whoever executes the run is killed at another."""
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    answering = begin("runs", "answer", "one", KEY, "yes")
    time.sleep(number * 37 % 400 / 1000)
    process.kill()
    process.communicate()
    answering.communicate(timeout=60)
    assert answering.returncode == 0
    process = begin("resume", "one", "--answers", "wait")
    process.communicate(timeout=60)
    assert (process.returncode, decide(folder / ONE)["done"]) == (0, True)
    assert run("runs", "replay", "one").returncode == 0


def test_a_pause_and_ctrl_c_at_the_same_time_interrupt_a_run(checking: tuple[Process, int], run: Run) -> None:
    process, number = checking
    os.kill(process.pid, signal.SIGSTOP)
    assert run("runs", "pause", "one").returncode == 0
    process.send_signal(signal.SIGINT)
    os.kill(process.pid, signal.SIGCONT)
    process.communicate(timeout=60)
    assert (process.returncode in {130, -signal.SIGINT}, gone(number)) == (True, True)
    assert run("runs", "replay", "one").returncode == 0


def test_a_run_is_paused_also_where_ctrl_c_is_ignored(folder: Path, run: Run) -> None:
    """Shells start what they put into the background so."""
    quiet = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    words = [sys.executable, "-c", quiet, sys.executable, "-m", "stagec", *WAITS]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: is_asked(folder / ONE), process)
    assert run("runs", "pause", "one").returncode == 0
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_an_answer_that_does_not_fit_is_ignored_and_told_once(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    Mailbox(folder / ONE).send(write_message(MessageKind.ANSWER, "page", KEY, {"granted": True}))
    assert run("runs", "answer", "one", KEY, "yes").returncode == 0
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert told.count(b"does not match the question") <= 1


def test_an_answer_to_nothing_is_told_when_the_run_has_ended(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    Mailbox(folder / ONE).send(write_message(MessageKind.ANSWER, "page", "one/other#1/1.0", {"granted": True}))
    assert run("runs", "answer", "one", KEY, "yes").returncode == 0
    _, told = process.communicate(timeout=60)
    assert b"1 answer had no question, and were ignored" in told
    assert not Mailbox(folder / ONE).path.exists()


def test_a_folder_that_others_could_use_grants_nothing(begin: Begin, run: Run, folder: Path) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)
    mailbox = Mailbox(folder / ONE)
    mailbox.path.mkdir(mode=0o777)
    mailbox.path.chmod(0o777)
    message = {"format": "stagec.message/1", "kind": "answer", "by": "page", "id": "0" * 32, "key": KEY}
    find_file(mailbox, name_answer(KEY)).write_text(json.dumps({**message, "answer": {"done": True}}))
    refused = run("runs", "answer", "one", "yes")
    assert (refused.returncode, b"has the mode 0777" in refused.stderr) == (2, True)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert told.count(b"has the mode 0777") >= 1


def test_completion_knows_runs_keys_and_answers(
    begin: Begin, folder: Path, environment: Callable[..., dict[str, str]]
) -> None:
    process = begin(*WAITS)
    wait_until(lambda: is_asked(folder / ONE), process)

    def complete(*words: str) -> list[str]:
        around = {"COMP_WORDS": " ".join(("stagec", *words)), "COMP_CWORD": str(len(words))}
        asking = environment(_STAGEC_COMPLETE="bash_complete", **around)
        code = [sys.executable, "-c", "from stagec.cli.app import stagec; stagec(prog_name='stagec')"]
        found = subprocess.run(code, cwd=folder, env=asking, capture_output=True, text=True, check=False).stdout
        return [line.partition(",")[2] for line in found.splitlines()]

    assert complete("runs", "answer", "o") == ["one"]
    assert complete("runs", "answer", "one", "") == [KEY, "yes", "no"]
    assert complete("runs", "answer", "one", KEY, "") == ["yes", "no"]
    assert complete("runs", "answer", "none", "") == ["yes", "no"]
    assert complete("runs", "questions", "") == ["one"]
    assert complete("runs", "pause", "") == ["one"]
