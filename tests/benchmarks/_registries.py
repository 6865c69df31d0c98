"""Large registries: the flows of a real agent many times over, every copy under names of its own."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

JSON_LOADS = "import gc, json; gc.disable(); json.loads(open('steps_registry.json', 'rb').read())"
"""The baseline: parse the same bytes and do nothing with them."""


def agent() -> Path:
    """Return the folder of the agent that is copied."""
    return Path(os.environ["STAGEC_CORPUS"]) / "mutants" / "bases" / "iterator"


def enlarge(folder: Path, steps: int) -> Path:
    """Write a project of at least so many steps, without any finding, into a new folder and return it."""
    target = folder / f"of-{steps}"
    shutil.copytree(agent(), target)
    path = target / "steps_registry.json"
    registry = json.loads(path.read_bytes())
    own = registry["steps"]
    copies = -(-steps // len(own))
    registry["steps"] = {key: each for copy in range(copies) for key, each in _copied(own, copy, copies).items()}
    path.write_text(json.dumps(registry, indent=2), encoding="utf-8")
    return target


def _copied(steps: dict[str, Any], copy: int, copies: int) -> dict[str, Any]:
    """Return one copy of the steps; its continuations lead on to the next copy, so that all are reached."""
    names = {key: _name(key, copy) for key in steps}
    copied = {names[key]: _renamed(step, names) for key, step in steps.items()}
    for key in steps if copy + 1 < copies else ():
        if key.startswith("continuation."):
            following = _name(key.replace("continuation.", "initial.", 1), copy + 1)
            copied[names[key]]["transitions"]["next"]["target"] = following
    return copied


def _name(key: str, copy: int) -> str:
    """Return the name of a copy; its prompt is that of the first, whose layer the second part of the name tells."""
    return f"{key}.{copy}" if copy else key


def _renamed(given: Any, names: dict[str, str]) -> Any:
    """Replace the ids of steps in a step, except where it names the schema of its output."""
    if isinstance(given, dict):
        return {key: each if key == "outputSchemaRef" else _renamed(each, names) for key, each in given.items()}
    if isinstance(given, list):
        return [_renamed(each, names) for each in given]
    return names.get(given, given) if isinstance(given, str) else given
