"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from stagec.cli.completions import complete_rules
from stagec.cli.parameters import ExistingPath, OneOf
from stagec.core.diagnostic import Severity

F = TypeVar("F", bound=Callable[..., Any])

root = click.option(
    "--root",
    type=ExistingPath(file=False),
    help="The project's folder; by default the nearest one above PATHS with a configuration, else their repository.",
)

allow_empty = click.option(
    "--allow-empty",
    is_flag=True,
    help="Exit with 0 if there is nothing to read, for example in a commit hook.",
)

without_unreachable = click.option(
    "--without-unreachable",
    is_flag=True,
    help="Omit nodes that no run reaches, and report their errors as warnings.",
)

jobs = click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="N",
    help="The most processes; by default one for each processor, and one for short work.",
)

fail_on = click.option(
    "--fail-on",
    type=OneOf([*(each.value for each in Severity), "never"]),
    help="The lowest severity that gives exit status 1 [error].",
)

watch = click.option(
    "--watch", is_flag=True, help="Repeat after each change of a file or folder that was read, until Ctrl-C."
)

_Values = tuple[str, ...] | None


def _split(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> _Values:
    parts = tuple(part.strip() for each in given for part in each.split(",") if part.strip())
    return parts if given else None


def _selectors(option: str, text: str) -> Callable[[F], F]:
    return click.option(
        option, multiple=True, metavar="RULES", callback=_split, shell_complete=complete_rules, help=text
    )


select = _selectors(
    "--select", "Only these rules: codes, prefixes such as STG2, names, groups or severities, separated by commas."
)
extend_select = _selectors("--extend-select", "These rules as well.")
ignore = _selectors("--ignore", "Not these rules.")


def output_format(*choices: str, default: str | None) -> Callable[[F], F]:
    """Offer `--format` with the given choices."""
    shown = None if default is None else True
    return click.option(
        "--format",
        "output_format",
        type=OneOf(choices),
        default=default,
        show_default=shown,
        help="The output format.",
    )
