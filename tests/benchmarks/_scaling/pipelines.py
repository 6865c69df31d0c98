"""What a pipeline and its stages can have many of."""

from __future__ import annotations

import json
from math import ceil, sqrt

from benchmarks._scaling._pipeline import REFERENCE, apart, pipeline, stage, whole
from stagec.core.json import Json
from stagec_dev.cost import Dimension, Dimensions, Files


def _stages(count: int, *, faulty: bool) -> Files:
    wrong: dict[str, Json] = {"turnCap": -1} if faulty else {}
    return pipeline({name: stage(name, **wrong) for name in _names(count)})


def _names(count: int) -> list[str]:
    return [f"part-{at}" for at in range(count)]


def _next(count: int, *, faulty: bool) -> Files:
    """Make entries of `next`; faulty where they name stages that do not exist."""
    names = _names(count)
    ways = [(name, f"other-{at}" if faulty else names[at + 1]) for at, name in enumerate(names[:-1])]
    return pipeline({name: stage(name) for name in names}, ways)


def _lone_stage(count: int, *, faulty: bool) -> Files:
    """Make ways on from stages of which no file exists, or that are misspelt, beside one that does."""
    known = {name: stage(name) for name in ("first", "second")}
    ways: list[tuple[str, Json]] = [("first", "second")]
    ways += [(f"second{at}" if faulty else f"other-{at}", "second") for at in range(count)]
    return pipeline(known, ways)


def _siblings(count: int, *, faulty: bool) -> Files:
    names = _names(count)
    ways: list[tuple[str, Json]] = [("first", {"stages": list(names), "execution": "parallel", "join": "last"})]
    made = {name: stage(name) for name in ("first", *(() if faulty else names), "last")}
    return pipeline(made, ways, maxParallel=8)


def _joins(count: int, *, faulty: bool) -> Files:
    """Make forks one after the other, each with a join of its own, or all with the same."""
    made, ways = {}, list[tuple[str, Json]]()
    for at in range(count):
        source, join = f"join-{at}", "join-1" if faulty else f"join-{at + 1}"
        own = [f"left-{at}", f"right-{at}"]
        made |= {name: stage(name) for name in (source, *own)}
        ways.append((source, {"stages": [*own], "execution": "parallel", "join": join}))
    return pipeline({**made, f"join-{count}": stage(f"join-{count}")}, ways)


def _diamonds(count: int, *, faulty: bool) -> Files:
    """Make choices one after the other whose two ways meet again; faulty where one leads to an unknown stage."""
    made, ways = {}, list[tuple[str, Json]]()
    for at in range(count):
        source, meeting = f"meeting-{at}", f"meeting-{at + 1}"
        left, right = f"left-{at}", f"right-{at}"
        made |= {source: stage(source, {"chosen": {"enum": ["left", "right"]}}), left: stage(left), right: stage(right)}
        ways.append((source, [{"when": {"parsed.chosen": "left"}, "stages": [left]}, {"stages": [right]}]))
        ways += [(left, f"{meeting}{'x' * faulty}"), (right, meeting)]
    return pipeline({**made, f"meeting-{count}": stage(f"meeting-{count}")}, ways)


def _cases(count: int, *, faulty: bool) -> Files:
    """Make cases of one stage, each for a value of what it hands in, or for one that it cannot hand in."""
    values = [f"value-{at}" for at in range(count)]
    asked = [f"other-{at}" for at in range(count)] if faulty else values
    cases: list[Json] = [{"when": {"parsed.chosen": each}, "stages": ["second"]} for each in asked]
    made = {"first": stage("first", completionSchema=REFERENCE), "second": stage("second")}
    return apart(pipeline(made, [("first", [*cases, {"stages": []}])]), whole({"chosen": {"enum": values}}))


def _case_paths(count: int, *, faulty: bool) -> Files:
    """Make cases that each ask for a member of its own, or for members that there are not."""
    fields: dict[str, Json] = {f"field{at}": {"type": "string", "minLength": 1} for at in range(count)}
    cases: list[Json] = [{"when": {f"parsed.{name}{'x' * faulty}": "it"}, "stages": ["second"]} for name in fields]
    made = {"first": stage("first", completionSchema=REFERENCE), "second": stage("second")}
    return apart(pipeline(made, [("first", [*cases, {"stages": []}])]), whole(fields))


