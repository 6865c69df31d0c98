"""Rules take their identity from their function, and shelves hold the members that their modules define."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from stagec.check import rules
from stagec.check.pipeline import list_families
from stagec.check.rules import registry
from stagec.core.rule import AnyRule, Family, Finding, Rule, list_declared
from stagec.core.shelf import member, members, names


def _declare(function: str) -> AnyRule:
    def check(_: object) -> tuple[Finding, ...]:
        return ()

    check.__name__ = function
    return Family("stagec.check.rules.registry", (range(200, 300), range(2000, 2100)), object).rule(
        since="0.1", origin=("here",)
    )(check)


def test_code_and_name_come_from_the_function() -> None:
    found = _declare("stg201_unknown_target")
    assert (found.code, found.name) == ("STG201", "unknown-target")


STRANGE = ("unknown_target", "stg601_lost_node", "stg2100_lost_node", "stg20100_lost_node", "stg20_lost_node")


@pytest.mark.parametrize("function", STRANGE)
def test_a_function_of_another_name_or_number_is_refused(function: str) -> None:
    with pytest.raises(ImportError, match="is not named like stg201_what_is_wrong"):
        _declare(function)


def test_sources_tell_the_rules_of_a_family_without_an_import() -> None:
    for family in list_families():
        declared = {*list_declared(sys.modules[family.package])}
        assert declared == {(rule.code, rule.name) for rule in family.rules()}


def test_every_family_stands_on_the_shelf_under_its_own_name() -> None:
    assert {family.name for family in members(rules, Family)} == set(names(rules))


def test_a_process_reads_a_shelf_once() -> None:
    assert members(rules, Family) is members(rules, Family)


def test_a_family_finds_its_rules_by_code() -> None:
    codes = [int(rule.code.removeprefix("STG")) for rule in registry.FAMILY.rules()]
    assert codes == sorted(codes)
    assert 201 in codes


def test_no_number_belongs_to_two_families() -> None:
    numbers = [number for family in list_families() for each in family.numbers for number in each]
    assert len(numbers) == len(set(numbers))


def test_the_first_digit_selects_all_codes_of_a_family() -> None:
    for family in list_families():
        assert len({f"{number:03}"[0] for each in family.numbers for number in each}) == 1


def test_a_child_without_exactly_one_member_is_refused() -> None:
    shelf = ModuleType("stagec.core")
    with pytest.raises(ImportError, match="must define exactly one Rule, found 0"):
        member(shelf, "place", Rule)
