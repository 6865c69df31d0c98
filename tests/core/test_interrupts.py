"""Requests to end a process, whatever it is doing: native code that keeps the interpreter, code that swallows them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import gone

from stagec.cli import app

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the signals of POSIX")
TOP = Path(__file__).parents[2]
SWALLOWING = """
import itertools
said = False
while True:
    try:
        if not said: said = True; go()
        {work}
    except KeyboardInterrupt: pass
"""
NATIVE, WAITING = (SWALLOWING.format(work=work) for work in ("sum(itertools.repeat(1))", "time.sleep(600)"))
ORDERLY = """
try: go(); time.sleep(600)
except KeyboardInterrupt: print(' tidied', flush=True); os._exit(interrupts.status())
"""
LATE = """
class Late:
    def __del__(self): go(); time.sleep(0.3); [None for _ in range(9)]
try:
    Late()
    while True: time.sleep(0.01)
except KeyboardInterrupt: print(' tidied', flush=True); os._exit(interrupts.status())
"""
BEGINNING = """
class Asks:
    sought = []
    def find_spec(self, name, path=None, target=None):
        if self.sought or name.endswith('.jsonschema_rs'): self.sought.append(name)
        if len(self.sought) == {after}: go(); os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Asks())
try:
    import jsonschema_rs
    print(' nothing came', flush=True)
except KeyboardInterrupt: print(' tidied', flush=True); os._exit(interrupts.status())
"""
"""A native module that imports others while it begins."""
LOST = """
import os, signal
class Late:
    def __del__(self): os.kill(os.getpid(), signal.SIGTERM); [None for _ in range(9)]
Late()
while True: [None for _ in range(9)]
"""
"""A library that is imported when a request comes, in a destructor."""
DEFERRED = """
try:
    with interrupts.DeferredRequests(lambda: print(' told', flush=True)):
        go(); end = time.monotonic() + 1.5
        while time.monotonic() < end: time.sleep(0.01)
        print(' finished', flush=True)
except KeyboardInterrupt: print(' tidied', flush=True); os._exit(interrupts.status())
"""
"""Work that is left in order longer than a request waits for other work."""
PROBE = """
import os, signal, sys, time
from stagec.core import interrupts
{before}
interrupts.guard()
def go(): os.write(1, b'go')
{work}
"""


def ended(work: str, *numbers: signal.Signals, before: str = "") -> tuple[int, bytes]:
    """Ask a process to end by signals, one after the other; return its status and what it wrote."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROBE.format(work=work, before=before)],
        env={**os.environ, "PYTHONPATH": str(TOP / "compiler")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # what comes after the first word is left to `communicate`
    )
    assert process.stdout is not None
    assert process.stdout.read(2) == b"go"
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.2)  # the same signal twice at once would come once
    try:
        out, _ = process.communicate(timeout=60)  # everything that had its streams has ended
    finally:
        process.kill()
    return process.returncode, out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_lets_everything_be_left_in_order(number: signal.Signals) -> None:
    assert ended(ORDERLY, number) == (128 + number, b" tidied\n")


def test_work_that_takes_time_to_be_left_in_order_has_it() -> None:
    assert ended(DEFERRED, signal.SIGTERM) == (143, b" told\n finished\n tidied\n")


def test_a_second_request_ends_such_work_at_once() -> None:
    status, out = ended(DEFERRED, signal.SIGINT, signal.SIGINT)
    assert (status, out) == (-signal.SIGINT, b" told\n")


EARLY = """
import sys
class Asks:
    def find_spec(self, name, path=None, target=None):
        if name == 'stagec.core.interrupts':
            class Late:
                def __del__(self):
                    import os, signal
                    os.kill(os.getpid(), signal.SIGINT)
                    [None for _ in range(9)]
            Late()
sys.meta_path.insert(0, Asks())
sys.argv = ['stagec', '--version']
from stagec.__main__ import main
main()
"""
"""Ctrl-C in a destructor, while what guards requests is imported."""


