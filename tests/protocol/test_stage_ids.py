"""Ids of stages: their parts, their faults and what was meant."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.ir.protocol.stage_ids import (
    VERBS,
    StageId,
    StageIdFault,
    is_short_form,
    looks_like_stage_id,
    read_stage_id,
    suggest_stage_id,
)

F = StageIdFault
CASES: dict[str, tuple[StageIdFault, ...]] = {
    "S01_load_data": (),
    "S99_export_all_the_results": (),
    "S1_load": (F.FORMAT,),
    "S100_load_data": (F.FORMAT,),
    "stage01_load": (F.FORMAT,),
    "s01_load_data": (F.FORMAT,),
    "S01_LoadData": (F.FORMAT,),
    "S01-load-data": (F.FORMAT,),
    "S01_load data": (F.FORMAT,),
    "S01_load_data\n": (F.FORMAT,),
    "\ufeffS01_load_data": (F.FORMAT,),
    "S\u0660\u0661_load_data": (F.FORMAT,),
    "\uff3301_load_data": (F.FORMAT,),
    "S01_lóad_data": (F.FORMAT,),
    "S01__data": (F.FORMAT,),
    "S01_": (F.FORMAT,),
    "S01": (F.FORMAT,),
    "": (F.FORMAT,),
    "S00_load_data": (F.SEQUENCE_ZERO,),
    "S00_load": (F.SEQUENCE_ZERO, F.MISSING_NOUN),
    "S01_data": (F.MISSING_VERB,),
    "S01_do": (F.MISSING_VERB,),
    "S02_eda": (F.MISSING_NOUN,),
    "S06_conclude": (F.MISSING_NOUN,),
    **{f"S07_{verb}": (F.MISSING_NOUN,) for verb in VERBS},
    "S02_eda2": (F.DIGITS, F.MISSING_NOUN),
    "S02_42": (F.DIGITS, F.MISSING_VERB),
    "S02_process_chunk1": (F.DIGITS,),
    "S02_load2_data": (F.DIGITS,),
    "S01_load_": (F.UNDERSCORE_RUN, F.MISSING_NOUN),
    "S01_data_": (F.UNDERSCORE_RUN, F.MISSING_VERB),
    "S01_load__data": (F.UNDERSCORE_RUN,),
    "S01_load_data_": (F.UNDERSCORE_RUN,),
    "S01_load_a__b": (F.UNDERSCORE_RUN,),
    "S01_prepare__data": (F.UNDERSCORE_RUN, F.UNKNOWN_VERB),
    "S01_do_stuff": (F.MEANINGLESS,),
    "S01_do_things": (F.MEANINGLESS,),
    "S01_do_inference": (F.VAGUE_VERB,),
    "S01_handle_data": (F.VAGUE_VERB,),
    "S01_load_stuff": (),
    "S01_prepare_data": (F.UNKNOWN_VERB,),
    "S01_load_" + "a" * 246: (),
    "S01_load_" + "a" * 247: (F.TOO_LONG,),
}


@pytest.mark.parametrize("text", CASES)
def test_each_fault_is_found_and_no_other(text: str) -> None:
    assert read_stage_id(text).faults == CASES[text]


def test_the_parts_are_read() -> None:
    assert read_stage_id("S07_train_rf_model") == StageId("S07_train_rf_model", 7, "train", "rf_model")
    assert read_stage_id("load") == StageId("load", faults=(F.FORMAT,))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("S1_load_data", "S01_load_data"),
        ("s01_load_data", "S01_load_data"),
        ("S01_LoadData", "S01_load_data"),
        ("S01-load-data", "S01_load_data"),
        ("stage01_load_data", "S01_load_data"),
        ("Stage 2: Clean Data", "S02_clean_data"),
        ("S01__load_data", "S01_load_data"),
        (" S01_load_data", None),
        ("S1_load", None),
        ("data-loading", None),
        ("S100_load_data", None),
        ("S01_lóad_data", None),
        ("S" * 5000, None),
        ("1_load_data" * 500, None),
    ],
)
def test_what_was_meant_is_told_where_it_has_no_fault(text: str, meant: str | None) -> None:
    assert suggest_stage_id(text) == meant


def test_short_forms_and_likenesses() -> None:
    assert [is_short_form(each) for each in ("S01", "S1", "S01_", "S\u0660\u0661")] == [True, False, False, False]
    likes = ("S01_load", "s01_load_data", "S01", "S01_load_data2", "data", "S1_load", "results")
    assert [looks_like_stage_id(each) for each in likes] == [True, True, True, True, False, False, False]


LITERAL = re.compile(r"S[0-9]{2}_[a-z]+_[a-z_]+")


@given(st.one_of(st.text(), st.from_regex(r"\AS[0-9]{1,3}_?[a-z0-9_]{0,20}\Z")))
def test_no_text_raises_and_the_schema_of_the_protocol_agrees(text: str) -> None:
    found = read_stage_id(text)
    narrower = {F.DIGITS, F.MISSING_VERB, F.MISSING_NOUN, F.FORMAT}
    if LITERAL.fullmatch(text):
        assert F.FORMAT not in found.faults
    else:
        assert narrower.intersection(found.faults)
    meant = suggest_stage_id(text)
    assert meant is None or not read_stage_id(meant).faults
