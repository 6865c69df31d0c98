"""Cases of soundness: whole projects of which each says whether it is right, and a run that must not be a surprise."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.diagnostic import Severity
from stagec.core.failure import Exit
from stagec.core.json import Json
from stagec_dev.compiling import diagnostics
from stagec_dev.row import Agreement, Row, RowKind

_LIST = "index.json"
_SCENARIO = ".scenario.json"
_MINUTE = 60

_WANTS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "error": lambda got: got["errors"] > 0,
    "report": lambda got: bool(got["codes"]),
    "report-or-done": lambda got: bool(got["codes"]) or got["run"] == Exit.CLEAN,
    "no-error": lambda got: got["errors"] == 0 and got["compile"] == Exit.CLEAN,
    "one-error": lambda got: got["errors"] == 1,
}
"""What a case may want, and whether an answer is that."""


def _claims(file: str) -> bool:
    return "soundness" in PurePosixPath(file).parts[:-1]


def _rows(root: Path, file: str) -> Iterable[Row]:
    """Yield the cases that the list names; scenarios and the projects themselves are no rows."""
    if PurePosixPath(file).name == _LIST:
        cases = json.loads((root / file).read_bytes())["cases"]
        yield from (Row(file, name, given) for name, given in cases.items())


def _answer(root: Path, row: Row) -> Json:
    """Validate the project; if nothing is wrong, compile it, and run the plan if there is a scenario."""
    project = (root / row.file).parent / row.id
    found = diagnostics(project)
    errors = sum(each.severity is Severity.ERROR for each in found)
    codes = dict(sorted(Counter(each.code for each in found).items()))
    done = {"compile": None, "run": None} if errors else _run(project)
    return {"errors": errors, "codes": codes, **done}


def _run(project: Path) -> dict[str, Json]:
    """Return the exit statuses of `compile` and `run`; nothing for what is not done."""
    scenario = project.with_name(project.name + _SCENARIO)
    with TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.json"
        compiled = _command(Path(folder), "compile", "--root", project, project, "-o", plan)
        runs = compiled == Exit.CLEAN and scenario.exists()
        ended = _command(Path(folder), "run", plan, "--scenario", scenario, "--runs", folder) if runs else None
        return {"compile": compiled, "run": ended}


def _command(folder: Path, *arguments: str | Path) -> int:
    """Run a command of stagec in a folder, and return its exit status."""
    line = [sys.executable, "-m", "stagec", *map(str, arguments)]
    return subprocess.run(line, cwd=folder, check=False, capture_output=True, timeout=_MINUTE).returncode


def _compare(row: Row, got: Any) -> Agreement:
    wanted = _WANTS.get(str(row.given.get("want")))
    if wanted is None:
        return Agreement.UNKNOWN
    return Agreement.AGREE if "codes" in got and wanted(got) else Agreement.DISAGREE


SOUNDNESS = RowKind(_claims, _rows, _answer, _compare)
