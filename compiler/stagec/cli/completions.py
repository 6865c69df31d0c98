"""Shell completions of values; a file that cannot be read gives none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stagec.core.failure import Failure

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

GROUPS = ("mandatory", "pedantic", "portability", "strict")
"""The groups of rules; importing all rules to learn them would take longer than people wait for a shell."""
_SCHEMA = ".schema.json"
_PLAIN = re.compile(r"[\w./:@%+,=][\w./:@%+,=#~-]*")
"""Names that mean nothing else to a shell: bash puts what it completes into the line as it is, so `$(…)` would run."""


def complete_rules(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return rules, families, groups and severities behind the last comma of a list; no rule is imported."""
    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{each}" for each in choose_fitting(_list_rules(), last)]


def complete_rule(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the rules and families that a word may be the begin of."""
    return choose_fitting(_list_rules(), begun)


def complete_schema(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the names of the published schemas."""
    from stagec.core.version import find_packed

    files = os.listdir(find_packed("schemas"))
    return choose_fitting((file.removesuffix(_SCHEMA) for file in files if file.endswith(_SCHEMA)), begun)


def complete_flow(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the ids of the flows in the paths that are named so far, or in the configured roots."""
    return choose_fitting(_list_flows(context), begun)


def complete_entry(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the entries of the plan that is named before."""
    return choose_fitting(_list_of_plan(context, "entries"), begun)


def complete_node(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the nodes of the plan that is named before."""
    return choose_fitting(_list_of_plan(context, "nodes"), begun)


def complete_output(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Let the shell complete a file: most shells break words at the colon behind a format."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(begun, type="file")]


def choose_fitting(names: Iterable[str], begun: str) -> list[str]:
    """Return the names that a word may be the begin of, without those that a shell would read as something else."""
    return sorted({name for name in names if name.startswith(begun) and _PLAIN.fullmatch(name)})


def _list_rules() -> Iterator[str]:
    """Yield the codes and names that the sources of rules declare, and what groups of rules are called."""
    from importlib import import_module

    from stagec.check import rules
    from stagec.core.diagnostic import Severity
    from stagec.core.rule import list_declared
    from stagec.core.shelf import names

    yield from ("ALL", *GROUPS, *(each.value for each in Severity))
    for family in names(rules):
        yield family
        yield from chain.from_iterable(list_declared(import_module(f"{rules.__name__}.{family}")))


def _list_flows(context: click.Context) -> Iterator[str]:
    from stagec.check.pipeline import Project, list_flows
    from stagec.sources.project.configuration import configure

    paths = tuple(path.absolute() for path in _list_paths(context))
    try:
        configuration = configure(paths, context.params.get("root"), environment=os.environ)
        yield from (flow.id for flow in list_flows(Project(configuration.root, paths, configuration.settings)))
    except Failure:
        return


def _list_of_plan(context: click.Context, part: str) -> Iterator[str]:
    from stagec.core.bounded import OversizedError, read_path
    from stagec.core.budgets import Budgets
    from stagec.ir.plan import PlanError, load

    path = next(iter(_list_paths(context)), None)
    if path is None or not path.is_file():
        return
    try:
        yield from filter(None, getattr(load(read_path(str(path), Budgets().plan_size)).plan, part))
    except (OSError, OversizedError, PlanError):
        return


def _list_paths(context: click.Context) -> list[Path]:
    """Return the paths that are named so far; behind an option without its value, no argument has been read yet."""
    read = (context.params.get(name) for name in ("plan", "path", "paths"))
    found = next((each for each in read if each), tuple(map(Path, context.args)))
    return [found] if isinstance(found, Path) else list(found)
