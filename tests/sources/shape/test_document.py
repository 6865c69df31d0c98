"""Documents against the schemas that stagec publishes."""

from __future__ import annotations

import pytest

from stagec.core.json import Json
from stagec.core.place import Part, Place
from stagec.core.value import replace
from stagec.sources.formats.plain import FORMAT
from stagec.sources.shape import judge
from stagec.sources.shape.schema import load_validator
from stagec.sources.tree import Fault, Tree

STEP = {"stepId": "a", "name": "A", "c2": "closure", "c3": "a"}
FILE = "steps_registry.json"


def registry(**changes: Json) -> Tree:
    value = {"agentId": "demo", "version": "1.0.0", "c1": "steps", "steps": {"a": STEP}, **changes}
    return Tree(FILE, "registry", FORMAT, value={key: each for key, each in value.items() if each is not None})


def step(**changes: Json) -> Tree:
    return registry(steps={"a": {**STEP, **changes}})


def faults(tree: Tree) -> list[tuple[str, tuple[str | int, ...], str]]:
    return [(fault.topic, fault.at.pointer, fault.reason) for fault in judge(tree, "steps_registry").faults]


def test_a_clean_document_comes_back_as_it_was() -> None:
    tree = registry()
    assert judge(tree, "steps_registry") is tree


def test_missing_members_of_one_object_are_one_fault_at_the_first() -> None:
    at = Place(FILE, ("version",))
    facts = {"missing": ("version", "c1"), "misspelt": ()}
    assert judge(registry(version=None, c1=None), "steps_registry").faults == (
        Fault("incomplete-registry", at, "required", facts),
    )


def test_a_misspelt_required_member_is_one_fault() -> None:
    (fault,) = judge(registry(c1=None, C1="steps"), "steps_registry").faults
    assert (fault.at.pointer, fault.facts["misspelt"]) == (("c1",), ("C1",))
    assert fault.related == ((Place(FILE, ("C1",), Part.KEY), "misspelt"),)


def test_a_misspelt_required_member_of_an_open_object_is_named_too() -> None:
    tree = Tree("plan.md", "stage", FORMAT, value={"ID": "plan", "turn-cap": 3, "owner": "a"})
    (fault,) = judge(tree, "stage_definition").faults
    assert (fault.reason, fault.facts["misspelt"]) == ("required", ("ID", "turn-cap"))


def test_a_misspelt_member_of_an_object_that_fits_no_alternative_is_one_fault() -> None:
    tree = Tree("a.yaml", "pipeline", FORMAT, value={"entry": "a", "next": {"a": {"stage": ["b"], "owner": "c"}}})
    found = judge(tree, "pipeline").faults
    assert [(fault.at.pointer, fault.reason) for fault in found] == [
        (("next", "a", "owner"), "unknown"),
        (("next", "a"), "oneOf"),
    ]


def test_a_number_that_is_both_too_low_and_not_whole_is_one_fault() -> None:
    tree = Tree("a.json", "stage", FORMAT, value={"turnCap": 0.5})
    found = [fault for fault in judge(tree, "stage_object").faults if fault.reason != "required"]
    assert [(fault.topic, fault.reason) for fault in found] == [("low-turn-cap", "minimum")]


def test_an_unknown_member_is_a_fault_at_its_name() -> None:
    (fault,) = judge(step(useStdin=True), "steps_registry").faults
    assert (fault.topic, fault.at) == ("unknown-key", Place(FILE, ("steps", "a", "useStdin"), Part.KEY))
    assert "usesStdin" in fault.facts["known"]  # type: ignore[operator]


@pytest.mark.parametrize("name", ["$schema", "_old", "x-owner", "comment"])
def test_a_remark_is_not_an_unknown_member(name: str) -> None:
    assert faults(step(**{name: "anything"})) == []


def test_a_member_that_is_called_like_an_index_or_nothing_is_found() -> None:
    tree = registry(steps={"0": {**STEP, "name": 5}, "": {**STEP, "c3": 5}})
    assert {place for _, place, _ in faults(tree)} == {("steps", "0", "name"), ("steps", "", "c3")}


def test_a_number_that_could_not_be_read_is_not_judged() -> None:
    unread = Fault("number-out-of-range", Place(FILE, ("steps", "a", "name"), range=(0, 1)))
    tree = replace(step(name=None, c3=5), faults=(unread,))
    assert [fault.at.pointer for fault in judge(tree, "steps_registry").faults if fault != unread] == [
        ("steps", "a", "c3")
    ]


def test_nothing_inside_a_value_of_the_wrong_type_is_judged() -> None:
    assert faults(registry(steps=[{"c2": 5}])) == [("mistyped-registry-member", ("steps",), "type")]


def test_one_value_is_one_fault() -> None:
    assert faults(step(c3="")) == [("malformed-c3", ("steps", "a", "c3"), "minLength")]


def test_elements_of_the_wrong_type_in_one_array_are_one_fault() -> None:
    expected = [("mistyped-step-member", ("steps", "a", "uvVariables", 1), "type")]
    assert faults(step(uvVariables=["x", 1, 2])) == expected


def test_a_failed_choice_is_one_fault_without_the_reasons_of_its_branches() -> None:
    expected = [("malformed-transition", ("steps", "a", "transitions", "next"), "oneOf")]
    assert faults(step(transitions={"next": {"condition": "x"}})) == expected


def test_several_mistakes_are_several_faults() -> None:
    assert faults(registry(version="1", steps={"a": {**STEP, "c3": "B"}})) == [
        ("malformed-version", ("version",), "pattern"),
        ("malformed-c3", ("steps", "a", "c3"), "pattern"),
    ]


def test_what_is_only_wished_for_is_found_without_the_schema() -> None:
    tree = registry(steps={"a": {"stepId": "a", "c2": "closure", "c3": "a"}})
    assert load_validator("steps_registry").is_valid(tree.value)
    assert faults(tree) == [("unnamed-step", ("steps", "a", "name"), "required")]


def test_a_root_of_the_wrong_type_makes_a_tree_unreadable() -> None:
    judged = judge(Tree(FILE, "registry", FORMAT, value=[]), "steps_registry")
    assert (judged.readable, judged.faults[0].at.pointer) == (False, ())


def test_nothing_is_said_of_a_file_that_could_not_be_read() -> None:
    tree = replace(registry(), value=None, readable=False)
    assert judge(tree, "steps_registry") is tree


def test_earlier_faults_stay() -> None:
    earlier = Fault("repeated-key", Place(FILE, ("version",)))
    judged = judge(replace(registry(version="1"), faults=(earlier,)), "steps_registry")
    assert [fault.topic for fault in judged.faults] == ["repeated-key", "malformed-version"]


@pytest.mark.parametrize(
    "value",
    [float("inf"), float("nan"), 10**400, -(10**30), "\ud800", {"\ud800": 1}, [[[]]], {"": {}}],
    ids=["inf", "nan", "huge", "negative", "surrogate", "surrogate-key", "nested", "empty-key"],
)
def test_whatever_a_parser_hands_over_is_judged_without_a_crash(value: Json) -> None:
    for member in ("agentId", "steps", "$schema", "validators"):
        judge(registry(**{member: value}), "steps_registry")


def test_an_agent_definition_of_the_earlier_format_has_one_fault() -> None:
    tree = Tree("agent.json", "agent", FORMAT, value={"name": "demo", "behavior": {}, "logging": {}})
    judged = judge(tree, "agent")
    facts = {"members": ("behavior", "logging")}
    assert judged.faults == (Fault("legacy-agent", Place("agent.json", ("behavior",)), facts=facts),)
    assert not judged.readable
