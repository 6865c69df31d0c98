"""Whole numbers that a plan cannot hold are found, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.core.place import Place, Pointer
from stagec.sources.formats import format_of
from stagec.sources.shape import judge_numbers
from stagec.sources.tree import Fault, Tree

MOST = 2**53 - 1


def judged(file: str, text: str, unheld: tuple[Pointer, ...] = ()) -> tuple[Fault, ...]:
    form = format_of(file)
    assert form is not None
    parsed = form.parse(file, text.encode(), Budgets())
    tree = Tree(file, "pipeline", form, text.encode(), parsed.value, parsed.faults)
    return judge_numbers(tree, "pipeline", unheld).faults


def inexact(file: str, pointer: Pointer, number: int) -> Fault:
    return Fault("inexact-number", Place(file, pointer), facts={"number": number, "limit": MOST})


@given(st.integers(min_value=MOST - 1), st.sampled_from(["{}", "-{}", "+{}", "{:#x}", "{:#X}", "{:#o}", "00{}"]))
def test_every_way_of_writing_a_large_number_is_known(number: int, form: str) -> None:
    written = form.format(number).replace("0X", "0x")
    found = judged("f.yaml", f"entry: {written}\n")
    sign = -1 if written.startswith("-") else 1
    assert found == ((inexact("f.yaml", ("entry",), sign * number),) if number > MOST else ())


@pytest.mark.parametrize("written", ["1e300", "-1.5e16", "12345678901234567.0", '"12345678901234567890"', "true"])
def test_other_values_are_no_whole_numbers(written: str) -> None:
    assert judged("f.json", f'{{"entry": {written}, "id": "00000000000000000000"}}') == ()


@pytest.mark.parametrize("unheld", [("next",), ("next", "a"), ("next", "a", 0)])
def test_what_no_plan_holds_is_not_judged(unheld: Pointer) -> None:
    assert judged("f.json", f'{{"next": {{"a": [{MOST + 1}]}}}}', (unheld,)) == ()


def test_what_has_a_fault_already_gets_no_second_one() -> None:
    found = judged("f.yaml", f"next: {'9' * 5000}\nentry: {MOST + 1}\n")
    assert [(fault.topic, fault.at.pointer) for fault in found] == [
        ("number-out-of-range", ("next",)),
        ("inexact-number", ("entry",)),
    ]


def test_remarks_are_left_out_where_there_can_be_any() -> None:
    value: Json = {"comment": 1, "x-a": 1, "next": {"x-a": {"comment": 1, "when": {"x-a": 1, "comment": 1}}}}
    text = str(value).replace("'", '"').replace(": 1", f": {MOST + 1}")
    assert {fault.at.pointer for fault in judged("f.json", text)} == {
        ("next", "x-a", "when", "x-a"),
        ("next", "x-a", "when", "comment"),
    }
