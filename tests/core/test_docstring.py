"""Docstrings that users read are there whatever Python strips."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = Path(__file__).parents[2] / "compiler"
TEXTS = '''"""Of the module."""


class Documented:
    """Of the class."""

    def method(self):
        """Of the method."""


def plain():
    pass


def made():
    def inner():
        """Of the
        function inside."""

    return inner
'''
ASKED = """
import sys, written
from inspect import cleandoc  # newer Pythons take the indentation away when they compile
from stagec.core.shelf import docstring
things = (written, written.Documented, written.Documented.method, written.plain, written.made())
print([cleandoc(docstring(each)) for each in things])
"""
EVERYTHING = """
import click
from stagec.cli.app import run, stagec
from stagec.check.pipeline import list_families

def show(command, context, path):
    run([*path, "--help"])
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        show(command.get_command(context, name), context, [*path, name])

show(stagec, click.Context(stagec), [])
run(["explain"])
for family in list_families():
    run(["explain", family.rules()[0].code])
"""


def printed(program: str, *flags: str, beside: Path) -> str:
    ended = subprocess.run(
        [sys.executable, *flags, "-c", program],
        env={"PYTHONPATH": f"{COMPILER}:{beside}", "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


@pytest.mark.parametrize("flags", [(), ("-O",), ("-OO",)])
def test_a_docstring_is_read_from_the_source_where_python_strips_it(tmp_path: Path, flags: tuple[str, ...]) -> None:
    (tmp_path / "written.py").write_text(TEXTS)
    told = ["Of the module.", "Of the class.", "Of the method.", "", "Of the\nfunction inside."]
    assert printed(ASKED, *flags, beside=tmp_path) == f"{told}\n"


def test_no_page_and_no_help_is_lost(tmp_path: Path) -> None:
    whole = printed(EVERYTHING, beside=tmp_path)
    assert whole.count("Usage: ") > len(("validate", "compile", "run"))
    assert whole.count("## How to fix") > len(("STG101", "STG102", "STG103"))
    assert printed(EVERYTHING, "-OO", beside=tmp_path) == whole
