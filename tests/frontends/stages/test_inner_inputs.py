"""What pipelines that run as stages are given: names whose schemas fit, and constants in prompts and gates."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stagec.cli.app import run
from stagec.core.canonical import as_text
from stagec.ir.plan.gate import Admission, Exists
from stagec.machine import Answered, Program, Started, State, Turn, advance, load

BODY = "In {{ctx.how}}, {{ctx.how}}{{ctx.text}}"
VALUES = [
    *("", "French", "{{ctx.text}} {{ }} ${ctx.text} {{stage.id}}", "two\nlines ü 😀", "null"),
    *(0, -1, 9007199254740991, 2.50, 4.0, -0.0, 1e-7, 1e20, 1e21, True, False, None),
    *([], {}, [1, [None, "{{ctx.text}}"], {"b": 1.0, "a": [True]}], {"b": {"é": '\\ " \u2028'}, "a": None}),
]


def _stage(name: str, body: str, policy: str = "fail") -> str:
    return f"""---
id: {name}
name: {name}
allowedTools: []
completionTool: submit_{name}
completionSchema: {{type: object, required: [approved], properties: {{approved: {{type: boolean}}}}}}
retryPolicy: {{maxAttempts: 1, backoff: none}}
turnCap: 3
resolutionPolicy: {policy}
---
{body}
"""


def _outer(*given: Any, pipeline: str = "inner/pipeline.json", **context: Any) -> dict[str, Any]:
    """Return a pipeline that runs another one as `s0`, `s1`, and so on, each time with another `how`."""
    names = [f"s{number}" for number, _ in enumerate(given)]
    return {
        "id": "outer",
        "entry": "s0",
        "stages": [
            {"id": name, "pipeline": pipeline, "inputs": {"text": "ctx.task", "how": how}}
            for name, how in zip(names, given, strict=True)
        ],
        "context": {"task": {"type": "string"}, **context},
        "next": dict(pairwise(names)),
    }


def _inner(**more: Any) -> dict[str, Any]:
    """Return a pipeline whose stage `look` leads to `tell`, its output."""
    context = {"text": {"type": "string"}, "how": more.pop("how", {})}
    least = {"id": "inner", "entry": "look", "output": "tell", "stages": ["*.md"], "next": {"look": "tell"}}
    return {**least, "context": context, **more}


def _write(folder: Path, outer: dict[str, Any], inner: dict[str, Any], look: str = BODY, **more: Any) -> Path:
    files = {
        "pipeline.json": outer,
        "inner/pipeline.json": inner,
        "inner/look.md": _stage("look", look, "skip"),
        "inner/tell.md": _stage("tell", "Tell"),
        **more,
    }
    for file, given in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(given if isinstance(given, str) else json.dumps(given))
    return folder / "pipeline.json"


def _compile(file: Path) -> Program:
    assert run(["compile", str(file), "-o", str(file.parent / "plan.json")]) == 0
    return load((file.parent / "plan.json").read_bytes())


def _ask(program: Program, **inputs: Any) -> list[str]:
    """Run a plan in which each stage completes at once; return what the stages are asked, one after the other."""
    asked = list[str]()
    result = advance(program, State(), Started("run", inputs=inputs))
    while result.effects:
        (effect,) = result.effects
        assert isinstance(effect, Turn), effect
        asked.append(effect.transcript[0].text)
        call = {"id": "1", "tool": effect.completion, "arguments": {"approved": True}}
        result = advance(program, result.state, Answered(effect.key, {"text": "", "calls": [call]}))
    return asked


def _validate(file: Path, capfd: pytest.CaptureFixture[str]) -> list[str]:
    capfd.readouterr()
    run(["validate", str(file), "--format", "concise"])
    return [line for line in capfd.readouterr().out.splitlines() if "error[" in line or "warning[" in line]


def test_two_stages_that_run_a_pipeline_with_other_constants_ask_something_else(tmp_path: Path) -> None:
    outer = _outer({"const": "French"}, {"const": "German"})
    program = _compile(_write(tmp_path, outer, _inner(how={"type": "string"})))
    assert _ask(program, task="T") == ["In French, FrenchT\n", "Tell\n", "In German, GermanT\n", "Tell\n"]
    assert [*program.plan.inputs] == ["task"]


def _compile_both(folder: Path, values: list[Any], inner: dict[str, Any], look: str = BODY) -> tuple[Program, Program]:
    """Compile a pipeline that runs another one for each value: with constants, and with names of its context."""
    names = [f"h{number}" for number, _ in enumerate(values)]
    constants = _outer(*({"const": each} for each in values))
    named = _outer(*(f"ctx.{each}" for each in names), **{each: {} for each in names})
    return (
        _compile(_write(folder / "constants", constants, inner, look)),
        _compile(_write(folder / "named", named, inner, look)),
    )


def test_a_prompt_has_a_constant_as_it_has_the_same_value_of_the_context(tmp_path: Path) -> None:
    constants, named = _compile_both(tmp_path, VALUES, _inner())
    inputs = {f"h{number}": each for number, each in enumerate(VALUES)}
    asked = _ask(constants, task="{{ctx.how}}")
    assert asked == _ask(named, task="{{ctx.how}}", **inputs)
    assert len({*asked}) == len({*map(as_text, VALUES)}) + 1
    assert [*constants.plan.inputs] == ["task"]


def test_a_drawing_says_what_a_pipeline_is_given(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = _write(tmp_path, _outer({"const": 'a "b"\n\u2028c'}, "ctx.task"), _inner())
    run(["graph", str(file), "--format", "mermaid"])
    shown = [line.strip() for line in capfd.readouterr().out.split("\n") if "pipeline inner, " in line]
    assert len(shown) == 2, "one row each"
    assert "pipeline inner, text = ctx.task, how = " in shown[0]
    assert "how = ctx.task" in shown[1]


@pytest.mark.parametrize(
    ("path", "given"), [("how.a", {"a": "x"}), ("how.a[1].b", {"a": [0, {"b": [2]}]}), ("how[0]", [None])]
)
def test_a_prompt_reads_inside_a_constant(tmp_path: Path, path: str, given: Any) -> None:
    look = f"Is {{{{ctx.{path}}}}}"
    constant = _compile(_write(tmp_path / "constant", _outer({"const": given}), _inner(), look))
    named = _compile(_write(tmp_path / "named", _outer("ctx.how", how={}), _inner(), look))
    assert _ask(constant, task="T") == _ask(named, task="T", how=given)


GATES = [
    {"defer": {"how": "deep"}},
    {"block": {"how": "deep"}},
    {"defer": {"how": ["flat", 1, None]}},
    {"defer": {"how": "deep", "text": "T"}},
    {"defer": {"text": "T"}, "block": {"how": True}},
    {"defer": {"how": {"present": True}}},
    {"defer": {"how": {"present": False}}},
    {"defer": {"how.a": "x"}},
    {"defer": {"how.a": {"present": False}, "text": ["T", "U"]}},
]


@pytest.mark.parametrize("gate", GATES, ids=repr)
def test_a_gate_judges_a_constant_as_it_judges_the_same_value_of_the_context(
    tmp_path: Path, gate: dict[str, Any]
) -> None:
    values: list[Any] = ["deep", "flat", 1, 1.0, True, None, {"a": "x"}, {"a": 1}]
    constants, named = _compile_both(tmp_path, values, _inner(gate={"look": gate}))
    inputs = {f"h{number}": each for number, each in enumerate(values)}
    for task in ("T", "other"):
        assert _ask(constants, task=task) == _ask(named, task=task, **inputs)


def test_a_plan_has_a_gate_that_always_holds_as_vectors_of_runners_have_it_and_none_that_never_holds(
    tmp_path: Path,
) -> None:
    constants, _ = _compile_both(tmp_path, ["deep", "flat"], _inner(gate={"look": {"defer": {"how": "deep"}}}))
    found = [each.admission for each in constants.plan.nodes.values() if each.admission is not None]
    assert found == [Admission("skip", "skip", (Exists(("ctx",), present=True),))]


def _nest(way: Any, deepest: Any, **more: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return a pipeline in which `middle` is given `way`, and the inner one in that `deepest`, and the last two."""
    middle = {**_outer(deepest, pipeline="../inner/pipeline.json"), "id": "middle", "output": "s0"}
    middle["context"] = {"task": {"type": "string"}, "way": {}}
    outer = _outer(way, pipeline="middle/pipeline.json")
    outer["stages"][0]["inputs"] = {"task": "ctx.task", "way": way}
    return outer, middle, _inner(**more)


