"""The list of checkpoints in files and folders."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from stagec.cli.commands.checkpoint.verify import judge_paths
from stagec.cli.streams import find_canvas, put
from stagec.cli.tables import draw_columns
from stagec.core.json import Json
from stagec.protocol.checkpoint import JudgedCheckpoint

_HEAD = ("run", "stage", "status", "created", "trust", "valid", "file")


def print_checkpoints(paths: tuple[Path, ...], output_format: str) -> None:
    """Print the checkpoints in some paths, those of a run in the order of their stages."""
    found = judge_paths(paths)
    if output_format == "json":
        put(json.dumps([_describe(each) for each in found], indent=2) + "\n")
        return
    rows: list[tuple[str, ...]] = [_HEAD]
    for each in found:
        told = _describe(each)
        cells = [str(told.get(name) or "") for name in _HEAD if name != "valid"]
        rows.append((*cells[:-1], "yes" if each.is_valid else "no", cells[-1]))
    put(draw_columns(find_canvas(sys.stdout, os.environ), rows))


def _describe(each: JudgedCheckpoint) -> dict[str, Json]:
    told: dict[str, Json] = {"file": each.file, "valid": each.is_valid, "trust": each.trust.value}
    manifest = each.manifest
    if manifest is None:
        return told
    return {
        **told,
        "checkpoint": manifest.checkpoint,
        "report": manifest.report,
        "run": manifest.run,
        "stage": manifest.stage,
        "status": manifest.status,
        "reason": manifest.reason,
        "created": manifest.created,
        "artifacts": [each.path for each in manifest.artifacts],
    }
