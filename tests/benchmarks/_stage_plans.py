"""Large stage plans: each stage needs three of the stages shortly before it, and reads what they make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stagec.ir.protocol.stage_ids import VERBS

JSON_LOADS = "import gc, json; gc.disable(); json.loads(open('plan.json', 'rb').read())"
"""The baseline: parse the same bytes and do nothing with them."""
CRITICAL = """
(meaning,) = compilation.meanings
assert meaning.flow.find_critical("")
"""
"""What asks for the critical path of what has been validated."""
_NEEDED = (3, 7, 50)
"""How many stages before a stage those are that it needs."""


def write_stage_plan(folder: Path, count: int) -> Path:
    """Write a plan of so many stages, of which nothing can be said but that they share numbers."""
    folder.mkdir()
    names = [_name(index, count) for index in range(count)]
    stages = [_make_stage(names, index) for index in range(count)]
    plan = {"reportTitle": "large", "runId": "run-001", "maxParallel": 8, "stages": stages}
    (folder / "plan.json").write_text(json.dumps(plan, indent=2), encoding="utf-8")
    return folder


def _name(index: int, count: int) -> str:
    letters = "".join(chr(ord("a") + int(digit)) for digit in str(index))
    return f"S{1 + 99 * index // count:02}_{[*VERBS][index % len(VERBS)]}_part_{letters}"


def _make_stage(names: list[str], index: int) -> dict[str, Any]:
    needed = [names[index - each] for each in _NEEDED if each <= index]
    return {
        "stageId": names[index],
        "goal": f"Do the work of part {index} of the data",
        "inputs": {f"table{at}": f"{each}/table_df.parquet" for at, each in enumerate(needed)},
        "outputs": {"table": "table_df.parquet"},
        "maxDurationSec": 60 + index % 100,
        "dependencies": needed,
    }
