"""A step that calls a tool again and again, its model behind a wire, and kills at any of its requests and calls."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nursery
from campaigns import choose
from playable import steps
from world.models.wire import Event, Said, Wire

from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.document import Tool
from stagec.ir.plan.facts import facts

ROUNDS = choose(6, whole=10)
"""Calls of the step; behind the last one comes its answer."""
TOKENS = 15
"""What a request uses on the wire."""
REQUESTS = ROUNDS + 2
_MODULE = """
import os, signal, time
from pathlib import Path

def look(number: int) -> str:
    with Path("calls").open("a") as calls:
        calls.write(f"{number}\\n")
    deadly = Path(f"deadly-{number}")
    if deadly.exists():
        deadly.unlink()
        os.kill(int(Path("pid").read_text()), signal.SIGKILL)
        time.sleep(60)
    return f"{number} is seen"
"""
TOOLS = ("--tools", "mine")
OPTIONS = ("--model", "openai:gpt-4o", "--max-tokens", str(REQUESTS * TOKENS))
"""A budget that is enough as long as nothing is counted twice."""
_PATIENCE = 120


def make_plan() -> Plan:
    """Make two steps, of which the first may call a tool."""
    plan, allowed = steps(), {"draft": ("look",), "close": ()}
    acts: dict[str, Any] = {name: replace(plan.nodes[name].act, tools=tools) for name, tools in allowed.items()}
    nodes = {name: replace(node, act=acts[name]) for name, node in plan.nodes.items()}
    plan = replace(plan, nodes=nodes, tools={"look": Tool("unknown", "read")})
    return replace(plan, facts=facts(plan))


def count_results(asked: Event) -> int:
    """Return how many calls the model of a request knows the results of."""
    return sum(each["role"] == "tool" for each in asked["messages"])


def is_first_step(asked: Event) -> bool:
    return any(each["function"]["name"] == "look" for each in asked.get("tools", ()))


def respond(asked: Event) -> Said:
    """Say what follows from a conversation: one call after the other, and the answer."""
    done = count_results(asked)
    if is_first_step(asked) and done < ROUNDS:
        return Said(f"I look at {done}.", [(f"c{done}", "look", json.dumps({"number": done}))])
    action = "next" if is_first_step(asked) else "closing"
    return Said("", [("a", "answer", json.dumps({"action": action}))])


class Kill(NamedTuple):
    """When a process is killed: in the course of the call with a number, or at the request behind so many calls."""

    is_call: bool
    number: int


class Folder:
    """A folder with a plan and its runs; its model kills the process that asks it, in place of an answer."""

    def __init__(self, path: Path, wire: Wire, **variables: str) -> None:
        self.path, self.wire = path, wire
        self.environment = {"OPENAI_BASE_URL": f"{wire.url}/v1", "OPENAI_API_KEY": "none", **variables}
        self._pid, self._deadly = 0, -1
        wire.answer = self._respond
        (path / "plan.json").write_bytes(dump(make_plan()))
        (path / "mine.py").write_text(_MODULE, encoding="utf-8")

    def _respond(self, asked: Event) -> Said:
        if is_first_step(asked) and count_results(asked) == self._deadly:
            self._deadly = -1
            os.kill(self._pid, signal.SIGKILL)
        return respond(asked)

    def aim(self, kill: Kill) -> None:
        """Have the next process killed that asks or calls this."""
        if kill.is_call:
            (self.path / f"deadly-{kill.number}").touch()
        else:
            self._deadly = kill.number

    def watch(self, pid: int) -> None:
        """Take note of the process that executes the run now."""
        self._pid = pid
        (self.path / "pid").write_text(str(pid))

    def proceed(self, run: str) -> int:
        """Begin a run, or resume it, and return the exit status of the process."""
        begin = ("run", "plan.json", "--run", run, "--input", "topic=cats", *TOOLS)
        words = ("resume", run) if (self.path / ".stagec" / "runs" / f"{run}.run").exists() else begin
        environment = nursery.environment(**self.environment)
        with Path(os.devnull).open("r+b") as nothing, (self.path / "said").open("ab") as said:
            streams = (nothing.fileno(), said.fileno(), said.fileno())
            process = nursery.start((*words, *OPTIONS), self.path, environment, streams)
        self.watch(process.pid)
        return process.wait(_PATIENCE)

    def execute(self, *words: str) -> str:
        """Return what a command prints that must succeed."""
        ended = nursery.run(words, self.path, nursery.environment(**self.environment))
        assert ended.returncode == 0, ended.stdout.decode() + ended.stderr.decode()
        return ended.stdout.decode()

    def find_faults(self, kills: Sequence[Kill]) -> Iterator[str]:
        """Yield what is wrong, in the runs `whole` and `killed`, which were executed in this order."""
        asked = [each["messages"] for each in self.wire.asked]
        whole, killed = asked[:REQUESTS], asked[REQUESTS:]
        repeated = Counter(each.number for each in kills if not each.is_call)
        if killed != [each for at, each in enumerate(whole) for _ in range(1 + repeated[at])]:
            yield f"{len(killed)} requests are made: {[len(each) for each in killed]}"
        called = Counter((self.path / "calls").read_text(encoding="utf-8").split())
        if called != Counter(
            str(each) for each in (*range(ROUNDS), *range(ROUNDS), *(each.number for each in kills if each.is_call))
        ):
            yield f"the tool is called so often: {called}"
        listed = json.loads(self.execute("runs", "list", "--format", "json"))["runs"]
        used = {each["run"]: each["usage"] for each in listed}
        if used["killed"] != used["whole"]:
            yield f"what is used differs: {used}"
        sums = used["whole"]["requests"], used["whole"]["input"] + used["whole"]["output"]
        if sums != (REQUESTS, REQUESTS * TOKENS) or used["whole"]["cost"] is None:
            yield f"the sums are wrong: {used}"
        self.execute("runs", "replay", "killed")
