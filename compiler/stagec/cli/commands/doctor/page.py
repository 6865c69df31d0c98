"""Print an examination: for people to paste into a report, or as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.cli.commands.doctor.examination import Examination, examine
from stagec.cli.streams import put
from stagec.core.failure import Exit
from stagec.core.json import Json, Object, object_of
from stagec.core.secrets import Redactor
from stagec.core.words import visible


def print_examination(paths: tuple[Path, ...], root: Path | None, output_format: str) -> Exit:
    """Print what is there, and return the exit status."""
    found = examine(paths, root)
    if output_format == "json":
        text = json.dumps({**found.sections, "problems": list(found.problems)}, indent=2) + "\n"
    else:
        text = "".join(f"{visible(line)}\n" for line in _list_lines(found))
    put(Redactor(os.environ).redact_output(text))
    return Exit.FINDINGS if found.problems else Exit.CLEAN


def _list_lines(found: Examination) -> Iterator[str]:
    for title, section in found.sections.items():
        yield title
        rows = {
            name: _describe_part(each) if isinstance(each, dict) else _describe(each) for name, each in section.items()
        }
        width = max(map(len, rows), default=0)
        yield from (f"  {name:<{width}}  {each}".rstrip() for name, each in rows.items())
        yield ""
    if found.problems:
        yield "problems"
        yield from (f"  {each}" for each in found.problems)
    else:
        yield "no problem found"


def _describe(each: Json) -> str:
    """Return a fact as one line."""
    if isinstance(each, bool):
        return "yes" if each else "no"
    return "-" if each is None else str(each)


def _describe_part(part: Object) -> str:
    if "for" not in part:
        return ", ".join(f"{name}: {_describe(each)}" for name, each in part.items()) or "-"
    if "libraries" in part:
        libraries: Mapping[str, Json] = object_of(part["libraries"])
        missing = [name for name, version in libraries.items() if version is None]
        state = f"missing {', '.join(missing)}" if missing else "installed"
    else:
        state = str(part["path"] or "missing")
    return f"{state}  ({part['for'] or 'unknown'})"