@pytest.mark.parametrize(
    ("way", "deepest", "told"),
    [
        ({"const": "skip"}, "ctx.way", None),
        ({"const": "A"}, {"const": "skip"}, None),
        ({"const": "A"}, "ctx.way", "A"),
        ({"const": "A"}, {"const": "B"}, "B"),
        ("ctx.task", "ctx.way", "T"),
        ("ctx.task", {"const": "B"}, "B"),
    ],
)
def test_a_constant_reaches_the_pipelines_further_inside(
    tmp_path: Path, way: Any, deepest: Any, told: str | None
) -> None:
    outer, middle, inner = _nest(way, deepest, gate={"look": {"defer": {"how": "skip"}}})
    program = _compile(_write(tmp_path, outer, inner, **{"middle/pipeline.json": middle}))
    assert _ask(program, task="T") == [*([f"In {told}, {told}T\n"] if told else []), "Tell\n"]


def test_what_reads_a_constant_further_inside_is_told_where_the_constant_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    outer, middle, inner = _nest({"const": {"a": 1}}, "ctx.way", how={"type": "object"})
    middle["context"]["way"] = {"type": "object"}
    file = _write(tmp_path, outer, inner, "{{ctx.how.b}}", **{"middle/pipeline.json": middle})
    (error,) = (each for each in _validate(file, capfd) if "error[" in each)
    assert "pipeline.json" in error
    assert "reads 'ctx.how.b', which this constant does not have" in error


