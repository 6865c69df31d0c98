"""Policies of nodes: from stage files and configurations into plans, and from plans into requests to models."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nursery
import pytest
from world.models.wire import Said, Wire, serve

SCHEMAS, COMPILER = (Path(__file__).parents[2] / name for name in ("schemas", "compiler"))
WRITE = """---
id: write
name: Write
allowedTools: []
completionTool: submit_page
completionSchema: {type: object, required: [page], properties: {page: {type: string}}}
retryPolicy: {maxAttempts: 1, backoff: none}
turnCap: 3
resolutionPolicy: fail
---
Write a page, then call `submit_page`.
"""
POLICY = """stagec:
  policy: {model: "openai:gpt-4o", temperature: 0.25, maxOutputTokens: 321, requestTimeout: 20, requestAttempts: 2}
"""
PLANNED = {"temperature": 0.25, "outputTokens": 321, "milliseconds": 20_000, "attempts": 2}
WRITTEN = Said("I write.", [("c", "submit_page", '{"page": "docs/a.md"}')])
QUICK = ("--model-policy", "first-pause=0.01", "--model-policy", "longest-pause=0.05")

RUN = ("run", "plan.json", "--model", "openai:other")

Stagec = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Any]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a pipeline of one stage with a policy, and more files; return the plan of its only node, compiled."""

    def make(policy: str = POLICY, pipeline: str = "", **files: str) -> Any:
        (tmp_path / "write.md").write_text(WRITE.replace("---\nWrite", f"{policy}---\nWrite"))
        (tmp_path / "pipeline.yaml").write_text(f"id: writing\nentry: write\nstages: [write.md]\n{pipeline}")
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        ended = nursery.run(("compile", ".", "-o", "plan.json"), tmp_path, nursery.environment())
        assert ended.returncode == 0, ended.stderr.decode()
        return json.loads((tmp_path / "plan.json").read_text())["plan"]["nodes"]["write"]["act"]

    return make


@pytest.fixture
def wires() -> Iterator[Callable[..., Wire]]:
    """Open servers that speak the wire format of OpenAI and Anthropic."""
    opened = []

    def open_wire(*script: Said) -> Wire:
        opened.append(serve(*script))
        return opened[-1].__enter__()

    yield open_wire
    for each in opened:
        each.__exit__(None, None, None)


