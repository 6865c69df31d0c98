"""Answer requests about the processes of stages without running any, as a scenario or a person says."""

from __future__ import annotations

from hashlib import sha256

from stagec.core.json import Json, Object, list_of
from stagec.runtime.exchange import Execute, Interrupt, Preserve, Publish, StageRequest

_EMPTY = sha256().hexdigest()
"""What is said of files that nobody has written."""


def simulate_stage(effect: StageRequest, told: Object) -> Json:
    """Return the answer to a request; what is not told is as in a stage that succeeds and leaves empty files."""
    match effect:
        case Execute():
            return _imagine_execution(effect, told)
        case Publish():
            if "unpublished" in told:
                return {"error": told["unpublished"]}
            return {"checkpoint": f"ckpt-{effect.node}" if effect.checkpoint else None}
        case Preserve():
            return {"checkpoint": None, "valid": told.get("valid", True)}
        case Interrupt():
            return {}


def _imagine_execution(effect: Execute, told: Object) -> Json:
    missing = list_of(told.get("missing"))
    left = {name: path for name, path in effect.outputs.items() if name not in missing}
    return {
        "exit": told.get("exit", None if "interrupted" in told else 0),
        "interrupted": told.get("interrupted"),
        "status": told.get("status"),
        "missing": missing,
        "changed": told.get("changed", []),
        "outputs": {name: {"path": path, "sha256": _EMPTY, "sizeBytes": 0} for name, path in left.items()},
        "error": told.get("error"),
        "seconds": told.get("seconds", 0),
    }
