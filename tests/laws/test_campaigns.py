"""Tests that try many cases have three sizes, from `campaigns`."""

from __future__ import annotations

import ast
from pathlib import Path

from laws.modules import TOP, text_of, tree_of

MOST = 150
"""So many examples a property may ask for whatever the size of campaigns is."""


def large_properties_in(path: Path) -> list[int]:
    """List the numbers of examples that a file asks hypothesis for, beyond what is quick, without `choose`."""
    if "max_examples" not in text_of(path):
        return []
    words = (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.keyword) and node.arg == "max_examples")
    given = (each.value.value for each in words if isinstance(each.value, ast.Constant))
    return [number for number in given if number > MOST]


def test_properties_with_many_examples_have_a_quick_size() -> None:
    found = {str(path.relative_to(TOP)): large_properties_in(path) for path in (TOP / "tests").rglob("*.py")}
    assert {file: numbers for file, numbers in found.items() if numbers} == {}


def test_a_property_with_one_size_is_found(tmp_path: Path) -> None:
    path = tmp_path / "test_x.py"
    path.write_text("settings(max_examples=151), settings(max_examples=choose(50, whole=500))", encoding="utf-8")
    assert large_properties_in(path) == [151]
