"""The vectors: plans with the traces of their runs, and files that a reader of plans accepts or refuses."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stagec.cli.conformance.served_machine import PIPELINE, REGISTRY, STAGES
from stagec.core.canonical import canonical
from stagec.core.json import Object
from stagec.core.value import value
from stagec.core.version import find_packed
from stagec.ir.plan.loader import write_frame

SECTIONS: Mapping[str, str] = {
    "1": "The file",
    "2.1": "How values are written",
    "2.2": "Members",
    "2.3": "References",
    "2.4": "Soundness",
    "3.1": "What is a run given?",
    "3.2": "Which node runs first, and which next?",
    "3.3": "How does a run end?",
    "3.4": "What text does a template make?",
    "3.5": "When may a node act?",
    "3.6": "What does an act do, and what is its result?",
    "3.7": "Which outcome does a result have?",
    "3.8": "Which edge does an outcome take?",
    "3.9": "What follows?",
    "3.10": "What does a node know of others?",
    "3.11": "How is the end of the work validated?",
    "3.12": "Which tools may be called?",
    "3.13": "What does the runner provide?",
    "3.16": "What is asked of the world, and what does it answer?",
    "3.17": "What is the status of a stage, and how does a run go on?",
    "6": "Extractors",
}
"""The sections of `docs/plan-format.md` that vectors are about, in order, with their headings."""

_PROFILES = {"prompt": REGISTRY, "command": REGISTRY, "converse": PIPELINE, "process": STAGES}


@value
class Vector:
    """One example: a plan and what must follow from each event; or a file, and whether a reader accepts it.

    `steps` are the steps of the trace; None for a file that is only read.
    """

    name: str
    profile: str
    sections: tuple[str, ...]
    file: str
    accepted: bool = True
    steps: tuple[Object, ...] | None = None


def read_vectors() -> Iterator[Vector]:
    """Yield all vectors: first the files, then the runs by plan and name."""
    packed = Path(find_packed("vectors"))
    folder = packed if packed.is_dir() else Path(find_packed(os.path.join("tests", "plan_vectors")))
    plans = {path.parent.name: path.read_text("utf-8") for path in sorted(folder.glob("*/plan.json"))}
    for case in json.loads((folder / "refused.json").read_text("utf-8")):
        file = plans[case["plan"]]
        yield Vector(case["says"], _profile_of(file), (case["section"],), _change(file, case), case["accepted"])
    for path in sorted(folder.glob("*/*.trace.json")):
        plan, name = path.parent.name, path.name.removesuffix(".trace.json")
        scenario = json.loads(path.with_name(f"{name}.scenario.json").read_text("utf-8"))
        steps = tuple(json.loads(path.read_text("utf-8")))
        sections = tuple(scenario["sections"])
        yield Vector(f"{plan}/{name}", _profile_of(plans[plan]), sections, plans[plan], steps=steps)


def _profile_of(file: str) -> str:
    node = next(iter(json.loads(file)["plan"]["nodes"].values()))
    return _PROFILES[node["act"]["is"]]


def _change(file: str, case: Mapping[str, Any]) -> str:
    """Return the file of a plan with a change of its bytes, or with changes of its payload and the digest of that."""
    if "bytes" in case:
        old, new = case["bytes"]
        return file.replace(old, new, 1)
    payload = json.loads(file)["plan"]
    for change in case["changes"]:
        *path, last = change["at"].split("/")[1:]
        holder: Any = payload
        for part in path:
            holder = holder[int(part) if isinstance(holder, list) else part]
        if "value" in change:
            holder[last] = change["value"]
        else:
            del holder[last]
    return write_frame(canonical(payload)).decode()