def test_a_constant_makes_no_name_of_the_run_necessary(tmp_path: Path) -> None:
    inner = _inner()
    inner["context"] = {"task": {"type": "string"}}
    outer = _outer({"const": 1})
    outer["stages"] = ["first.md", {"id": "s0", "pipeline": "inner/pipeline.json", "inputs": {"task": {"const": "C"}}}]
    outer |= {"entry": "first", "next": {"first": "s0"}, "hooks": {"first": {"setup": "a:b"}}}
    program = _compile(
        _write(tmp_path, outer, inner, "Is {{ctx.task}}", **{"first.md": _stage("first", "{{ctx.task}}")})
    )
    assert not program.plan.inputs["task"].required


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("French", "[STG394] wrong-inner-input: 'French' is not a name of the context"),
        (3, "[STG171] mistyped-stage-member: 'inputs.how' of stage 's0' must be a string or an object"),
        ({"cnst": 3}, "lacks 'const'; is it 'cnst', misspelt?"),
        ({}, "lacks 'const'"),
        ({"const": 1, "of": 2}, "unknown key 'of'"),
        ({"const": 99999999999999999999}, "[STG187]"),
    ],
)
def test_what_is_no_constant_is_one_mistake(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], given: Any, told: str
) -> None:
    (error,) = _validate(_write(tmp_path, _outer(given), _inner()), capfd)
    assert told in error


@pytest.mark.parametrize(
    ("given", "wanted", "told"),
    [
        ("abc", {"pattern": "^(?!z)"}, ""),
        ("zbc", {"pattern": "^(?!z)"}, "it does not match"),
        ("a@b.c", {"$schema": "http://json-schema.org/draft-07/schema#", "format": "email"}, ""),
        ("a", {"$schema": "http://json-schema.org/draft-07/schema#", "format": "email"}, "it is not"),
        ("a", {"format": "email"}, ""),
        ({"a": [1, "2"]}, {"properties": {"a": {"items": {"type": "integer"}}}}, "as 'how': /a/1: it is not of type"),
    ],
)
def test_a_constant_is_judged_as_a_run_judges_what_it_is_given(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], given: Any, wanted: Any, told: str
) -> None:
    found = _validate(_write(tmp_path, _outer({"const": given}), _inner(how=wanted)), capfd)
    assert len(found) == bool(told), found
    assert all(told in each for each in found)


@pytest.mark.parametrize(
    ("offered", "wanted", "told"),
    [
        ({"type": "integer", "minimum": 2}, {"type": "number"}, ""),
        ({"type": "string", "default": "x"}, {"type": "string"}, ""),
        ({"enum": ["a", "b"]}, {"pattern": "^[ab]$"}, ""),
        ({"type": "string", "format": "email"}, {"type": "string", "format": "uri"}, ""),
        ({"$ref": "parts.json#/name"}, {"type": "string", "minLength": 1}, ""),
        (
            {"type": "number"},
            {"type": "integer"},
            "error[STG394] wrong-inner-input: 'ctx.how' may be 0.5, which pipeline 'inner'",
        ),
        (
            {"type": ["string", "null"]},
            {"type": "string"},
            "'ctx.how' may be null, which pipeline 'inner' refuses as 'how'",
        ),
        ({"$ref": "parts.json#/name"}, {"type": "string", "minLength": 2}, "'ctx.how' may be 'x', which pipeline"),
        ({"$ref": "parts.json#/nothing"}, {"type": "string"}, "[STG314]"),
        ({"type": "array"}, {"type": "array", "uniqueItems": True}, "which pipeline 'inner' refuses as 'how'"),
        ({"pattern": "^a"}, {"pattern": "^[a-z]"}, "warning[STG394] wrong-inner-input: stagec cannot tell whether"),
    ],
)
def test_the_schema_of_a_name_has_to_be_inside_that_of_the_inner_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], offered: Any, wanted: Any, told: str
) -> None:
    parts = {"name": {"type": "string", "minLength": 1}}
    file = _write(tmp_path, _outer("ctx.how", how=offered), _inner(how=wanted), **{"parts.json": parts})
    found = _validate(file, capfd)
    assert len(found) == bool(told), found
    assert all(told in each for each in found)
