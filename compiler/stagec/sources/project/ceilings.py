"""Who may raise the budgets of a project: the command line, the environment, and a user's own configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from stagec.core import observations
from stagec.core.bounded import OversizedError
from stagec.core.budgets import Budgets
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import quote
from stagec.sources.project.settings import BUDGETS
from stagec.sources.project.toml import line_of, parse

ENVIRONMENT = "environment"
_PREFIX = "STAGEC_BUDGET_"
_SIZE = re.compile(r"(?P<number>[0-9][0-9_,]{0,18}) ?(?P<unit>|[kMG]i?B|B)")
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "kiB": 2**10, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_MOST = {"depth": 200}
"""The largest budgets there can be, where more than a habit stands behind them; others are at most the last."""
_LARGEST = 10**9
_FILE = 100_000
"""Bytes of a user's own configuration."""


@value
class Ceilings:
    """The budgets that projects cannot raise, by key such as `file-size`, and where each of them comes from.

    What is in `outright` counts whatever a project says; of the others a project may ask for less.
    """

    budgets: Mapping[str, int]
    origins: Mapping[str, str]
    outright: frozenset[str]


def ceilings(told: Mapping[str, int], environment: Mapping[str, str]) -> Ceilings:
    """Return the budgets that a user sets: by command line, else by environment, else in a file of the user's own."""
    # a user's own configuration file and the budgets in it; nothing else can stand there
    path = _readable(environment)
    try:
        data = observations.read_whole(observations.resolve(path), _FILE) if observations.is_file(path) else b""
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, OversizedError) as error:
        raise Failure(f"{quote(path)} cannot be read: {error}") from error
    table = parse(path, text) if text else {}
    found = table.get("budgets", {})
    if table.keys() - {"budgets"} or not isinstance(found, dict):
        raise Failure(f"{path}:1: a user's own configuration holds a table 'budgets', and nothing else")
    written = {key: _number(key, given, f"{path}:{line_of(text, ('budgets', key))}") for key, given in found.items()}
    named = {key: environment[_variable(key)] for key in BUDGETS if environment.get(_variable(key))}
    surroundings = {key: amount(key, text, _variable(key)) for key, text in named.items()}
    origins = {
        **dict.fromkeys(written, path),
        **dict.fromkeys(surroundings, ENVIRONMENT),
        **dict.fromkeys(told, "command line"),
    }
    default = {key: getattr(Budgets(), name) for key, name in BUDGETS.items()}
    return Ceilings({**default, **written, **surroundings, **told}, origins, frozenset({*surroundings, *told}))


def amount(key: str, text: str, where: str) -> int:
    """Return the number that a text such as `5MB` is, or raise `Failure`."""
    if key not in BUDGETS:
        raise Failure(
            f"{where}: no budget is called {quote(key)}{hint(key, NameIndex(BUDGETS)) or ': ' + ', '.join(BUDGETS)}"
        )
    found = _SIZE.fullmatch(text.strip())
    number = int(re.sub("[_,]", "", found["number"])) * _UNITS[found["unit"]] if found else 0
    return _check(key, number, f"{where}: {quote(text)}")


def refuse_raised(key: str, asked: int, ceiling: int, where: str) -> None:
    """Raise `Failure` where a project asks for more than it may."""
    if asked > ceiling:
        raise Failure(
            f"{where}: 'budgets.{key}' is {asked:,}, and a project may only lower it from {ceiling:,}; to raise the"
            f" limit, use --budget {key}={asked}, {_variable(key)}={asked}, or 'budgets.{key}' in"
            f" {quote(_readable(os.environ))}"
        )


def _check(key: str, number: int, where: str) -> int:
    most = _MOST.get(key, _LARGEST)
    if not 1 <= number <= most:
        raise Failure(f"{where} is not a budget: expected a number from 1 to {most:,}, such as 64, 500kB or 5MB")
    return number


def _variable(key: str) -> str:
    return _PREFIX + key.replace("-", "_").upper()


def _number(key: str, given: object, where: str) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and key in BUDGETS:
        return _check(key, given, f"{where}: {given}")
    return amount(key, str(given), where)


def _readable(environment: Mapping[str, str]) -> str:
    folder = environment.get("XDG_CONFIG_HOME", "")
    home = environment.get("HOME", "")
    base = folder if os.path.isabs(folder) else os.path.join(home, ".config") if os.path.isabs(home) else ""
    return os.path.join(base, "stagec", "stagec.toml") if base else os.devnull