def _boolean_fields(count: int, *, faulty: bool) -> Files:
    """Make cases that each ask whether a boolean member is true; the faulty one has none that takes what is left."""
    fields: dict[str, Json] = {f"field{at}": {"type": "boolean"} for at in range(count)}
    cases: list[Json] = [{"when": {f"parsed.{name}": True}, "stages": ["second"]} for name in fields]
    made = {"first": stage("first", completionSchema=REFERENCE), "second": stage("second")}
    return apart(pipeline(made, [("first", [*cases, *([] if faulty else [{"stages": []}])])]), whole(fields))


def _terms(count: int, *, faulty: bool) -> Files:
    """Make terms of one case, each about a boolean member, or one that there is not."""
    fields: dict[str, Json] = {f"field{at}": {"type": "boolean"} for at in range(count)}
    when: dict[str, Json] = {f"parsed.{name}{'x' * faulty}": True for name in fields}
    made = {"first": stage("first", completionSchema=REFERENCE), "second": stage("second")}
    return apart(pipeline(made, [("first", [{"when": when, "stages": ["second"]}, {"stages": []}])]), whole(fields))


def _case_values(count: int, *, faulty: bool) -> Files:
    """Make values that one case asks for at one path."""
    values: list[Json] = [f"value-{at}" for at in range(count)]
    asked: list[Json] = [f"other-{at}" for at in range(count)] if faulty else values
    made = {"first": stage("first", completionSchema=REFERENCE), "second": stage("second")}
    cases: list[Json] = [{"when": {"parsed.chosen": asked}, "stages": ["second"]}, {"stages": []}]
    return apart(pipeline(made, [("first", cases)]), whole({"chosen": {"enum": values}}))


def _placeholders(count: int, *, faulty: bool) -> Files:
    """Make placeholders of one prompt, each a member of what the stage before it handed in."""
    fields: dict[str, Json] = {f"field{at}": {"type": "string"} for at in range(count)}
    body = "\n".join(f"{{{{ctx.upstream[0].parsed.{name}{'x' * faulty}}}}}" for name in fields)
    return apart(
        pipeline({"first": stage("first", completionSchema=REFERENCE), "second": stage("second", body=body)}),
        whole(fields),
    )


def _producers(count: int, *, faulty: bool) -> Files:
    """Make stages that all lead to one, whose prompt reads as many members of what each of them handed in."""
    names = [f"maker-{at}" for at in range(count)]
    fields: dict[str, Json] = {f"field{at}": {"type": "string"} for at in range(8)}
    reads = [f"{{{{ctx.upstream[0].parsed.field{at % 8}{'x' * faulty}}}}}" for at in range(40 * count)]
    made = {"first": stage("first", {"chosen": {"enum": [*names]}})}
    made |= {name: stage(name, fields) for name in names}
    cases: list[Json] = [{"when": {"parsed.chosen": name}, "stages": [name]} for name in names]
    ways: list[tuple[str, Json]] = [("first", cases), *[(name, "last") for name in names]]
    return pipeline({**made, "last": stage("last", body="\n".join(reads))}, ways)


def _context(count: int, *, faulty: bool) -> Files:
    """Make names of the context, each of which a prompt reads."""
    names = [f"name{at}" for at in range(count)]
    body = "\n".join(f"{{{{ctx.{name}{'x' * faulty}}}}}" for name in names)
    return pipeline({"first": stage("first", body=body)}, [], context={name: {"type": "string"} for name in names})


def _broken_placeholders(count: int, *, faulty: bool) -> Files:
    """Make braces in a prompt: of placeholders, or never closed and too many."""
    text = "{{ctx.workflowRunId}}\n" if not faulty else "{{{ctx.\n{{a b}}}\n"
    return pipeline({"first": stage("first", body=text * count)}, [])


def _allowed_tools(count: int, *, faulty: bool) -> Files:
    names: list[Json] = [f"tool_{at}" for at in range(count)]
    allowed: list[Json] = [f"{name}x" for name in names] if faulty else names
    return pipeline({"first": stage("first", allowedTools=allowed)}, [], tools=names)


def _long_body(count: int, *, faulty: bool) -> Files:
    return pipeline(
        {"first": stage("first", body="A line of a prompt {{ ctx.task }}.\n" * count)},
        [],
        entry="frist" if faulty else "first",
    )


def _checks(count: int, *, faulty: bool) -> Files:
    """Make checks of one stage."""
    fields: dict[str, Json] = {f"field{at}": {"type": "boolean"} for at in range(count)}
    checks: list[Json] = [
        {"when": {f"parsed.{name}{'x' * faulty}": True}, "verdict": "fail", "reason": "so"} for name in fields
    ]
    return apart(
        pipeline({"first": stage("first", completionSchema=REFERENCE)}, [], checks={"first": checks}), whole(fields)
    )


