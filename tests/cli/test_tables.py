"""Tables whose cells line up, as wide as the paper."""

from __future__ import annotations

from stagec.cli.sheet import draw_columns
from stagec.core.terminal import Canvas, columns


def test_cells_line_up_and_empty_columns_are_left_out() -> None:
    assert draw_columns(Canvas(), [("a", "", "x"), ("bcd", "", "y")]) == "a    x\nbcd  y\n"


def test_wide_characters_count_twice() -> None:
    assert draw_columns(Canvas(), [("審査", "x"), ("a", "y")]) == "審査  x\na     y\n"


def test_the_last_cell_ends_where_the_terminal_does() -> None:
    told = draw_columns(Canvas(20), [("name", "x" * 100), ("other", "y")])
    assert told == "name   xxxxxxxxxxxx…\nother  y\n"


def test_the_widest_cells_give_way_first() -> None:
    told = draw_columns(Canvas(50), [("1", "x" * 60, "y" * 22), ("2", "a", "b")])
    assert told == f"1  {'x' * 22}…  {'y' * 22}\n2  a{' ' * 24}b\n"


def test_cells_stay_wide_enough_to_be_told_apart_and_rows_take_several_lines() -> None:
    told = draw_columns(Canvas(10), [("x" * 100, "y" * 100), ("x", ""), ("x", "y")])
    assert told == f"{'x' * 11}…\n    {'y' * 9}…\nx\nx\n    y\n"
    rows = [("one", "writer", "sha256:0123456789ab", "interrupted", "4 executions", "9 events", "completed")]
    told = draw_columns(Canvas(60), rows)
    assert told == "one  writer  sha256:0123…  interrupted  4 executions\n    9 events  completed\n"
    told = draw_columns(Canvas(60), [(*rows[0][:-1], "x" * 100)])
    assert told.splitlines()[1] == f"    9 events  {'x' * 45}…"


def test_on_no_terminal_the_last_cell_is_whole() -> None:
    assert draw_columns(Canvas(None), [("name", "x" * 100)]) == f"name  {'x' * 100}\n"


def test_other_cells_are_cut_whatever_is_in_them() -> None:
    told = draw_columns(Canvas(80), [("審" * 100, "\x1b[2J" * 50, "z")])
    assert all(columns(line) <= 80 for line in told.splitlines())
    assert "\x1b" not in told


def test_a_column_that_somebody_has_to_type_is_never_cut() -> None:
    rows = [("run-20261122-213718", "a plan with a long name", "interrupted")]
    assert draw_columns(Canvas(50), rows, whole=1) == "run-20261122-213718  a plan with a l…  interrupted\n"
    assert draw_columns(Canvas(20), [("run-20261122-213718",)], whole=1) == "run-20261122-213718\n"


def test_nothing_makes_no_table() -> None:
    assert draw_columns(Canvas(), []) == ""
    assert draw_columns(Canvas(), [("", "")]) == ""
