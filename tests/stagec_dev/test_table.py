from __future__ import annotations

from stagec_dev.table import table


def test_columns_are_aligned_and_numbers_stand_right() -> None:
    shown = table(("name", "n"), [("one", 1), ("three", 30)])
    assert shown == "| name  |  n |\n|-------|---:|\n| one   |  1 |\n| three | 30 |\n"


def test_a_table_may_be_empty() -> None:
    assert table(("name",), []) == "| name |\n|-----:|\n"
