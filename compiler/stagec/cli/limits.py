"""Budgets, configuration and projects, as the arguments of a command select them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from stagec.core.value import NOTHING
from stagec.sources.project.configuration import Configuration, amount, ceilings, configure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stagec.check.pipeline import Project


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


def make_loader() -> Callable[[Path], Project]:
    """Return a function that loads the project of a folder as `stagec validate` does, with the user's budgets."""
    from stagec.check.pipeline import Project
    from stagec.cli.baselines import load_configured_baseline

    budgets = read_budgets()  # which only this thread knows

    def load(start: Path) -> Project:
        configuration = configure((start,), None, {"budgets": budgets}, os.environ)
        baseline = load_configured_baseline(configuration)
        return Project(configuration.root, (), configuration.settings, baseline=baseline)

    return load
