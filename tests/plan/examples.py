"""The plans that the tests of plans share: those of the examples, and those made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handmade import processes, repeating, stages, steps
from phased import every_member, issue_flow

from stagec.core.canonical import canonical
from stagec.core.json import Json
from stagec.ir.plan import dump
from stagec.ir.plan.loader import write_frame
from stagec_dev.checkout import plans

_REGISTRIES = Path(__file__).parents[2] / "registries"
SOUND = ("code-review", "docs-repair", "guest-book", "issue-flow", "project-flow")

FILES: Mapping[str, bytes] = {
    "by hand: steps": dump(steps()),
    "by hand: repeats": dump(repeating()),
    "by hand: stages": dump(stages()),
    "by hand: processes": dump(processes()),
    "by hand: phases": dump(issue_flow()),
    "by hand: one phase": dump(every_member()),
    **{plan.id: dump(plan) for folder in SOUND for plan in plans(_REGISTRIES / folder)},
}
"""The file of every such plan, by the name of the plan."""


def payload(data: bytes) -> Any:
    """Return the plan in a file as plain JSON, which may be changed."""
    return json.loads(data)["plan"]


def file_of(plan: Json) -> bytes:
    """Return the file of a plan that is given as JSON, whatever it says."""
    return write_frame(canonical(plan))
