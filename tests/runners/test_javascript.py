"""The runner in JavaScript conforms, and does what stagec's machine does in random worlds."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from campaigns import choose
from plan_vectors.writing import DONE, Contents, complete, edge
from properties.random_stages import make_stages
from properties.random_world import World

from stagec.cli.commands.conformance import (
    PROFILES,
    JsonObject,
    RunnerProcess,
    ServedMachine,
    find_difference,
    judge,
    read_vectors,
)
from stagec.core.canonical import canonical, digest
from stagec.core.json import Object
from stagec.ir.plan import dump

TOP = Path(__file__).parents[2]
PACKAGE = TOP / "compiler" / "runners" / "javascript"
PLANS = sorted((TOP / "tests" / "plan_vectors").glob("*/plan.json"))
RUNS, EVENTS = choose(3, whole=200), 200
VECTORS = tuple(read_vectors())[:: choose(4, full=2, whole=1)]
MOST_LINES, WIDEST = 1_200, 120
COMMENTS = ("//", "/*", "*")

pytestmark = pytest.mark.needs("node")


@pytest.fixture(scope="module")
def program() -> Iterator[RunnerProcess]:
    with closing(RunnerProcess(("node", str(PACKAGE / "bin" / "stagec-runner.js")))) as conversation:
        yield conversation


def test_it_conforms(program: RunnerProcess) -> None:
    assert program.profiles == PROFILES
    failed = [each for each in judge(program.ask, VECTORS) if each.difference is not None]
    assert failed == []


def test_it_does_what_the_machine_does_in_random_worlds(program: RunnerProcess) -> None:
    steps = 0
    for seed in range(RUNS):
        random = Random(seed)
        made = [dump(make_stages(random)) for _ in range(3)]
        for data in (*(path.read_bytes() for path in PLANS), *made):
            steps += agree(program, data, Random(seed))
    assert steps >= choose(200, whole=20_000)


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ({"temperature": 0.5, "outputTokens": 100, "milliseconds": 1, "attempts": 1000}, "loaded"),
        ({}, "loaded"),
        ({"temperature": 2.5}, "refused"),
        ({"attempts": 0}, "refused"),
        ({"milliseconds": 1.5}, "refused"),
        ({"retries": 1}, "refused"),
    ],
)
def test_it_takes_the_policies_that_the_machine_takes(
    policy: Mapping[str, Any], wanted: str, program: RunnerProcess
) -> None:
    told = json.loads(PLANS[0].read_bytes())["plan"]
    acts = [node["act"] for node in told["nodes"].values() if node["act"]["is"] in {"prompt", "converse"}]
    for act in acts:
        act |= {"model": "openai:gpt-5.4", "policy": policy}
    plan = offer(told)
    assert acts
    assert [each(plan)["is"] for each in (ServedMachine().reply, program.ask)] == [wanted, wanted]


def offer(payload: Any) -> JsonObject:
    """Return the message that offers a plan."""
    data = canonical(payload)
    return {"is": "plan", "file": f'{{"digest":"{digest(data)}","plan":{data.decode()}}}\n'}


@pytest.mark.parametrize(
    "schema",
    [
        '{"$schema":"https://example.com/dialect"}',
        '{"$schema":"http://json-schema.org/draft-07/schema#","format":"iri"}',
        '{"properties":{"name":{"pattern":"(?P<name>a)"}}}',
        '{"patternProperties":{"(?P<name>a)":{}}}',
        '{"$id":"http://[","type":"object"}',
    ],
)
def test_it_refuses_a_schema_that_it_cannot_judge(schema: str, program: RunnerProcess) -> None:
    told = json.loads(PLANS[0].read_bytes())["plan"]
    name = digest(schema.encode())
    told["contents"][name] = schema
    told["inputs"] = {"more": {"schema": name}}
    assert program.ask(offer(told))["is"] == "refused"


MISFITS = {
    **dict.fromkeys(("date", "time", "date-time", "email", "ipv4", "ipv6", "uri", "json-pointer", "uuid", "none"), "x"),
    "hostname": "_",
    "regex": "[",
    "uri-reference": "\\",
    "relative-json-pointer": "x",
    "iri": "\\ x",
    "iri-reference": "\\ ",
    "idn-email": "x",
    "idn-hostname": "-",
    "uri-template": "{",
}
"""For each format a text that is not in it."""


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07", "draft/2019-09"])
@pytest.mark.parametrize("word", MISFITS)
def test_it_judges_formats_in_the_drafts_in_which_the_machine_does(
    draft: str, word: str, program: RunnerProcess
) -> None:
    told = json.loads((TOP / "tests" / "plan_vectors" / "words" / "plan.json").read_bytes())["plan"]
    top = "https" if "/" in draft else "http"
    schema = json.dumps({"$schema": f"{top}://json-schema.org/{draft}/schema", "format": word})
    told["contents"][digest(schema.encode())] = schema
    told["inputs"] = {"given": {"schema": digest(schema.encode())}}
    message = {"is": "event", "event": {"is": "start", "run": "r", "inputs": {"given": MISFITS[word]}}}
    machine = ServedMachine()
    machine.reply(offer(told))
    is_judged = machine.reply(message)["outcome"] is not None
    if program.ask(offer(told))["is"] == "refused":
        assert is_judged
    else:
        assert (program.ask(message)["outcome"] is not None) is is_judged


def write(nodes: JsonObject, contents: Contents, **more: Any) -> JsonObject:
    """Return the message that offers a plan of prompts, which begins with the first of them."""
    plan = {"id": "p", "names": {"node": "step", "outcome": "intent"}, "entries": {"": next(iter(nodes))}, "entry": ""}
    return offer(complete({**plan, "limits": {"executions": 4}, "nodes": nodes, **more}, contents))


def ask_both(program: RunnerProcess, plan: JsonObject, *answers: tuple[str, Any]) -> Object:
    """Return what follows from answers, the last of which both the machine and the program take alike."""
    events: list[JsonObject] = [{"is": "start", "run": "r", "inputs": {}}]
    events += [{"is": "answer", "to": f"r/{key}", "answer": answer} for key, answer in answers]
    machine = ServedMachine()
    assert [machine.reply(plan)["is"], program.ask(plan)["is"]] == ["loaded", "loaded"]
    for event in events:
        message = {"is": "event", "event": event}
        told = json.loads(json.dumps(machine.reply(message)))
        assert find_difference(told, program.ask(message)) is None
    return told


CLOSING = {"is": "intent", "field": ["action"], "intents": ["closing"]}
CLEAN = {"command": "true", "success": {"kind": "empty"}, "pattern": "unclean"}


def test_the_first_node_for_an_element_follows_no_node_that_a_failed_validation_could_repeat(
    program: RunnerProcess,
) -> None:
    contents = Contents()
    for_each = {"is": "each", "list": ["answer", "all"], "most": 2, "nodes": ["each"]}
    nodes: JsonObject = {
        name: {
            "act": {"is": "prompt", "prompt": contents.template(name)},
            "gate": CLOSING,
            "edges": [edge("closing", target)],
            **({"validation": {"conditions": [{"validator": "clean"}]}} if name == "each" else {}),
        }
        for name, target in (("list", for_each), ("each", DONE))
    }
    answers = [
        ("list#1/1.0", {"answer": {"action": "closing", "all": [1]}}),
        ("each#1/1.0", {"answer": {"action": "closing"}}),
        ("each#1/1.1", {"exit": 1}),
    ]
    last = ask_both(program, write(nodes, contents, validators={"clean": CLEAN}), *answers)
    assert [each["key"] for each in last["requests"]] == ["r/each#2/1.0"]


def test_a_prompt_after_a_failure_has_what_extractors_find_also_where_that_is_nothing(program: RunnerProcess) -> None:
    contents = Contents()
    validation = {"conditions": [{"validator": "clean"}], "prompts": {"unclean": contents.template(["failure"])}}
    node = {
        "act": {"is": "prompt", "prompt": contents.template("Go.")},
        "gate": CLOSING,
        "edges": [edge("closing", DONE)],
        "validation": validation,
    }
    clean = {**CLEAN, "extract": {"9": "exitCode", "10": "stdout", "none": "nobody"}}
    answers = [("go#1/1.0", {"answer": {"action": "closing"}}), ("go#1/1.1", {"exit": 1, "stdout": "x"})]
    last = ask_both(program, write({"go": node}, contents, validators={"clean": clean}), *answers)
    assert [each["prompt"] for each in last["requests"]] == ['{"10":"x","9":1,"none":null}']


@pytest.mark.parametrize(
    ("kind", "settings", "is_done"),
    [
        ("count:iteration", {"maxIterations": 1}, True),
        ("count:iteration", {"maxIterations": 0.5}, False),
        ("count:iteration", {"maxIterations": "1"}, False),
        ("count:check", {"maxChecks": 0.5}, False),
        ("detect:keyword", {"verdictKeyword": 1}, False),
        ("detect:structured", {"signalType": "end", "requiredFields": ["why"]}, True),
        ("detect:structured", {"signalType": "end", "requiredFields": [1]}, False),
        ("detect:structured", {"signalType": "end", "requiredFields": "why"}, True),
        ("detect:structured", {"signalType": "end", "requiredFields": 1}, True),
        ("meta:composite", {"conditions": "all"}, False),
        ("meta:composite", {"conditions": [7, {"type": "count:check", "config": {"maxChecks": 1}}]}, True),
        ("meta:composite", {"conditions": [{"config": 7}, {"type": "detect:graph", "config": 7}]}, False),
    ],
)
def test_a_setting_of_another_form_counts_as_absent(
    kind: str, settings: JsonObject, program: RunnerProcess, *, is_done: bool
) -> None:
    contents = Contents()
    node = {
        "act": {"is": "prompt", "prompt": contents.template("Go.")},
        "gate": {"is": "judge"},
        "edges": [edge("verdict", DONE), edge("next", {"is": "go", "node": "go"})],
    }
    plan = write({"go": node}, contents, judge={"kind": kind, "settings": settings})
    last = ask_both(program, plan, ("go#1/1.0", {"answer": {"type": "end", "1": 1, "why": "1"}}))
    assert (last["outcome"] is not None) is is_done


def agree(program: RunnerProcess, data: bytes, random: Random) -> int:
    """Tell both the same random events of one run; return how many."""
    machine, plan = ServedMachine(), {"is": "plan", "file": data.decode()}
    assert machine.reply(plan) == program.ask(plan)
    world, known = World(json.loads(data)["plan"], random), dict[str, Any]()
    event: Mapping[str, Any] | None = world.start()
    for number in range(EVENTS):
        if event is None:
            return number
        message = {"is": "event", "event": event}
        told = json.loads(json.dumps(machine.reply(message)))
        assert find_difference(told, program.ask(message)) is None, event
        known |= {request["key"]: request for request in told["requests"]}
        event = choose_event(told, known, world, random)
    return EVENTS


def choose_event(
    told: Mapping[str, Any], known: Mapping[str, Any], world: World, random: Random
) -> Mapping[str, Any] | None:
    """Return what happens after a step; None when the run is over."""
    state, has_ended = told["state"], told["outcome"] is not None
    keys = [key for each in state["active"] for key in each["requests"]]
    if "statuses" in state and random.random() < (0.5 if has_ended else 0.01):
        return world.resume(state["statuses"])
    if has_ended or not keys:
        return None
    if random.random() < (0.02 if "statuses" in state else 0.003):
        return {"is": "cancel"}
    key = random.choice(keys)
    return {"is": "answer", "to": key, "answer": world.answer(known[key])}


def test_it_is_short_and_has_no_dependencies() -> None:
    files = [*PACKAGE.glob("src/*.js"), *PACKAGE.glob("bin/*.js")]
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if len(line) > WIDEST] == []
    code = [line for each in lines if (line := each.strip()) and not line.startswith(COMMENTS)]
    assert len(code) <= MOST_LINES
    assert "dependencies" not in json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))


@pytest.mark.skipif("STAGEC_DENO" not in os.environ, reason="STAGEC_DENO names no program")
def test_it_conforms_with_deno() -> None:
    words = (os.environ["STAGEC_DENO"], "run", "--allow-read", str(PACKAGE / "bin" / "stagec-runner.js"))
    with closing(RunnerProcess(words)) as conversation:
        found = [*judge(conversation.ask, read_vectors())]
    assert [each for each in found if each.difference is not None] == []


@pytest.mark.needs("npm")
def test_what_is_published_runs_without_the_checkout(tmp_path: Path) -> None:
    pack = ["npm", "pack", "--silent", "--pack-destination", str(tmp_path)]
    subprocess.run(pack, cwd=PACKAGE, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    runner = tmp_path / "package" / "bin" / "stagec-runner.js"
    with closing(RunnerProcess(("node", str(runner)))) as conversation:
        found = [*judge(conversation.ask, [each for each in read_vectors() if each.profile == "stages"])]
    assert [each.difference for each in found if each.difference is not None] == []
