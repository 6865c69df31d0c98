"""Deep plans, scenarios, inputs and journals, and those that mean harm: each is refused, none is an error of ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from campaigns import sample
from handmade import stages as made_of_stages
from handmade import steps as made_of_steps
from playable import STEPS, steps

from stagec.core.place import Pointer
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.loader import PlanError, read_frame, write_frame
from stagec.runtime.drivers.local.journal_file import dump_records
from stagec.runtime.machine.program import verify

DEEP = 100_000
ROOM = 64 * 1024
"""Zeros behind the records of a journal."""
SHAPES = {
    "arrays": "[" * DEEP + "]" * DEEP,
    "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "open arrays": "[" * DEEP,
    "open objects": '{"a":' * DEEP,
    "beyond a thousand": "[" * 1_100 + "]" * 1_100,
    "beyond a plan": "[" * 120 + "]" * 120,
    "pieces": '[{"is":"each","path":["ctx"],"body":' * DEEP + "[]" + "}]" * DEEP,
    "pieces beyond a plan": '[{"is":"each","path":["ctx"],"body":' * 120 + "[]" + "}]" * 120,
    "members": "{" + ",".join(f'"{at}":0' for at in range(100_000)) + "}",
    "one number": "9" * 900_000,
    "an exponent": "1e" + "9" * 900_000,
    "one text": '"' + "x" * 900_000 + '"',
    "half a character": '"\\ud800"',
}
COMMANDS = ["verify", "plan", "run", "simulate"]
INPUTS = ("--input", "topic=winter")


def places(plan: Plan) -> list[Pointer]:
    """Return every place inside a plan."""
    return list(_places(json.loads(read_frame(dump(plan))[1])))


def _places(given: Any) -> Iterator[Pointer]:
    waiting: list[tuple[Pointer, Any]] = [((), given)]
    for at, each in waiting:  # grows while it is walked
        yield at
        members = each.items() if isinstance(each, dict) else enumerate(each) if isinstance(each, list) else ()
        waiting.extend(((*at, key), inside) for key, inside in members)


def planted(plan: Plan, at: Pointer, text: str) -> bytes:
    """Return the file of a plan that has a text at a place, under the digest of its bytes."""
    whole = [json.loads(read_frame(dump(plan))[1])]
    inside: Any = whole
    way = (0, *at)
    for key in way[:-1]:
        inside = inside[key]
    inside[way[-1]] = "HERE"
    written = json.dumps(whole[0], ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return write_frame(written.replace('"HERE"', text).encode(errors="surrogatepass"))


@pytest.mark.parametrize("shape", [each for each in SHAPES if each != "one text"])
@pytest.mark.parametrize("make", [made_of_steps, made_of_stages])
def test_at_each_place_of_a_plan(make: Callable[[], Plan], shape: str) -> None:
    plan = make()
    for at in sample(places(plan), 12):
        with pytest.raises(PlanError):
            verify(planted(plan, at, SHAPES[shape]))


CONTENTS: dict[str, Any] = {
    "schema of arrays": SHAPES["arrays"],
    "schema of objects": '{"not":' * DEEP + "{}" + "}" * DEEP,
    "references that double": {
        "$ref": "#/$defs/0",
        "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)} | {"60": {}},
    },
    "pattern": {"pattern": r"(?:\p{L}{99}){99}"},
    "a reference to itself": {"$ref": "#"},
    "a reference out": {"$ref": "file:///etc/passwd"},
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", CONTENTS)
def test_a_schema_of_a_plan(write: Any, attack: Any, name: str, command: str) -> None:
    given = CONTENTS[name]
    write("p", dump(steps(schema=given if isinstance(given, str) else json.dumps(given))))
    ended = attack(*command.split()[1:], "p", *given_to(command), command=command.split(maxsplit=1)[0])
    assert ended.status == refused(command)


def refused(command: str) -> int:
    """Return the status with which a command refuses a plan."""
    return 1 if command in {"verify", "plan"} else 2


def given_to(command: str) -> tuple[str, ...]:
    return INPUTS if command in {"run", "simulate"} else ()


@pytest.mark.parametrize(("shape", "command"), sample([*product(SHAPES, COMMANDS)], 20, full=40))
def test_a_plan_that_is_something_else(write: Any, attack: Any, shape: str, command: str) -> None:
    for data in (write_frame(SHAPES[shape].encode()), SHAPES[shape].encode()):
        write("p", data)
        ended = attack(*command.split()[1:], "p", *given_to(command), command=command.split(maxsplit=1)[0])
        assert ended.status == refused(command)


PLACES = {
    "answer": "answers: {{draft: [{{action: repeat, more: {}}}, {{action: next}}], close: {{action: closing}}}}",
    "answers": "answers: {{draft: {}, close: {{action: closing}}}}",
    "input": "inputs: {{topic: {}}}\nanswers: {{draft: {{action: next}}, close: {{action: closing}}}}",
    "command": "commands: {{exit 0: {}}}",
    "tools": "tools: {{Read: {}}}",
    "judge": "judge: {}",
    "whole": "{}",
}


@pytest.mark.parametrize(
    ("shape", "place", "suffix"), sample([*product(SHAPES, PLACES, ["json", "yaml"])], 40, full=40)
)
def test_a_scenario(write: Any, attack: Any, shape: str, place: str, suffix: str) -> None:
    write("p", dump(steps()))
    text = PLACES[place].format(SHAPES[shape])
    if suffix == "json":
        text = json.dumps({"answers": {"draft": "HERE", "close": {"action": "closing"}}}).replace(
            '"HERE"', SHAPES[shape]
        )
    write(f"s.{suffix}", text)
    attack("p", "--scenario", f"s.{suffix}", *INPUTS, command="run", seconds=3.0, megabytes=500.0)


@pytest.mark.parametrize(("shape", "how"), sample([*product(SHAPES, ["file", "argument"])], 14))
def test_an_input(write: Any, attack: Any, shape: str, how: str) -> None:
    write("p", dump(steps()))
    write("s.yaml", STEPS)
    write("i.json", f'{{"topic":{SHAPES[shape]}}}')
    given = f"topic={SHAPES[shape][:100_000]}" if how == "argument" else "@i.json"
    attack("p", "--scenario", "s.yaml", "--input", given, command="run", seconds=3.0, megabytes=300.0)


def journal(path: Path, *payloads: str, plan: bytes | None = None, beside: str | None = None) -> None:
    """Write a journal in which every digest is right, whatever is in it."""
    held = dump(steps()) if plan is None else plan
    first = json.dumps({"digest": json.loads(dump(steps()))["digest"], "facts": {}}) if beside is None else beside
    data, _ = dump_records([first.encode() + b"\n" + held, *(each.encode(errors="surrogatepass") for each in payloads)])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data + bytes(ROOM))


STARTED = json.dumps({"is": "started", "run": "r", "entry": None, "inputs": {"topic": "winter"}})
KEY = "r/0/draft.1/1/ask"


def events() -> dict[str, tuple[str, ...]]:
    """Return what events of a journal can be instead of what stagec writes."""
    answered = json.dumps({"is": "answered", "key": KEY, "answer": "HERE"})
    found: dict[str, tuple[str, ...]] = {}
    for name, text in SHAPES.items():
        found[f"event of {name}"] = (text,)
        found[f"inputs of {name}"] = (STARTED.replace('"winter"', text),)
        found[f"answer of {name}"] = (STARTED, answered.replace('"HERE"', text))
        found[f"key of {name}"] = (STARTED, answered.replace(json.dumps(KEY), text))
    found["twice begun"] = (STARTED, STARTED)
    found["nothing begun"] = (answered,)
    found["cancelled before it began"] = (json.dumps({"is": "cancelled", "reason": "no"}),)
    found["cancelled for a long reason"] = (STARTED, json.dumps({"is": "cancelled", "reason": "\x1b[31m" * 100_000}))
    found["no such entry"] = (STARTED.replace("null", '"nowhere"'),)
    found["no such input"] = (STARTED.replace("topic", "other"),)
    found["another run"] = (STARTED.replace('"r"', '"' + "x" * 100_000 + '"'),)
    found["many"] = (STARTED, *(answered.replace(KEY, f"r/0/draft.{at}/1/ask") for at in range(5_000)))
    for odd in ("NaN", "-Infinity", "1e999", "-0", "null", "[]", '{"answer":{"action":"next"}}', '{"error":{}}'):
        found[f"answer {odd}"] = (STARTED, answered.replace('"HERE"', odd))
    for odd in ("r/0/draft.1/1", "r", "", "/////", f"r/0/draft.1/{'9' * 5_000}/ask", "other/0/draft.1/1/ask", "r/-1"):
        found[f"key {odd[:30]}"] = (STARTED, answered.replace(KEY, odd))
    return found


EVENTS = events()
READERS = ["runs list", "runs show", "runs export", "runs replay", "resume", "runs cancel"]
"""What reads the journal of a run."""


def look(attack: Any, reader: str, **more: Any) -> Any:
    command, *rest = reader.split()
    named = () if reader == "runs list" else ("one",)
    return attack(*rest, *named, command=command, seconds=3.0, megabytes=500.0, **more)


@pytest.mark.parametrize(("name", "reader"), sample([*product(EVENTS, READERS)], 80, full=160))
def test_a_journal_of_odd_events(project: Path, attack: Any, name: str, reader: str) -> None:
    journal(project / ".stagec" / "runs" / "one.run", *("\n" + each for each in EVENTS[name]))
    look(attack, reader)


def test_a_journal_in_which_nothing_begins_is_damaged(project: Path, attack: Any) -> None:
    journal(project / ".stagec" / "runs" / "one.run", *("\n" + each for each in EVENTS["nothing begun"]))
    assert "damaged: no event of it begins the run" in look(attack, "resume").err


BESIDE = {
    **{name: text for name, text in SHAPES.items() if name != "half a character"},
    "no facts": '{"digest":"x"}',
    "odd facts": json.dumps({"digest": json.loads(dump(steps()))["digest"], "facts": {"scenario": "../" * 90_000}}),
    "nothing": "",
}


@pytest.mark.parametrize(("name", "reader"), sample([*product(BESIDE, READERS)], 20, full=40))
def test_a_journal_with_something_else_beside_its_plan(project: Path, attack: Any, name: str, reader: str) -> None:
    journal(project / ".stagec" / "runs" / "one.run", "\n" + STARTED, beside=BESIDE[name])
    look(attack, reader)


@pytest.mark.parametrize(("shape", "reader"), sample([*product(SHAPES, READERS)], 20, full=40))
def test_a_journal_of_another_plan(project: Path, attack: Any, shape: str, reader: str) -> None:
    plan = write_frame(SHAPES[shape].encode())
    beside = json.dumps({"digest": plan[11:82].decode(), "facts": {}})
    journal(project / ".stagec" / "runs" / "one.run", "\n" + STARTED, plan=plan, beside=beside)
    ended = look(attack, reader)
    assert ended.status == (0 if reader == "runs list" else 2)
