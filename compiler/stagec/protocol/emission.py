"""Markers that a runner writes: each is one line without its end, and the parser reads it as it was meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Status = Literal["success", "failed", "interrupted"]
Reason = Literal["timeout", "abort", "error"]


def format_stage_begin(stage: str) -> str:
    """Return the marker of a stage that starts."""
    return _format("STAGE", "begin", {"id": stage})


def format_stage_progress(stage: str, percent: float, message: str = "") -> str:
    """Return the marker of a stage that goes on; `percent` is brought into 0 to 100."""
    said = {"msg": message} if message else {}
    return _format("STAGE", "progress", {"id": stage, "pct": f"{min(max(percent, 0), 100):.0f}", **said})


def format_stage_end(stage: str, status: Status, seconds: float) -> str:
    """Return the marker of a stage that has ended."""
    return _format("STAGE", "end", {"id": stage, "status": status, "duration": f"{max(seconds, 0):.1f}s"})


def format_checkpoint_saved(checkpoint: str, stage: str, manifest: str) -> str:
    """Return the marker of a checkpoint; a manifest whose path a marker cannot carry is not named."""
    named = {} if _UNSAFE.search(manifest) else {"manifest": manifest}
    return _format("CHECKPOINT", "saved", {"id": checkpoint, "stage": stage, **named})


def format_checkpoint_emergency(checkpoint: str, stage: str, reason: Reason) -> str:
    """Return the marker of a checkpoint of what an interrupted or failed stage has left."""
    return _format("CHECKPOINT", "emergency", {"id": checkpoint, "stage": stage, "reason": reason})


def format_rehydrated(checkpoint: str) -> str:
    """Return the marker of a run that continues from a checkpoint."""
    return _format("REHYDRATED", None, {"from": checkpoint})


def _format(kind: str, subtype: str | None, attributes: Mapping[str, str]) -> str:
    """Return a marker; what would end a value or the line is replaced, since nothing can escape it."""
    parts = [kind, *(() if subtype is None else (subtype,)), *(f"{key}={text}" for key, text in attributes.items())]
    safe = [_UNSAFE.sub(lambda unsafe: _SHOWN.get(unsafe[0], " "), part) for part in parts]
    return f"[{':'.join(safe)}]"


_UNSAFE = re.compile(r"[:\[\]]|\s+|[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_SHOWN = {":": "-", "[": "(", "]": ")"}
