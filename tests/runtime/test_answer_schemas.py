"""Values are judged by the schemas of a plan, and by one that is none nothing can be."""

from __future__ import annotations

import pytest

from stagec.ir.plan.act import Prompt
from stagec.ir.plan.document import Contents, Limits, Names, Plan
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Node
from stagec.runtime.machine.answer_schemas import AnswerSchemas, find_unusable

SCHEMAS = {"text": '{"type": "string"}', "none": '{"type": "nosuch"}', "prose": "Lint it.", "astray": '{"$ref": "#/a"}'}


def test_what_satisfies_its_schema_is_not_complained_about() -> None:
    payloads = AnswerSchemas(SCHEMAS)
    assert (payloads.complaint("text", "a"), payloads.complaint(None, 1)) == (None, None)


def test_what_does_not_is_told_why() -> None:
    assert AnswerSchemas(SCHEMAS).complaint("text", 1) == "1 is not a string"


@pytest.mark.parametrize("content", ["none", "prose", "astray"])
def test_nothing_satisfies_a_schema_that_cannot_be_used(content: str) -> None:
    assert AnswerSchemas(SCHEMAS).complaint(content, {}) == "its schema cannot be used"


@pytest.mark.parametrize(("pattern", "found"), [("^a", True), ("b$", True), ("c", False), ("(", False)])
def test_a_pattern_is_looked_for_anywhere_and_a_bad_one_is_never_found(pattern: str, *, found: bool) -> None:
    assert AnswerSchemas(SCHEMAS).matches(pattern, "ab") is found


def test_what_is_used_as_a_schema_and_is_none_is_told() -> None:
    contents = Contents()
    used = [contents.add(each) for each in ("{}", "Lint it.")]
    contents.add("Test it.")
    gate = IntentGate(("action",), ("next",))
    nodes = {each: Node(Prompt(schema=each), gate, ()) for each in used}
    plan = Plan("p", Names("step", "intent"), {}, nodes, contents.texts, Limits())
    assert dict(find_unusable(plan)) == {used[1]: "it is used as a schema, and is not readable JSON"}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ('{"type":"nosuch"}', "\"nosuch\" is not valid under any of the schemas listed in the 'anyOf' keyword"),
        ('{"pattern":"("}', '"(" is not a "regex"'),
        ('{"$ref":"#/$defs/none"}', "Pointer '/$defs/none' does not exist"),
        ('{"$ref":"http://localhost/x"}', "Resource 'http://localhost/x' is not present in a registry"),
    ],
)
def test_the_reason_is_that_of_the_library(schema: str, why: str) -> None:
    contents = Contents()
    node = Node(Prompt(schema=contents.add(schema)), IntentGate(("action",), ("next",)), ())
    ((_, found),) = find_unusable(Plan("p", Names("step", "intent"), {}, {"n": node}, contents.texts, Limits()))
    assert found.startswith(why)
