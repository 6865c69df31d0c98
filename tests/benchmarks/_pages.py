"""Many runs at once, written by this process and shown on the page of a server in a browser: how late the page is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import handmade
from browser import Browser
from serve.asking import make_stages

from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.document import Limits
from stagec.ir.plan.node import Edge, Go, Outcome, Stop
from stagec.runtime.drivers.local import Journal, create
from stagec.runtime.machine import Answered, Program, Started, State, advance, load

RECORD = """
window.seen = [];
new MutationObserver((changes) => {
  const now = performance.timeOrigin + performance.now();
  for (const change of changes) {
    const row = change.target.parentElement?.closest("li") ?? change.target.closest?.("li");
    if (row) window.seen.push([row.querySelector(".name").textContent, row.querySelector(".told").textContent, now]);
  }
}).observe(document.getElementById("rows"), { subtree: true, childList: true, characterData: true });
"""
OPEN = "location.hash = '#/run/run-0'"
DRAWN = "document.querySelector('svg .box[data-status=active]') !== null"


class PageFigures(NamedTuple):
    """Seconds from the acknowledgement of an event until the page shows it, and shares of a core."""

    events: int
    median: float
    late: float
    """The 95th percentile."""
    slowest: float
    end: float
    """The median of the last tenth of the events: larger than that of all where the page falls behind."""
    server: float
    page: float


def make_loop() -> Plan:
    """Return a plan of one stage that never ends."""
    plan = make_stages()
    node = replace(plan.nodes["lint"], edges=(Edge("ok", Go("work")), Edge("fail", Stop(Outcome.FAILED))))
    limits = Limits(1_000_000, Outcome.FAILED, 1)
    return handmade.completed(
        replace(plan, id="loop", nodes={"work": node}, entries={"": "work"}, inputs={}, limits=limits)
    )


class Writer:
    """A run that this process executes."""

    def __init__(self, folder: Path, name: str, data: bytes, program: Program) -> None:
        self.name, self._program = name, program
        self._journal: Journal = create(folder / f"{name}.run", data, program.digest)
        started = Started(name)
        self._journal.append(started)
        self._state = advance(program, State(), started).state

    def write(self) -> tuple[str, int, float]:
        """Write an event; return the run, how many events it has, and when that was acknowledged."""
        (key,) = self._state.pending
        answer = {"text": "", "calls": [{"id": "1", "tool": "hand_in", "arguments": {}}]}
        event = Answered(key, answer)
        self._journal.append(event)
        now = time.time()
        self._state = advance(self._program, self._state, event).state
        return self.name, self._journal.count, now

    def close(self) -> None:
        self._journal.close()


@contextmanager
def _serve(folder: Path) -> Iterator[tuple[int, str]]:
    words = [sys.executable, "-m", "stagec", "serve", "--runs", str(folder), "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process.pid, process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def measure_page(folder: Path, runs: int, rate: float, seconds: float) -> PageFigures:
    """Write so many events a second to so many runs in turn, while the page shows all of them, and the first whole."""
    (folder / "runs").mkdir(exist_ok=True)
    data = dump(make_loop())
    program = load(data)
    writers = [Writer(folder / "runs", f"run-{at}", data, program) for at in range(runs)]
    browser = Browser(folder / "profile")
    try:
        browser.attach()
        with _serve(folder / "runs") as (server, address):
            _open(browser, address, runs)
            busy = _count_seconds(server), _count_busy(browser), time.perf_counter()
            written = _write(writers, rate, seconds)
            time.sleep(2)
            spent = time.perf_counter() - busy[2]
            shares = (_count_seconds(server) - busy[0]) / spent, (_count_busy(browser) - busy[1]) / spent
            return _judge(written, browser.value("window.seen"), shares)
    finally:
        browser.close()
        for writer in writers:
            writer.close()


def _open(browser: Browser, address: str, runs: int) -> None:
    """Open the page and its first run, and note from now on what becomes of its rows."""
    browser.ask("Performance.enable")
    browser.visit(address)
    browser.wait_for(f"document.querySelectorAll('#rows li').length === {runs}")
    browser.value(OPEN)
    browser.wait_for(DRAWN)
    browser.value(RECORD)


def _write(writers: list[Writer], rate: float, seconds: float) -> list[tuple[str, int, float]]:
    begun, written = time.perf_counter(), list[tuple[str, int, float]]()
    while (spent := time.perf_counter() - begun) < seconds:
        while len(written) < spent * rate:
            written.append(writers[len(written) % len(writers)].write())
        time.sleep(0.002)
    return written


def _judge(written: list[tuple[str, int, float]], seen: Any, shares: tuple[float, float]) -> PageFigures:
    shown: dict[str, list[tuple[int, float]]] = {}
    for name, told, now in seen:
        shown.setdefault(name, []).append((int(told.partition(" ")[0].replace(",", "")), now / 1000))
    waits = [
        min(now for known, now in shown[name] if known >= count) - acknowledged for name, count, acknowledged in written
    ]
    ordered, last = sorted(waits), waits[-max(1, len(waits) // 10) :]
    late = ordered[int(len(ordered) * 0.95)]
    return PageFigures(len(waits), median(waits), late, ordered[-1], median(last), *shares)


def _count_seconds(process: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _count_busy(browser: Browser) -> float:
    """Return how long the page has been busy."""
    metrics = browser.ask("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")
