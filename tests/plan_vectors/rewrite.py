"""Write the plans and the traces of this folder anew."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plan_vectors.files import read
from plan_vectors.made import made
from plan_vectors.scripts import play

FOLDER = Path(__file__).parent
_REGISTRIES = FOLDER.parents[1] / "registries"
_EXAMPLES = ("code-review", "docs-repair", "file-review", "issue-flow", "project-flow")


def plans() -> Mapping[str, bytes]:
    """Return the file of every plan as it has to be: those of stagec's examples, and those made by hand."""
    from stagec.ir.plan import dump
    from stagec_dev import checkout

    compiled = (plan for name in _EXAMPLES for plan in checkout.plans(_REGISTRIES / name))
    return {**{plan.id: dump(plan) for plan in compiled}, **made()}


def traces() -> Iterator[tuple[Path, str]]:
    """Yield the file of every trace, and its text as it has to be."""
    for scenario in sorted(FOLDER.glob("*/*.scenario.json")):
        name = scenario.name.replace(".scenario.", ".trace.")
        _, plan = read((scenario.parent / "plan.json").read_bytes())
        yield scenario.parent / name, trace(play(plan, json.loads(scenario.read_text(encoding="utf-8"))))


def trace(steps: list[dict[str, Any]]) -> str:
    """Return the text of a trace: a JSON list with each step in a line of its own."""
    lines = ",\n".join(json.dumps(step, ensure_ascii=False) for step in steps)
    return f"[\n{lines}\n]\n"


def _rewrite() -> None:
    for name, data in plans().items():
        (FOLDER / name).mkdir(exist_ok=True)
        (FOLDER / name / "plan.json").write_bytes(data)
    for path, text in traces():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _rewrite()
