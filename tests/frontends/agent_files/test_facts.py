"""The data about tools: each row says how it was learnt, and has a type that is known."""

from __future__ import annotations

from typing import Any

import pytest

from stagec.core.memo import Memo
from stagec.core.place import Place
from stagec.languages.agent_files.known import Known, read_data
from stagec.languages.agent_files.values import find_misfits

ROWS = [
    (owner, kind, row)
    for owner, data in read_data().items()
    for kind, rows in data.get("values", {}).items()
    for row in rows
]


@pytest.mark.parametrize("owner", [owner for owner, data in read_data().items() if "values" in data])
def test_each_row_says_how_it_was_learnt(owner: str) -> None:
    learnt = read_data()[owner]["learnt"]
    rows = [row for each, _, row in ROWS if each == owner]
    assert {row[4] for row in rows} <= learnt.keys()
    assert all(said.startswith(("measured", "documented", "its type measured")) for said in learnt.values())
    assert {row[2] for row in rows} <= {"file", "entry", "program", "nothing"}
    assert {row[3] for row in rows} <= {"any", "user", "local", "managed"}


def test_each_row_judges_a_value_at_its_path() -> None:
    known = Known(read_data(), Memo())
    silent = []
    for owner, kind, (path, *_) in ROWS:
        names = path.split(".") if path else []
        depth = sum(not name.startswith("{") for name in names)
        for wrong in (None, "", "../a", 0.5, [[]], {"": None}):
            given: Any = wrong
            for name in reversed(names):
                if name.startswith("{"):  # what the value itself has to say
                    member, mark, text = name.strip("{}").partition("=")
                    said = {member: text} if mark else {}  # else the member is absent
                    given = {**(given if isinstance(given, dict) else {}), **said}
                else:
                    given = {"any" if name == "*" else name: given}
            found = find_misfits(given if isinstance(given, dict) else {}, Place("x"), known, kind, owner)
            if any(len(each.at.pointer) >= depth for each in found):
                break
        else:
            silent.append((owner, kind, path))
    assert silent == []


def test_no_path_has_two_rows_of_one_cost() -> None:
    named = [(owner, kind, row[0], row[2]) for owner, kind, row in ROWS]
    assert len(named) == len(set(named))