@pytest.fixture
def stagec(tmp_path: Path) -> Stagec:
    def run(wire: Wire | None, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        url = wire.url if wire is not None else "http://127.0.0.1:9"
        servers = {"OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url}
        keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "key")
        ended = nursery.run(words, tmp_path, nursery.environment(**servers, **keys, **more))
        return subprocess.CompletedProcess(words, ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return run


def test_the_policy_of_a_stage_file_is_in_the_plan(write: Write) -> None:
    act = write()
    assert (act["model"], act["policy"]) == ("openai:gpt-4o", PLANNED)


def test_a_stage_without_a_policy_has_none_in_the_plan(write: Write) -> None:
    assert not {"model", "policy"} & write("").keys()


def test_a_pipeline_says_the_policy_of_a_stage(write: Write) -> None:
    assert write("", "policy:\n  write: {temperature: 1, requestTimeout: 1.1}\n")["policy"] == {
        "temperature": 1,
        "milliseconds": 1_100,
    }


@pytest.mark.parametrize("model", ["openai:gpt-4o", "anthropic:claude-sonnet-4-5"])
def test_a_request_has_the_temperature_and_the_tokens_of_the_plan(
    model: str, write: Write, stagec: Stagec, wires: Callable[..., Wire]
) -> None:
    write(POLICY.replace("openai:gpt-4o", model))
    ended = stagec(wire := wires(WRITTEN), *RUN)
    assert ended.returncode == 0, ended.stderr
    [asked] = wire.asked
    tokens = asked.get("max_tokens") or asked["max_completion_tokens"]
    assert (asked["model"], asked["temperature"], tokens) == (model.partition(":")[2], 0.25, 321)


def test_a_request_without_a_policy_has_no_temperature(
    write: Write, stagec: Stagec, wires: Callable[..., Wire]
) -> None:
    write("")
    stagec(wire := wires(WRITTEN), "run", "plan.json", "--model", "openai:gpt-4o")
    assert not {"temperature", "max_tokens", "max_completion_tokens"} & wire.asked[0].keys()


def test_attempts_are_those_of_the_plan(write: Write, stagec: Stagec, wires: Callable[..., Wire]) -> None:
    write()
    ended = stagec(wire := wires(Said(status=500)), *RUN, *QUICK, "--model-policy", "attempts=5")
    assert (ended.returncode, len(wire.asked)) == (130, 2), ended.stderr
    assert "server-error, 2 attempts in" in ended.stderr


def test_what_is_said_of_the_node_precedes_the_plan(write: Write, stagec: Stagec, wires: Callable[..., Wire]) -> None:
    write()
    own = ("--model-policy", "node:write.attempts=3", "--model", "node:write=openai:gpt-4.1")
    ended = stagec(wire := wires(Said(status=500)), *RUN, *QUICK, *own)
    assert (ended.returncode, [each["model"] for each in wire.asked]) == (130, ["gpt-4.1"] * 3), ended.stderr


def test_the_time_of_a_request_is_that_of_the_plan(write: Write, stagec: Stagec, wires: Callable[..., Wire]) -> None:
    write(POLICY.replace("requestTimeout: 20", "requestTimeout: 0.4"))
    begun = time.monotonic()
    late = Said("I write.", WRITTEN.calls, delay=20)
    ended = stagec(wires(late), *RUN, *QUICK)
    assert (ended.returncode, "timeout, 2 attempts in" in ended.stderr) == (130, True), ended.stderr
    assert time.monotonic() - begun < 20


def test_a_request_may_take_longer_than_usual(write: Write, stagec: Stagec, wires: Callable[..., Wire]) -> None:
    write(POLICY.replace("requestTimeout: 20", "requestTimeout: 30"))
    usual = ("--model-policy", "request-timeout=0.2", "--model-policy", "attempts=1")
    ended = stagec(wires(Said("I write.", WRITTEN.calls, delay=0.6)), *RUN, *usual)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("models", "asked"),
    [((), []), (("--model", "sonnet=openai:a"), []), (("--model", "opus=openai:b", "--model", "openai:c"), ["b"])],
)
def test_a_name_of_a_model_is_looked_up_in_the_models_of_the_run(
    models: tuple[str, ...], asked: list[str], write: Write, stagec: Stagec, wires: Callable[..., Wire]
) -> None:
    write("stagec:\n  policy: {model: opus}\n")
    ended = stagec(wire := wires(WRITTEN), "run", "plan.json", *models)
    assert ([each["model"] for each in wire.asked], ended.returncode) == (asked, 0 if asked else 2), ended.stderr
    assert ("; or a model does: --model PROVIDER:NAME" in ended.stderr) == (not asked)


@pytest.mark.parametrize("model", ["openai:o3", "openai:gpt-5.5", "anthropic:claude-opus-4-8"])
def test_a_model_that_takes_no_temperature_is_refused_before_the_run(
    model: str, write: Write, stagec: Stagec, wires: Callable[..., Wire]
) -> None:
    write()
    ended = stagec(wire := wires(WRITTEN), *RUN, "--model", f"node:write={model}")
    assert (ended.returncode, wire.asked) == (2, [])
    wanted = f"'{model}' takes no temperature, and stage 'write' asks it with 0.25: remove it, or choose another model"
    assert wanted in ended.stderr


LIBRARY = """import json, os, time

class Settings: ...

class CommonParams:
    def __init__(self):
        self.model, self.cpuparams, self.cpuparams_batch = Settings(), Settings(), Settings()

class Server:
    def __init__(self, params): ...
    def handle_chat_completions(self, request, take):
        with open("asked.jsonl", "a") as file:
            file.write(json.dumps(request) + "\\n")
        time.sleep(SECONDS)
        take({"choices": [{"delta": {"content": json.dumps({"page": "a"})}, "finish_reason": "stop"}]})
"""


@pytest.mark.parametrize(("seconds", "status", "times"), [(0, 0, 1), (60, 130, 2)])
def test_a_model_of_this_machine_is_asked_so_too(
    seconds: int, status: int, times: int, write: Write, stagec: Stagec, tmp_path: Path
) -> None:
    """Its library is a stand-in that writes down what it is asked; one that takes too long is asked again."""
    time_limit = "requestTimeout: 20" if status == 0 else "requestTimeout: 0.5"
    write(POLICY.replace("requestTimeout: 20", time_limit))
    (tmp_path / "xllamacpp.py").write_text(LIBRARY.replace("SECONDS", str(seconds)))
    (tmp_path / "model.gguf").write_text("")
    own = ("--model", "node:write=local:model.gguf", *QUICK)
    ended = stagec(None, "run", "plan.json", *own, PYTHONPATH=f"{COMPILER}:{tmp_path}")
    assert ended.returncode == status, ended.stderr
    asked = [json.loads(line) for line in (tmp_path / "asked.jsonl").read_text().splitlines()]
    assert [(each["temperature"], each["max_tokens"]) for each in asked] == [(0.25, 321)] * times


def test_a_program_that_answers_is_told_the_policy(write: Write, stagec: Stagec, tmp_path: Path) -> None:
    write()
    program = """import json, sys
for line in sys.stdin:
    told = json.loads(line)
    if told["is"] == "hello":
        print(json.dumps({"is": "ready", "protocol": told["protocol"], "answers": ["turn"]}), flush=True)
    elif told["is"] == "turn":
        open("told.json", "w").write(line)
        calls = [{"id": "1", "tool": "submit_page", "arguments": {"page": "a"}}]
        print(json.dumps({"key": told["key"], "answer": {"calls": calls}}), flush=True)
"""
    (tmp_path / "world.py").write_text(program)
    ended = stagec(None, "run", "plan.json", "--world-command", "python3 world.py")
    assert ended.returncode == 0, ended.stderr
    told = json.loads((tmp_path / "told.json").read_text())
    assert (told["model"], told["policy"]) == ("openai:gpt-4o", PLANNED)


def test_a_page_of_the_node_shows_the_policy(write: Write, stagec: Stagec) -> None:
    write()
    shown = stagec(None, "plan", "plan.json", "--node", "write").stdout
    for each in ("model openai:gpt-4o", "temperature 0.25", "at most 321 tokens in a response", "at most 20 s for a"):
        assert each in shown


def test_the_handbook_tells_the_policy(write: Write, stagec: Stagec, tmp_path: Path) -> None:
    write()
    assert stagec(None, "handbook", ".", "-o", "book").returncode == 0
    told = "".join(each.read_text() for each in (tmp_path / "book").rglob("*.html"))
    assert "It is asked with temperature 0.25, at most 321 tokens in a response" in told


def test_the_tokens_of_a_response_bound_a_run(write: Write, stagec: Stagec) -> None:
    write()
    shown = json.loads(stagec(None, "bounds", "plan.json", "--format", "json").stdout)
    [entry] = shown["flows"][0]["entries"]
    assert (entry["turns"]["most"], entry["outputTokens"]["most"]) == (3, 3 * 321)


def test_a_change_of_a_policy_is_compatible_and_told(write: Write, stagec: Stagec, tmp_path: Path) -> None:
    write()
    (tmp_path / "plan.json").rename(tmp_path / "old.json")
    write(POLICY.replace("temperature: 0.25, ", "").replace("321", "500").replace("gpt-4o", "gpt-4.1"))
    [flow] = json.loads(stagec(None, "diff", "old.json", "plan.json", "--format", "json").stdout)["flows"]
    assert {(each["topic"], each["action"], each["name"]) for each in flow["changes"]} == {
        ("model", "changed", ""),
        ("policy", "removed", "temperature"),
        ("policy", "changed", "outputTokens"),
    }
    ended = stagec(None, "breaking", "plan.json", "--against", "old.json")
    assert (ended.returncode, "CHG248" in ended.stdout) == (0, True), ended.stdout


def test_patterns_of_the_configuration_fill_what_a_stage_does_not_say(write: Write) -> None:
    """The last pattern that matches counts, setting by setting; the stage itself precedes all of them."""
    configured = """[node-policies]
"wr*" = { model = "opus", temperature = 1, request-timeout = 5, request-attempts = 7 }
"w????" = { temperature = 1.5, max-output-tokens = 50 }
"other" = { temperature = 0.1 }
"""
    act = write("stagec:\n  policy: {requestTimeout: 20}\n", stagec_toml=configured)
    assert (act["model"], act["policy"]) == (
        "opus",
        {"temperature": 1.5, "outputTokens": 50, "milliseconds": 20_000, "attempts": 7},
    )


def test_a_pattern_precedes_the_usual_model_of_a_registry_and_no_step(tmp_path: Path, stagec: Stagec) -> None:
    own = {"model": "sonnet", "c2": "initial", "c3": "b", "name": "B", "stepKind": "closure", "stepId": "initial.b"}
    step = {"stepId": "initial.a", "name": "A", "c2": "initial", "c3": "a", "stepKind": "closure"}
    steps = {"initial.a": step, "initial.b": own}
    registry = {"agentId": "a", "version": "1.0.0", "c1": "steps", "entryStep": "initial.a", "steps": steps}
    (tmp_path / "steps_registry.json").write_text(json.dumps(registry))
    for name in ("a", "b"):
        prompt = tmp_path / "prompts" / "steps" / "initial" / name / "f_default.md"
        prompt.parent.mkdir(parents=True)
        prompt.write_text("Do it.\n")
    (tmp_path / "stagec.toml").write_text('[node-policies]\n"initial.*" = { model = "haiku", temperature = 0 }\n')
    ended = stagec(None, "compile", ".", "-o", "plan.json")
    assert ended.returncode == 0, ended.stderr
    nodes = json.loads((tmp_path / "plan.json").read_text())["plan"]["nodes"]
    acts = {name: (node["act"]["model"], node["act"]["policy"]) for name, node in nodes.items()}
    assert acts == {"initial.a": ("haiku", {"temperature": 0}), "initial.b": ("sonnet", {"temperature": 0})}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("temprature = 0", "unknown key 'node-policies.w*.temprature'; did you mean 'temperature'?"),
        ("temperature = 2.1", "'node-policies.w*.temperature' must be a number from 0 to 2, found 2.1"),
        ("request-timeout = 0", "must be a number of seconds above 0, at most 86,400, found 0"),
        ("max-output-tokens = 0", "must be an integer of at least 1, found 0"),
    ],
)
def test_a_wrong_setting_of_the_configuration_is_told_with_its_line(
    written: str, told: str, tmp_path: Path, stagec: Stagec
) -> None:
    (tmp_path / "stagec.toml").write_text(f'# ours\n[node-policies]\n"w*" = {{ {written} }}\n')
    ended = stagec(None, "validate", ".")
    assert (ended.returncode, "stagec.toml:3: " in ended.stderr, told in ended.stderr) == (2, True, True), ended.stderr


