"""Options that several commands share, and the budgets and the configuration that follow from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from stagec.core.value import NOTHING
from stagec.project.ceilings import amount, ceilings
from stagec.project.configuration import Configuration, configure

F = TypeVar("F", bound=Callable[..., Any])

root = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project's folder; by default the nearest one above PATHS with a configuration.",
)

_Values = tuple[str, ...] | None


def _split(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> _Values:
    parts = tuple(part.strip() for each in given for part in each.split(",") if part.strip())
    return parts if given else None


def _selectors(option: str, text: str) -> Callable[[F], F]:
    return click.option(option, multiple=True, metavar="RULES", callback=_split, help=text)


select = _selectors(
    "--select", "Only these rules: codes, prefixes such as STG2, names, groups or severities, by commas."
)
extend_select = _selectors("--extend-select", "These rules as well.")
ignore = _selectors("--ignore", "Not these rules.")


def output_format(*choices: str, default: str | None) -> Callable[[F], F]:
    """Offer `--format` with the given choices."""
    shown = None if default is None else True
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(choices),
        default=default,
        show_default=shown,
        help="How to print.",
    )


def read_budgets() -> Mapping[str, int]:
    """Return the budgets that the command line sets; the last of several for one name counts."""
    context = click.get_current_context(silent=True)
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
