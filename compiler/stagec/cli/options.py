"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

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
