"""Every difference of two plans that means something is told, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import handmade
import phased
import playable
import pytest

from stagec.change.comparison.change import TOPICS
from stagec.change.comparison.compare import compare_plans
from stagec.change.comparison.texts import compare_schemas, compare_texts
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.codec import codec_of, write
from stagec.ir.plan.document import Contents
from stagec.ir.plan.gate import Condition, Validation

PLANS = (
    *(handmade.steps(), handmade.stages(), handmade.processes()),
    *(playable.steps(), playable.stages(), playable.asking(), playable.judged(), playable.command("a")),
    *(phased.every_member(), phased.issue_flow()),
)
TABLES = ("nodes", "contents", "validators", "tools", "servers", "entries", "choices", "plans")
SILENT = {"facts", "sources", "contents", "id"}
"""Members of a plan that say nothing of their own: they follow from the rest, or are looked up by it."""


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_is_what_it_is(plan: Plan) -> None:
    assert compare_plans(plan, plan) == ()


@pytest.mark.parametrize("old", PLANS)
@pytest.mark.parametrize("new", PLANS)
def test_what_is_added_one_way_is_removed_the_other(old: Plan, new: Plan) -> None:
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    there = {(each.topic, each.action.value, each.node, each.name) for each in compare_plans(old, new)}
    back = {(each.topic, turned[each.action.value], each.node, each.name) for each in compare_plans(new, old)}
    assert there == back
    assert {topic for topic, *_ in there} <= TOPICS.keys()


def _spots(given: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, given
    if isinstance(given, dict | list):
        for key, each in given.items() if isinstance(given, dict) else enumerate(given):
            if path or key not in SILENT:
                yield from _spots(each, (*path, key))


def _put(given: Any, path: tuple[Any, ...], other: Any) -> Any:
    copied = json.loads(json.dumps(given))
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = other
    return copied


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.id)
def test_no_number_and_no_flag_of_a_plan_changes_unseen(plan: Plan) -> None:
    written: Any = write(plan)
    known = {
        name: getattr(plan, name)
        for name in ("nodes", "contents", "validators", "tools", "servers", "entries", "choices", "plans")
    }
    seen = 0
    for path, given in _spots(written):
        if path and isinstance(given, bool | int):
            other = not given if isinstance(given, bool) else given + 1
            changed = codec_of(Plan).read(_put(written, path, other), known)
            assert compare_plans(plan, changed), path
            seen += 1
    assert seen


def test_another_layout_and_another_place_are_no_change() -> None:
    plan = playable.steps()
    texts = Contents()
    names = {}
    for name, text in plan.contents.items():
        laid_out = json.dumps(json.loads(text), indent=4, sort_keys=True) if text.startswith("{") else text
        names[name] = texts.add(laid_out)
    written = json.loads(json.dumps(write(plan)))
    whole = json.dumps({**written, "contents": {}})
    for name, other in names.items():
        whole = whole.replace(name, other)
    moved: Any = {
        **json.loads(whole),
        "contents": dict(texts.texts),
        "sources": {"else/where.json": "sha256:" + "a" * 64},
    }
    known = {name: getattr(plan, name) for name in TABLES} | {"contents": texts.texts}
    assert compare_plans(plan, codec_of(Plan).read(moved, known)) == ()


def test_values_are_told() -> None:
    old = playable.stages()
    act: Any = old.nodes["plan"].act
    node = replace(old.nodes["plan"], act=replace(act, turns=30))
    [change] = compare_plans(old, replace(old, nodes={**old.nodes, "plan": node}))
    assert (change.node, change.words, change.before, change.after) == ("plan", "turns", 3, 30)


def test_schemas_are_compared_by_what_they_say() -> None:
    old = '{"type":"object","required":["a"],"properties":{"a":{"enum":["x","y"]},"b":{"type":"integer","maximum":1}}}'
    new = (
        '{"properties":{"b":{"maximum":1.0,"type":"number"},"a":{"enum":["y","z"]}},'
        '"required":["a","b"],"type":"object"}'
    )
    assert compare_schemas(old, new) == (
        '+ required: "b"',
        '- properties.a.enum: "x"',
        '+ properties.a.enum: "z"',
        '- properties.b.type: "integer"',
        '+ properties.b.type: "number"',
    )
    assert compare_schemas(None, '{"type":"object"}') == ('+ type: "object"',)
    assert compare_schemas('{"enum":[1,2]}', '{"enum":[2,1]}') == ("- enum: [1, 2]", "+ enum: [2, 1]")


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a\r\nb\r\n", "a\nb\r\n", ("- a\r", "+ a")),
        ("a\n", "a", ("- the end of the last line",)),
        ("a", "a\n", ("+ the end of the last line",)),
        ("a\u2028b", "a\nb", ("- a\u2028b", "+ a", "+ b")),
        ("", "a\n", ("+ a",)),
        ("a\n", "a\n", ()),
    ],
)
def test_every_difference_of_texts_is_seen(old: str, new: str, lines: tuple[str, ...]) -> None:
    assert compare_texts(old, new) == lines


def test_long_texts_are_counted_and_not_compared() -> None:
    assert compare_texts("a\n" * 1000, "b\n" * 999) == ("- 1,000 lines", "+ 999 lines")
    assert len(compare_texts("a\n" * 100, "b\n" * 100)) == 41


def test_validations_before_a_model_is_asked_are_compared() -> None:
    old = playable.steps()
    changed = Validation((), preflight=(Condition("checked"),), every_outcome=True)
    node = replace(old.nodes["close"], validation=changed)
    found = compare_plans(old, replace(old, nodes={**old.nodes, "close": node}))
    assert {each.topic for each in found} == {"conditions", "preflight", "every-outcome"}
