"""The budgets and the configuration that follow from what the user says."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from stagec.core.value import NOTHING
from stagec.sources.project.configuration import Configuration, amount, ceilings, configure


def read_budgets() -> Mapping[str, int]:
    """Return the budgets that the command line sets; the last of several for one name counts."""
    if "click" not in sys.modules:  # a command line that was read without it sets none
        return NOTHING
    from click import get_current_context

    context = get_current_context(silent=True)
    given = () if context is None else context.find_root().params.get("budget", ())
    pairs = (each.partition("=") for each in given)
    return {key: amount(key, text, "--budget") for key, _, text in pairs}


def find_limit(key: str) -> int:
    """Return a budget for what lies in no project: files that a user names, and standard input."""
    return ceilings(read_budgets(), os.environ).budgets[key]


def load_configuration(
    paths: tuple[Path, ...], root: Path | None = None, overrides: Mapping[str, object] = NOTHING
) -> Configuration:
    """Return the configuration for the paths that a user named, with the budgets that the user sets."""
    return configure(paths, root, {**overrides, "budgets": read_budgets()}, os.environ)