def _demands(count: int, *, faulty: bool) -> Files:
    """Make members that a stage demands of the result before it."""
    fields: dict[str, Json] = {f"field{at}": {"type": "string"} for at in range(count)}
    wanted: dict[str, Json] = {name: {"type": "integer" if faulty else "string"} for name in fields}
    parsed: Json = {"type": "object", "required": [*wanted], "properties": wanted}
    inputs: Json = {"type": "object", "required": ["parsed"], "properties": {"parsed": parsed}}
    files = pipeline(
        {
            "first": stage("first", completionSchema=REFERENCE),
            "second": stage("second", inputsSchema={"$ref": "../schemas/wanted.json"}),
        }
    )
    return apart(apart(files, whole(fields)), inputs, "wanted")


def _pipelines(count: int, *, faulty: bool) -> Files:
    """Make pipelines of one project, each in a folder of its own."""
    body = pipeline({"first": stage("first"), "second": stage("second")}, [("first", "thrid")] if faulty else None)
    own = {f"project-{at}/{name}": text for at in range(count) for name, text in body.items()}
    return {
        name: text.replace("id: large", f"id: {name.partition('/')[0]}") if name.endswith(".yaml") else text
        for name, text in own.items()
    }


def _loops(count: int, *, faulty: bool) -> Files:
    """Make stages that lead on, back to the one before, or to the first; the faulty ones never end."""
    names = _names(count)
    chosen: dict[str, Json] = {"chosen": {"enum": ["on", "back", "first"]}}
    ways: list[tuple[str, Json]] = []
    for at, name in enumerate(names):
        after = names[at + 1 :][:1] or ([names[0]] if faulty else [])
        on: Json = {"when": {"parsed.chosen": "on"}, "stages": [*after]}
        back: Json = {"when": {"parsed.chosen": "back"}, "stages": [names[max(0, at - 1)]]}
        ways.append((name, [on, back, {"stages": [names[0]]}]))
    return pipeline({name: stage(name, chosen) for name in names}, ways, maxStageExecutions=3 * count)


def _crossings(count: int, *, faulty: bool) -> Files:
    """Make so many ways between stages, of which each leads to every other, or to none that is there."""
    names = _names(ceil(sqrt(count)))
    values: list[Json] = [*names, "end"]
    made = {name: stage(name, {"chosen": {"enum": values}}) for name in names}
    cases: list[Json] = [
        {"when": {"parsed.chosen": each}, "stages": [f"{each}x" if faulty else each]} for each in names
    ]
    ways: list[tuple[str, Json]] = [(name, [*cases, {"stages": []}]) for name in names]
    return pipeline(made, ways, maxStageExecutions=2 * len(names))


def _marked_names(count: int, *, faulty: bool) -> Files:
    """Make stages whose names are full of markup, or empty."""
    marked = json.dumps("" if faulty else "<b>|`*_[x](y) \u202e" * 4)
    made = {each: stage(each).replace(f"\nname: {each}\n", f"\nname: {marked}\n") for each in _names(count)}
    return pipeline(made)


PIPELINES = Dimensions(
    (
        Dimension("stages", _stages, 800),
        Dimension("ways on", _next, 800),
        Dimension("ways on from unknown stages", _lone_stage, 16_000),
        Dimension("siblings", _siblings, 800),
        Dimension("joins", _joins, 250),
        Dimension("choices whose ways meet", _diamonds, 250),
        Dimension("cases", _cases, 8000),
        Dimension("paths of cases", _case_paths, 6000),
        Dimension("boolean fields of cases", _boolean_fields, 6000),
        Dimension("terms of a case", _terms, 8000),
        Dimension("values of a case", _case_values, 24_000),
        Dimension("placeholders", _placeholders, 8000),
        Dimension("producers", _producers, 400),
        Dimension("names of the context", _context, 10_000),
        Dimension("braces in a prompt", _broken_placeholders, 30_000),
        Dimension("allowed tools", _allowed_tools, 1400),
        Dimension("length of a prompt", _long_body, 25_000),
        Dimension("checks", _checks, 5000),
        Dimension("demands of inputs", _demands, 6000),
        Dimension("pipelines of a project", _pipelines, 800),
        Dimension("ways back", _loops, 500),
        Dimension("ways between all stages", _crossings, 4900),
        Dimension("names with markup", _marked_names, 800),
    )
)
