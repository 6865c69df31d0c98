"""Runs with a model behind a wire and an MCP server, killed again and again: what was asked, called and left when."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import nursery
from world.models.wire import Event, Said, Wire

from stagec.core.json import Json
from stagec.runtime.drivers.local import JournalError, read_journal
from stagec.runtime.machine import Answered
from stagec.runtime.machine.exchange import read_key

SERVER = Path(__file__).parents[1] / "world" / "server.py"
STAGES = ("begin", "left", "right", "end")
TURNS = 3
TOKENS = 15
"""What a turn uses on the wire."""
_HAND_IN = "hand_in_"
_PATIENCE = 120
_OPTIONS = ("--model", "openai:gpt-4o", "--max-tokens", str(len(STAGES) * TURNS * TOKENS))
"""A budget that is enough as long as nothing is counted twice."""


def answer(asked: Event) -> Said:
    """Say what follows from a transcript: two calls at once, one more, and the result."""
    _, turn = _identify(asked)
    calls = [("a", "keep", '{"n": 1}'), ("b", "keep", '{"n": 2}')][: 2 - turn]
    if turn == TURNS - 1:
        calls = [("c", next(name for name in _tools(asked) if name.startswith(_HAND_IN)), "{}")]
    return Said("", calls, delay=0.03)


def _tools(asked: Event) -> list[str]:
    return [each["function"]["name"] for each in asked["tools"]]


def _identify(asked: Event) -> tuple[str, int]:
    """Return which stage asks, and how many turns it has had."""
    (name,) = [name for name in _tools(asked) if name.startswith(_HAND_IN)]
    return name.removeprefix(_HAND_IN), sum(each["role"] == "assistant" for each in asked["messages"])


class Known(NamedTuple):
    """What a journal acknowledges: the answers by their keys, and how many of them are turns of each stage."""

    answers: Mapping[str, Json]
    turns: Counter[str]
    events: int


class Kill(NamedTuple):
    """One kill: whether the run had begun and not ended, and what was wrong."""

    inside: bool
    faults: tuple[str, ...]


class Agents:
    """A folder with a pipeline of four stages, two of them parallel, and its run that nobody disturbs."""

    def __init__(self, folder: Path, wire: Wire) -> None:
        self.folder, self.wire = folder, wire
        catalogue = {"mcp": {"s": {"command": sys.executable, "args": [str(SERVER), "keeping"]}}}
        (folder / "tools.yaml").write_text(json.dumps(catalogue), encoding="utf-8")
        for name in STAGES:
            (folder / f"{name}.md").write_text(f"---\n{json.dumps(_stage(name))}\n---\nWork.\n", encoding="utf-8")
        following = {"begin": {"stages": ["left", "right"], "execution": "parallel", "join": "end"}}
        (folder / "pipeline.yaml").write_text(json.dumps({"entry": "begin", "next": following}), encoding="utf-8")
        for words in (("tools", "lock"), ("compile", ".", "-o", "plan.json")):
            ended = nursery.run(words, folder, self._environment())
            assert ended.returncode == 0, ended.stderr.decode()
        assert self.proceed("whole").wait(_PATIENCE) == 0
        self.whole = self.read("whole")

    def _environment(self) -> dict[str, str]:
        return nursery.environment(OPENAI_BASE_URL=f"{self.wire.url}/v1", OPENAI_API_KEY="none")

    def proceed(self, run: str) -> nursery.Process:
        """Begin a run, or resume it once it has begun."""
        words = ("resume", run) if self.read(run).events else ("run", "plan.json", "--run", run)
        with Path(os.devnull).open("r+b") as nothing, (self.folder / f"{run}.err").open("ab") as said:
            streams = (nothing.fileno(), nothing.fileno(), said.fileno())
            return nursery.start((*words, *_OPTIONS), self.folder, self._environment(), streams)

    def read(self, run: str) -> Known:
        """Return what a journal acknowledges; nothing of a run that has not begun."""
        try:
            events = read_journal(self.folder / ".stagec" / "runs" / f"{run}.run").events
        except JournalError:
            return Known({}, Counter(), 0)
        found = {each.key.partition("/")[2]: each for each in events if isinstance(each, Answered)}
        models = [each for each in found.values() if isinstance(each.answer, dict) and "usage" in each.answer]
        turns = Counter(read_key(each.key).node for each in models)
        return Known({key: each.answer for key, each in found.items()}, turns, len(events))

    def calls(self) -> list[str]:
        """Return the keys of all calls that the server was ever given, without the name of their run."""
        path = self.folder / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [line.removeprefix("keep ") for line in lines]

    def usage(self) -> Mapping[str, Any]:
        """Return what each run says that it has used."""
        ended = nursery.run(("runs", "list", "--format", "json"), self.folder, self._environment())
        return {each["run"]: each["usage"] for each in json.loads(ended.stdout)["runs"]}


def _stage(name: str) -> dict[str, Json]:
    return {
        "id": name,
        "name": name,
        "allowedTools": ["keep"],
        "completionTool": f"{_HAND_IN}{name}",
        "completionSchema": {"type": "object"},
        "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
        "turnCap": 9,
        "resolutionPolicy": "fail",
    }


def killed(agents: Agents, run: str, chance: random.Random, most: int = 4) -> Iterator[Kill]:
    """Kill a run up to so many times, let it come to its end, and yield what was wrong each time."""
    for _ in range(most):
        known, asked, called = agents.read(run), len(agents.wire.asked), len(agents.calls())
        process = agents.proceed(run)
        _wait(agents, process, asked + chance.randrange(7), chance)
        process.kill()
        status = process.wait(_PATIENCE)
        faults = [*_find_left(agents), *_find_repeated(agents, run, known, asked, called)]
        if status != -signal.SIGKILL:
            said = (agents.folder / f"{run}.err").read_text(encoding="utf-8")
            yield Kill(inside=False, faults=(*faults, *([] if status == 0 else [f"{run} ended with {status}: {said}"])))
            break
        yield Kill(0 < agents.read(run).events < agents.whole.events, tuple(faults))
    yield Kill(inside=False, faults=tuple(_complete(agents, run)))


def _wait(agents: Agents, process: nursery.Process, asked: int, chance: random.Random) -> None:
    """Wait until so many requests were made in all, and a moment longer: while tools are called, or turns are kept."""
    until = time.monotonic() + _PATIENCE
    while len(agents.wire.asked) < asked and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(0.1 * chance.random())


def _find_repeated(agents: Agents, run: str, known: Known, asked: int, called: int) -> Iterator[str]:
    """Yield what was acknowledged before a process began, and which it has asked or called again."""
    for stage, turn in map(_identify, agents.wire.asked[asked:]):
        if turn < known.turns[stage]:
            yield f"{run}: turn {turn} of {stage} is asked again"
    for key in agents.calls()[called:]:
        if key.partition("/")[2] in known.answers:
            yield f"{run}: {key} is called again"


def _find_left(agents: Agents) -> Iterator[str]:
    """Yield the processes that are left a second after a kill, and end them."""
    until = time.monotonic() + 1
    while (left := _list_processes(agents.folder)) and time.monotonic() < until:
        time.sleep(0.01)
    for pid in left:
        yield f"{pid} is left"
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _list_processes(folder: Path) -> list[int]:
    """Return the processes whose current folder is that of the runs."""
    found = []
    for each in os.listdir("/proc"):
        if each.isdigit():
            with suppress(OSError):
                found += [int(each)] if Path(os.readlink(f"/proc/{each}/cwd")) == folder else []
    return found


def _complete(agents: Agents, run: str) -> Iterator[str]:
    """Let a run come to its end, and yield how it differs from the one that nobody disturbs."""
    known, asked, called = agents.read(run), len(agents.wire.asked), len(agents.calls())
    if known.events < agents.whole.events:
        status = agents.proceed(run).wait(_PATIENCE)
        if status:
            yield f"{run} ended with {status}: {(agents.folder / f'{run}.err').read_text(encoding='utf-8')}"
    yield from _find_repeated(agents, run, known, asked, called)
    yield from _find_left(agents)
    ended = agents.read(run)
    if (ended.answers, ended.events) != (agents.whole.answers, agents.whole.events):
        yield f"{run}: its answers are not those of a run that nobody disturbs"