def test_the_settings_of_all_places_have_the_same_bounds() -> None:
    """A plan, a stage and a configuration take the same values; seconds are milliseconds in plans."""
    schemas = {
        name: json.loads((SCHEMAS / f"{name}.schema.json").read_text())
        for name in ("plan", "world", "pipeline", "stage_definition", "stagec")
    }
    planned = schemas["plan"]["$defs"]["Policy"]["properties"]
    asked = schemas["world"]["$defs"]["policy"]["properties"]
    assert {**asked} == {**planned}
    staged = schemas["stage_definition"]["$defs"]["policy"]
    assert staged == schemas["pipeline"]["$defs"]["policy"]
    configured = schemas["stagec"]["properties"]["node-policies"]["additionalProperties"]["properties"]
    names = {"maxOutputTokens": "max-output-tokens", "requestTimeout": "request-timeout"}
    for name, each in staged["properties"].items():
        other = configured[{**names, "requestAttempts": "request-attempts"}.get(name, name)]
        for bound in ("minimum", "exclusiveMinimum"):
            assert each.get(bound) == other.get(bound)
    for name, most in (("temperature", 2), ("requestTimeout", 86_400), ("requestAttempts", 1000)):
        assert staged["properties"][name]["maximum"] == most
    assert planned["milliseconds"]["maximum"] == 1000 * staged["properties"]["requestTimeout"]["maximum"]
    assert (planned["temperature"]["maximum"], planned["attempts"]["maximum"]) == (2, 1000)


def test_settings_are_shown_with_their_origin(tmp_path: Path, stagec: Stagec) -> None:
    (tmp_path / "stagec.toml").write_text('[node-policies]\n"w*" = { temperature = 0 }\n')
    shown = stagec(None, "config", "show").stdout
    assert '[node-policies]\n"w*" = {"temperature" = 0}  # stagec.toml' in shown
