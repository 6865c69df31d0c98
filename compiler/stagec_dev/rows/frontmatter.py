"""Markdown files: one row each, answered with what stagec says of the syntax of their frontmatter.

What is wanted is computed from what independent YAML parsers said: malformed when more of them refuse a file than read
it; where they are divided, as they are on repeated keys, the parser of YAML 1.2 decides that stagec follows. A file of
which none of them has an opinion has no frontmatter and is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.json import Json, Object
from stagec.pipeline import Project, compile_project
from stagec.project.settings import Settings
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind

_NAME = "frontmatter.md"
"""What a file is read as: names in the corpus are cut off and may have lost their suffix."""
_DECIDES = "ruamel_safe_12"
_SYNTAX = re.compile(r"STG1(?:0[3-9]|1[0-4])")


def _claims(file: str) -> bool:
    path = PurePosixPath(file)
    return path.name == "index.json" and path.parent.name == "frontmatter"


def _rows(root: Path, file: str) -> Iterable[Row]:
    return list_rows(root, file)


def _answer(root: Path, row: Row) -> Json:
    folder = (root / row.file).parent.resolve()
    data = (folder / row.id).read_bytes()
    project = Project(folder, (folder / _NAME,), Settings(), {_NAME: data})
    compilation = compile_project(project)
    told = [_show(each) for each in compilation.diagnostics if _about_syntax(each)]
    given = compilation.trees[_NAME].value
    verdict = "malformed" if told else "left alone" if given is None else "well-formed"
    return {"verdict": verdict, "keys": sorted(given) if isinstance(given, dict) else None, "diagnostics": told}


def _about_syntax(each: Diagnostic) -> bool:
    return _SYNTAX.fullmatch(each.code) is not None and each.severity is Severity.ERROR


def _show(each: Diagnostic) -> Object:
    start = each.span.start
    return {"code": each.code, "line": start.line, "column": start.column, "message": each.message}


def _compare(row: Row, got: Any) -> Agreement:
    said = row.given.get("yaml")
    if not isinstance(said, dict):
        return Agreement.UNKNOWN
    agrees = got.get("verdict") == _want(said) and (got["verdict"] != "malformed" or _is_reported_once(said, got))
    return Agreement.AGREE if agrees else Agreement.DISAGREE


def _want(said: Mapping[str, Any]) -> str:
    verdicts = [str(given) for parser, given in said.items() if given is not None and parser != "pyyaml_message"]
    refused = sum(verdict.startswith("err:") for verdict in verdicts)
    read = len(verdicts) - refused
    if not verdicts:
        return "left alone"
    malformed = str(said.get(_DECIDES)).startswith("err:") if refused == read else refused > read
    return "malformed" if malformed else "well-formed"


def _is_reported_once(said: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    """Tell whether there is one diagnostic, in a line that the other parser named or the one above it.

    That parser counts from the line behind the fence, and often stops one line too late.
    """
    lines = {int(line) for line in re.findall(r"line (\d+)", str(said.get("pyyaml_message") or ""))}
    near = {line + below for line in lines for below in (0, 1)}
    told = got["diagnostics"]
    return len(told) == 1 and (not near or told[0]["line"] in near)


FRONTMATTER = RowKind(_claims, _rows, _answer, _compare)
