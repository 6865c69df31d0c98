"""Requests to an application without a network, and a folder of runs to ask about."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import handmade

from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.act import Command, Converse, Hole, Text
from stagec.ir.plan.document import Contents, Input, Limits, Names
from stagec.ir.plan.gate import Admission, Exists, ExitGate, VerdictGate
from stagec.ir.plan.node import Edge, Node, Outcome, Stop
from stagec.runtime.drivers.local import create
from stagec.runtime.drivers.local.drive import drive
from stagec.runtime.machine import Effect, Program, Started, load
from stagec.runtime.machine.exchange import Turn
from stagec.runtime.serve.folder_runs import FolderRuns, RunProcesses
from stagec.runtime.serve.run_source import ServeSetup
from stagec.runtime.serve.server import Access, App, make_application
from stagec.runtime.serve.watch import Watch

TOKEN, SESSION = "the-token-of-these-tests", "the-session-of-these-tests"
HOST, ORIGIN = "127.0.0.1:8642", "http://127.0.0.1:8642"
ACCESS = Access(
    frozenset({HOST, "localhost:8642"}), frozenset({ORIGIN, "http://localhost:8642"}), TOKEN, SESSION, "stagec"
)
OWN = {"host": HOST, "origin": ORIGIN, "cookie": f"other=1; stagec={SESSION}", "content-type": "application/json"}
"""What a browser sends that has shown the token."""


class Answer(NamedTuple):
    """What an application answers."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    app: App, path: str, body: bytes | None = None, headers: Mapping[str, str] = OWN, pieces: int = 1, method: str = ""
) -> Answer:
    """Send a request; one with a body is a POST, which comes in so many pieces."""
    target, _, query = path.partition("?")
    told: list[Any] = []
    rest = [b""] * pieces if body is None else [body[at::pieces] for at in range(pieces)]

    async def receive() -> Any:
        more = rest.pop(0) if rest else b""
        return {"type": "http.request", "body": more, "more_body": bool(rest)}

    async def send(message: Any) -> None:
        told.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method or ("GET" if body is None else "POST"),
        "scheme": "http",
        "path": target,
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), given.encode()) for name, given in headers.items()],
        "server": ("127.0.0.1", 8642),
        "client": ("127.0.0.1", 5),
    }
    asyncio.run(_within(app, scope, receive, send))
    answered = {name.decode(): given.decode() for name, given in told[0]["headers"]}
    return Answer(told[0]["status"], answered, b"".join(each.get("body", b"") for each in told[1:]))


async def _within(app: App, scope: Any, receive: Any, send: Any) -> None:
    await asyncio.wait_for(app(scope, receive, send), 30)


def post(app: App, path: str, given: object, **headers: str) -> Answer:
    return ask(app, path, json.dumps(given).encode(), {**OWN, **headers})


def serve_folder(folder: Path, said: list[str] | None = None, **setup: Any) -> tuple[App, Watch]:
    """Return the application for a folder of runs, which has been looked at once."""
    tell = (said if said is not None else []).append
    name_run = setup.pop("name_run", lambda name, _: folder / f"{name}.run")
    source = FolderRuns(folder, RunProcesses(setup.pop("options", ()), tell), name_run)
    watch = Watch(source)
    app, _ = make_application(ServeSetup(source, **setup), watch, ACCESS, tell)
    watch.look()
    return app, watch


def folder_of(watch: Watch) -> Path:
    """Return the folder that is watched."""
    assert isinstance(watch.source, FolderRuns)
    return watch.source.folder


def make_stages() -> Plan:
    """Return a plan of stages with a fork and a join, which needs nothing but models."""
    plan, nodes = handmade.stages(), {}
    for name, node in plan.nodes.items():
        assert isinstance(node.act, Converse)
        nodes[name] = replace(
            node, act=replace(node.act, completion="hand_in"), gate=VerdictGate(), admission=None, hooks={}
        )
    return handmade.completed(replace(plan, nodes=nodes, session=None))


def make_asking() -> Plan:
    """Return a plan of which the first stage asks before it acts."""
    plan = make_stages()
    asks = Admission("fail", "ask", block=(Exists(("ctx", "task"), present=True),))
    return handmade.completed(replace(plan, nodes={**plan.nodes, "plan": replace(plan.nodes["plan"], admission=asks)}))


def make_program(*words: str, ask_first: bool = False) -> Plan:
    """Return a plan of one program, with inputs of several types."""
    contents = Contents()

    def text(written: str) -> tuple[Text, ...]:
        return (Text(contents.add(written)),)

    schemas = {
        "count": '{"type":"integer","minimum":1}',
        "kind": '{"enum":["a","b"]}',
        "more": '{"type":"object","properties":{"list":{"type":"array"}}}',
    }
    node = Node(
        Command((*map(text, words), (Hole(("input", "count")),)), 30_000),
        ExitGate(),
        (Edge("closing", Stop(Outcome.DONE)), Edge("repeat", Stop(Outcome.FAILED))),
        admission=Admission("fail", "ask", block=(Exists(("input", "count"), present=True),)) if ask_first else None,
    )
    return handmade.completed(
        Plan(
            "a program",
            Names("step", "intent"),
            {"": "work", "other": "work"},
            {"work": node},
            contents.texts,
            Limits(5),
            entry="",
            inputs={
                name: Input(required=name == "count", schema=contents.add(schema)) for name, schema in schemas.items()
            },
        )
    )


class Obedient:
    """A world in which every model hands in the same result, and every other request succeeds."""

    def __init__(self, result: object) -> None:
        self.result = result

    def overlaps(self, _effect: Effect) -> bool:
        return False

    def cancel(self, key: str) -> None:
        """Cancel nothing."""

    def answer(self, effect: Effect) -> Any:
        if isinstance(effect, Turn):
            return {"text": "Done.", "calls": [{"id": "1", "tool": effect.completion, "arguments": self.result}]}
        return {"value": "fine", "granted": True, "yes": True, "done": True}


def run_plan(folder: Path, name: str, plan: Plan, result: object, **inputs: Any) -> Program:
    """Run a plan to its end."""
    data = dump(plan)
    program = load(data)
    journal = create(folder / f"{name}.run", data, program.digest)
    drive(program, journal, Obedient(result), Started(name, None, inputs))
    journal.close()
    return program