def test_a_request_is_not_lost_before_requests_are_guarded() -> None:
    environment = {**os.environ, "PYTHONPATH": str(TOP / "compiler")}
    found = subprocess.run([sys.executable, "-c", EARLY], env=environment, capture_output=True, check=False)
    assert (found.returncode, found.stdout) == (-signal.SIGINT, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_is_not_lost_in_a_destructor(number: signal.Signals) -> None:
    assert ended(LATE, number) == (128 + number, b" tidied\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("work", [NATIVE, WAITING], ids=["native", "waiting"])
def test_a_request_that_is_not_obeyed_is_repeated(work: str, number: signal.Signals) -> None:
    assert ended(work, number)[0] == -number


def test_the_second_request_ends_native_code() -> None:
    assert ended(NATIVE, signal.SIGINT, signal.SIGTERM)[0] in {-signal.SIGINT, -signal.SIGTERM}


def test_what_a_process_was_started_to_ignore_is_ignored() -> None:
    ignored = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    assert ended(ORDERLY, signal.SIGHUP, signal.SIGTERM, before=ignored) == (143, b" tidied\n")


def test_where_no_process_can_be_started_requests_are_obeyed_all_the_same() -> None:
    broken = "def fork(): raise BlockingIOError\nos.fork = fork"
    often = ORDERLY.replace("time.sleep(600)", "[time.sleep(0.01) for _ in range(60_000)]")  # nothing repeats a request
    assert ended(often, signal.SIGINT, before=broken) == (130, b" tidied\n")  # that comes just before a sleep begins
    assert ended(NATIVE, signal.SIGINT, signal.SIGINT, before=broken)[0] == -signal.SIGINT


@pytest.mark.parametrize("after", [2, 5, 10])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_native_module_begins_without_interruption(number: signal.Signals, after: int) -> None:
    work = BEGINNING.format(after=after, number=int(number))
    assert ended(work, before="interrupts._PATIENCE = 60") == (128 + number, b" tidied\n")


def test_the_status_names_the_signal_also_when_it_was_lost_in_an_import(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(LOST, encoding="utf-8")
    path = os.pathsep.join((str(tmp_path), str(TOP / "compiler")))
    process = subprocess.run(
        [sys.executable, "-m", "stagec", "explain"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (process.returncode, process.stderr) == (143, b"stagec: interrupted\n")


HELD = """
def obey(): print(' asked', end='')
try:
    with interrupts.HeldRequests(obey):
        with interrupts.HeldRequests(): go(); os.kill(os.getpid(), {number}); print(' whole', end='')
        print(' later', end='')
except KeyboardInterrupt: print(' tidied', flush=True); os._exit(interrupts.status())
"""
ASKING = """
from stagec.ir.catalogue import CatalogueServer
from stagec.core.place import Place
from stagec.runtime.world.mcp import Question, ask
def report(server, tools):
    if tools: go(); os.kill(os.getpid(), {number})
place, args = Place('tools.yaml', ('mcp', 'polite')), ({script!r}, 'parent')
server = CatalogueServer('polite', place, command=sys.executable, args=args)
try: ask([Question(server, {folder!r}, 60)], report, lambda *_: None)
except KeyboardInterrupt: print(' tidied', flush=True); os._exit(interrupts.status())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_that_is_held_back_is_obeyed_in_the_end(number: signal.Signals) -> None:
    out = ended(HELD.format(number=int(number)), before="interrupts._PATIENCE = 60")
    assert out == (128 + number, b" whole asked later tidied\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])  # an event loop has its own way with the first only
def test_a_request_inside_an_event_loop_ends_the_servers_first(number: signal.Signals, tmp_path: Path) -> None:
    work = ASKING.format(number=int(number), script=str(TOP / "tests" / "world" / "server.py"), folder=str(tmp_path))
    assert ended(work, before="interrupts._PATIENCE = 60") == (128 + number, b" tidied\n")
    assert [pid for pid in (tmp_path / "pids").read_text().split() if not gone(int(pid))] == []


def test_what_python_makes_of_a_request_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Named:
        def __set_name__(self, _owner: type, _name: str) -> None:
            raise KeyboardInterrupt

    def make(_program: object, _arguments: object) -> None:
        try:
            type("Made", (), {"named": Named()})
        except KeyboardInterrupt as error:  # as it is from Python 3.12 on
            raise RuntimeError from error

    monkeypatch.setattr(app, "_invoke", make)
    assert app.run(["explain"]) == 130
