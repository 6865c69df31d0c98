"""Names and texts that try to move the cursor, hide, command a build service, or drown everything else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from campaigns import sample

Registry = Callable[..., dict[str, Any]]
EVIL = {
    "escape": "\x1b[2J\x1b]0;owned\x07",
    "bell and backspace": "\x07\x08\x7f",
    "carriage return": "ok\rAll clear",
    "line feed": "ok\n::error::owned\n##[error]owned",
    "github": "::error file=x::owned",
    "azure": "##[error]owned",
    "azure vso": "##vso[task.complete result=Succeeded;]",
    "right to left": "\u202eabc\u2066\u200f",
    "joiners": "a\u200b\u200d\ufeff",
    "separators": "a\u2028b\u2029c\x85d",
    "combining": "a" + "\u0301" * 1_000,
    "C1": "\x9b31m\x90",
    "NUL": "a\0b",
    "lone surrogate": "\ud800",
    "astral": "\U0001f4a9" * 100,
    "tags": "\U000e0041\U000e007f",
    "percent": "%0A::error::x %s %n {0} {x}",
    "markup": "<script>alert(1)</script>",
    "quote": "'\"`\\",
    "empty": "",
    "blank": " ",
}
FORMATS = ("text", "concise", "json")


def shapes(name: str) -> dict[str, Any]:
    """Make a registry that has the name wherever a name can stand."""
    return {
        "agentId": name, "version": name, "c1": name, name or "-": 1, "entryStep": name,
        "entryStepMapping": {name: name}, "userPromptsBase": name, "schemasBase": name,
        "validators": {name: {"type": name, "failurePattern": name, name: 1}},
        "validationSteps": {name: {"validationConditions": [{"validator": name}], "onFailure": {"action": name}}},
        "steps": {
            name: {
                "stepId": name + "x", "type": name, "stepKind": name, "c2": name, "c3": name, name or "-": 1,
                "model": name, "outputSchemaRef": {"file": name, "schema": name},
                "structuredGate": {"allowedIntents": [name], "intentSchemaRef": name, "intentField": name},
                "transitions": {name: {"target": name + "y", "fallback": name + "z", name or "-": {}}},
            },
        },
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", EVIL.values(), ids=EVIL)
def test_evil_names(write: Any, attack: Any, name: str, form: str) -> None:
    write("steps_registry.json", shapes(name))
    ended = attack("--format", form)
    assert ended.status == 1
    assert form != "json" or json.loads(ended.out)["diagnostics"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", EVIL.values(), ids=EVIL)
def test_evil_names_as_they_are(write: Any, attack: Any, name: str, form: str) -> None:
    raw = json.dumps(shapes(name), ensure_ascii=False).encode(errors="surrogatepass")
    write("steps_registry.json", raw.replace(json.dumps(name)[1:-1].encode(), name.encode(errors="surrogatepass")))
    attack("--format", form)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", EVIL.values(), ids=EVIL)
def test_evil_words_without_quotes(write: Any, attack: Any, name: str, form: str) -> None:
    write("steps_registry.json", b'{"a": ' + name.encode(errors="surrogatepass") + b", b: 1}")
    assert attack("--format", form).status == 1


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", EVIL.values(), ids=EVIL)
def test_evil_schema_and_prompt(write: Any, attack: Any, registry: Registry, name: str, form: str) -> None:
    write("steps_registry.json", registry())
    schema = {"$schema": name, name: {"$ref": name}, "a": {"type": name, "pattern": f"({name}", "$ref": f"#/{name}"}}
    write("schemas/s.schema.json", schema)
    write("prompts/p.md", f"---\n{name}: {name}\n{name}: [{name}\n---\n".encode(errors="surrogatepass"))
    attack("--format", form)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", EVIL.values(), ids=EVIL)
def test_evil_files(write: Any, attack: Any, registry: Registry, name: str, form: str) -> None:
    safe = name.replace("\0", "").replace("/", "").replace("\ud800", "\udcff")[:60].strip() or "x"
    write(f"{safe}/steps_registry.json", registry())
    write(f"{safe}/schemas/{safe}.json", "{")
    write(f"{safe}/prompts/{safe}.md", "---\n")
    assert attack("--format", form).status == 1


@pytest.mark.parametrize("form", FORMATS)
def test_evil_files_named_by_hand(write: Any, attack: Any, form: str) -> None:
    for number, name in enumerate(sample(tuple(EVIL.values()), 4)):
        safe = name.replace("\0", "").replace("/", "").replace("\ud800", "\udcff")[:60].strip() or "x"
        write(f"{number}/{safe}.json", "{")
        ended = attack("--format", form, f"{number}/{os.fsdecode(os.fsencode(safe))}.json", f"{safe} is not there")
        assert ended.status in {1, 2}


@pytest.mark.parametrize("command", ["explain", "config", "nonsense"])
@pytest.mark.parametrize("name", [name for name in EVIL.values() if "\0" not in name and "\ud800" not in name])
def test_evil_arguments(project: Any, attack: Any, name: str, command: str) -> None:
    attack(name, "--select", name, command=command)


@pytest.mark.parametrize("form", FORMATS)
def test_a_key_of_a_megabyte(write: Any, attack: Any, registry: Registry, make_step: Any, form: str) -> None:
    name = "k" * 450_000
    write("steps_registry.json", registry({name: make_step(name + "x", "nowhere")}, **{"z" * 50_000: 1}))
    assert attack("--format", form).codes >= {"STG201", "STG206"} or form == "json"


MANY = {
    "distinct targets": lambda n: ("initial.a", f"initail.{n}"),
    "the same target": lambda _: ("initial.a", "nowhere"),
    "nearly the same steps": lambda n: (f"step-number-{n}", f"step-numbre-{n}"),
    "long targets": lambda n: ("initial.a", f"{'x' * 190}{n}"),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", MANY)
def test_ten_thousand_misspelt_targets(
    write: Any, attack: Any, registry: Registry, make_step: Any, name: str, form: str
) -> None:
    pairs = [MANY[name](number) for number in range(10_000)]
    steps = {f"s{n}": {"name": "S", "c2": "initial", "c3": "a", "stepId": f"s{n}"} for n in range(10)}
    if name == "nearly the same steps":
        steps |= {key: {"name": "S", "c2": "initial", "c3": "a", "stepId": key} for key, _ in pairs}
    intents = {f"i{n}": {"target": target} for n, (_, target) in enumerate(pairs)}
    steps["initial.a"] = {**make_step("initial.a"), "transitions": intents}
    write("steps_registry.json", registry(steps))
    ended = attack("--format", form, seconds=3.0, STAGEC_BUDGET_FILE_SIZE="10000000")
    assert ended.status == 1


FINDINGS: dict[str, Any] = {
    "unknown keys": 1,
    "mistyped steps": 1,
    "steps without anything": {},
    "wrong kinds": {"stepKind": "wrok", "type": "promt", "model": "m"},
    "wrong intents": {"structuredGate": {"allowedIntents": ["nxt", "jmp"]}},
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", FINDINGS)
def test_a_hundred_thousand_findings(write: Any, attack: Any, registry: Registry, name: str, form: str) -> None:
    each = FINDINGS[name]
    members = {f"s{number}": each for number in range(950_000 // len(json.dumps({"s12345": each})))}
    write("steps_registry.json", registry({}, **members) if name == "unknown keys" else registry(members))
    ended = attack("--format", form, seconds=3.0, megabytes=250.0)  # an error of the library takes 2 kB
    assert '"folded": 0,\n' not in ended.out
    assert ended.out.count("STG1") >= 1_000


ENCODINGS = (
    b"\xff\xfe{\0}\0",
    b"\xfe\xff\0{\0}",
    b"{\0}\0",
    b"\0" * 100_000,
    b"\xef\xbb\xbf\xef\xbb\xbf{}",
    b"\xff" * 900_000,
    b'{"a":"\xed\xa0\x80"}',
    b'{"a":"\xc0\xaf"}',
    b"\xff\xfe\0\0{\0\0\0",
)


@pytest.mark.parametrize("data", ENCODINGS, ids=range(len(ENCODINGS)))
@pytest.mark.parametrize("file", ["steps_registry.json", "schemas/s.json", "prompts/p.md", "agent.json"])
def test_other_encodings(write: Any, attack: Any, registry: Registry, file: str, data: bytes) -> None:
    write("steps_registry.json", registry({}))
    write(file, data)
    ended = attack()
    assert ended.status == 1 or file == "prompts/p.md"


def test_a_hundred_thousand_repeated_keys(write: Any, attack: Any, registry: Registry) -> None:
    text = json.dumps(registry({}))
    write("steps_registry.json", text[:-1] + ', "c1": "a"' * 85_000 + "}")
    assert "STG109" in attack(seconds=2.0).codes
