"""The public interface has types: a type checker reads a user's file as strictly as its own project."""

from __future__ import annotations

import sys
from pathlib import Path

from mypy import api

import stagec

FILE = '''
from pathlib import Path
from typing import assert_type

import stagec
from stagec import Compilation, Diagnostic, Failure, Project, Settings, Severity, compile_project


def list_errors(folder: Path) -> list[str]:
    """Return the errors of a project, each with its place."""
    try:
        found = compile_project(Project(folder, (), Settings(select=("ALL",))))
    except Failure as failure:
        return [str(failure)]
    assert_type(found, Compilation)
    wrong = [each for each in found.diagnostics if each.severity is Severity.ERROR]
    assert_type(wrong, list[Diagnostic])
    return [f"{name_place(each.at, each.span)}: {each.message}" for each in wrong]


def name_place(place: stagec.Place, span: stagec.Span) -> str:
    return f"{place.file}:{span.start.line}"


version: str = stagec.__version__
'''
WRONG = {
    "stagec.compile_projekt": 'Module has no attribute "compile_projekt"',
    "stagec.compile_project(Path())": 'Argument 1 to "compile_project" has incompatible type "Path"',
    "stagec.Settings(selekt=())": 'Unexpected keyword argument "selekt" for "Settings"',
    "stagec.load_plan(Path())": 'Argument 1 to "verify" has incompatible type "Path"; expected "bytes"',
}
"""Lines that a type checker has to refuse, and what it says."""


def test_a_users_file_is_right_and_each_mistake_in_it_is_found(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    uses = (f"_{number} = stagec.{name}" for number, name in enumerate(stagec.__all__))
    file.write_text("\n".join((FILE, *uses, *WRONG, "")), encoding="utf-8")
    options = ("--strict", "--config-file=", f"--cache-dir={tmp_path}", f"--python-executable={sys.executable}")
    told, failed, _ = api.run([*options, str(file)])
    *found, _ = told.splitlines()
    assert (failed, len(found)) == ("", len(WRONG)), told
    for line, expected in zip(found, WRONG.values(), strict=True):
        assert expected in line
