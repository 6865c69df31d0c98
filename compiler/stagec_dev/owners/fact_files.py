"""The files of data about tools, written so that a diff shows each row that has changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stagec_dev.checkout import ROOT

FACTS = ROOT / "compiler" / "stagec" / "languages" / "agent_files" / "facts"
_WIDTH = 120


def spell_facts(given: Mapping[str, Any]) -> str:
    """Return data as JSON: a row a line, and short values with their members in one line."""
    return f"{_spell(given, '', is_open=True)}\n"


def _spell(given: Any, indent: str, *, is_open: bool = False) -> str:
    flat = json.dumps(given, ensure_ascii=False)
    inside = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    has_rows = any(isinstance(each, dict | list) for each in inside)
    is_short = isinstance(given, dict) and len(indent) + len(flat) <= _WIDTH
    if not is_open and (not has_rows or is_short):
        return flat
    further = f"{indent}  "
    if isinstance(given, list):
        lines, marks = [json.dumps(each, ensure_ascii=False) for each in given], "[]"
    else:
        lines, marks = [f"{json.dumps(key)}: {_spell(each, further)}" for key, each in given.items()], "{}"
    return f"{marks[0]}\n{further}" + f",\n{further}".join(lines) + f"\n{indent}{marks[1]}"
