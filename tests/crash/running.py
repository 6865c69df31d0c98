"""What runs meet that resists: programs, servers, models and stages that neither answer nor end."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from playable import stages, steps

from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.document import Plan, Server, Tool
from stagec.ir.plan.facts import facts
from stagec_dev.checkout import plans

STUBBORN = "trap '' TERM INT; (sleep 600) & sleep 600"
_SERVER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
_WORLD = """\
import json, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.Popen(["sleep", "600"])
sys.stdin.readline()
print(json.dumps({"is": "ready", "protocol": "stagec.world/1", "answers": ["ask", "turn"]}), flush=True)
time.sleep(600)
"""
_SHELL = json.dumps({"command": STUBBORN})
_SCENARIO = f"conversations: {{plan: [{{calls: [{{tool: Bash, arguments: {_SHELL}}}]}}]}}\n"
_INPUT = ("--input", "topic=winter")
_STUBBORN_PYTHON = (sys.executable, "-c", _SERVER)
RESISTING: Mapping[str, tuple[str, ...]] = {
    "world": ("run", "plan", *_INPUT, "--world-command", f"{sys.executable} world.py"),
    "world that is mute": ("run", "plan", *_INPUT, "--world-command", f"{sys.executable} -c '{_SERVER}'"),
    "model": ("run", "plan", *_INPUT, "--model", "openai:gpt"),
    "tools": ("run", "reader", "--scenario", "reader.yaml", "--tools-in", "out"),
    "servers": ("run", "served", *_INPUT, "--servers", "--answers", "deny"),
    "stages": ("run", "staged"),
    "resume": ("resume", "killed"),
    "replay": ("runs", "replay", "long"),
    "show": ("runs", "show", "long"),
    "export": ("runs", "export", "long"),
    "bounds": ("bounds", "staged", "plan"),
    "markers of a pipe": ("markers", "-"),
    "markers": ("markers", "log"),
    "checkpoints": ("checkpoint", "verify", "reports"),
}
"""Commands by name, each in the folder that `resist` has made."""


def _served() -> Plan:
    plan = steps()
    return replace(
        plan,
        servers={"s": Server(command=_STUBBORN_PYTHON[0], args=_STUBBORN_PYTHON[1:])},
        tools={"echo": Tool("mcp", "unknown", "s")},
    )


def _shelling() -> Plan:
    plan = stages()
    nodes = {name: replace(each, act=replace(each.act, tools=("Bash",))) for name, each in plan.nodes.items()}
    changed = replace(plan, nodes=nodes, tools={"Bash": Tool("bundled", "mutating")})
    return replace(changed, facts=facts(changed))


def resist(folder: Path) -> None:
    """Write what the commands of `RESISTING` are given, and the journals of two runs."""
    for name, plan in (("served", _served()), ("reader", _shelling())):
        (folder / name).write_bytes(dump(plan))
    (folder / "reader.yaml").write_text(_SCENARIO, encoding="utf-8")
    (folder / "world.py").write_text(_WORLD, encoding="utf-8")
    (folder / "log").write_text("[STAGE:begin:id=S01_a]\n[STAGE:progress:id=S01_a:pct=x]\n" * 20_000, encoding="utf-8")
    stage = {
        "goal": "Wait",
        "inputs": {},
        "outputs": {"a": "a.txt"},
        "maxDurationSec": 500,
        "dependencies": [],
        "retryable": True,
        "checkpointAfter": True,
        "run": ["sh", "-c", STUBBORN],
    }
    listed = [{"stageId": f"S0{number}_wait_long", **stage} for number in (1, 2)]
    (folder / "envelopes").mkdir()
    (folder / "envelopes/plan.json").write_text(
        json.dumps({"reportTitle": "waits", "stages": listed}), encoding="utf-8"
    )
    (folder / "staged").write_bytes(dump(*plans(folder / "envelopes")))
    manifests = folder / "reports/waits/run-1/checkpoints"
    manifests.mkdir(parents=True)
    for number in range(300):
        (manifests / f"ckpt-{number}.json").write_text(
            json.dumps({"stageId": "S01_wait_long", "checkpointId": "c", "artifacts": []})
        )
    _begin_runs(folder)


def _begin_runs(folder: Path) -> None:
    """Keep a long run that has ended, and one that was killed."""
    (folder / "long.yaml").write_text(
        "inputs: {topic: winter}\nanswers:\n"
        f"  draft: [{', '.join(['{action: repeat}'] * 15)}, {{action: next}}]\n  close: [{{action: closing}}]\n",
        encoding="utf-8",
    )
    (folder / "quick").write_bytes(dump(steps()))
    words = [sys.executable, "-m", "stagec", "run"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "compiler")}
    long = [*words, "quick", "--run", "long", "--scenario", "long.yaml"]
    subprocess.run(long, cwd=folder, env=environment, check=True, capture_output=True)
    killed = subprocess.Popen(
        [*words, "plan", "--run", "killed", *_INPUT, "--world-command", f"{sys.executable} world.py"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(1)
    killed.kill()
    killed.wait()


class SilentHost:
    """A host of models that takes every connection and says nothing."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=4_000)

    @property
    def variables(self) -> dict[str, str]:
        """What leads to it."""
        return {"OPENAI_BASE_URL": f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1", "OPENAI_API_KEY": "none"}

    def close(self) -> None:
        """Take no more connections."""
        self._socket.close()


def find_processes(folder: Path) -> Iterator[str]:
    """Yield the command lines of processes that work in a folder; nothing where the system does not tell."""
    for each in Path("/proc").glob("[0-9]*") if sys.platform == "linux" else ():
        try:
            if each.joinpath("cwd").readlink().is_relative_to(folder) and int(each.name) != os.getpid():
                yield each.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
