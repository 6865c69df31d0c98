"""Where things are in the checkout that the contributors' tools work on."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The top of the checkout."""


def corpus() -> Path | None:
    """Return the folder that `STAGEC_CORPUS` names, or nothing."""
    named = os.environ.get("STAGEC_CORPUS")
    return Path(named).resolve() if named else None


def specification() -> Path | None:
    """Return the folder of the specification pages: `STAGEC_SPEC`, else `spec` beside the corpus."""
    named = os.environ.get("STAGEC_SPEC")
    if named:
        return Path(named).resolve()
    beside = corpus()
    return beside.parent / "spec" if beside else None
