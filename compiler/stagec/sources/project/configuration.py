"""The effective settings of a run, and where each of them came from."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from stagec.core import observations
from stagec.core.bounded import OversizedError
from stagec.core.budgets import Budgets
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import NOTHING, replace, value
from stagec.core.version import __version__
from stagec.core.words import quote
from stagec.sources.project.find import FoundConfiguration, common_folder, configuration_in, find, find_obstacle
from stagec.sources.project.settings import (
    BUDGETS,
    FILES,
    FileIgnores,
    NamedModels,
    NodePolicies,
    Settings,
    Value,
    flat,
    keys_of,
    settings_of,
)
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


COMMAND_LINE = "command line"
DEFAULT = "default"


@value
class Configuration:
    """A project's root, its effective settings, and the origin of each.

    `provenance` says for every key (`fail-on`, `budgets.depth`, `severity.STG601`) whether its value comes from
    `default`, `stagec.toml`, `pyproject.toml`, `environment`, `command line`, or a user's own file, by its path. `file`
    is the configuration file, which lies in the root.
    """

    root: Path
    settings: Settings
    provenance: Mapping[str, str]
    file: str | None


def configure(
    paths: tuple[Path, ...] = (),
    root: Path | None = None,
    overrides: Mapping[str, Any] = NOTHING,
    environment: Mapping[str, str] = NOTHING,
) -> Configuration:
    """Return the configuration for the paths that a user named.

    The root is `root`, else the folder of the nearest configuration at or above the paths, else the top of their
    repository, else the folder that holds their `.agent` or the folder of another tool, else the folder that holds them
    all. Where nobody names a path or a root and there is no configuration, the current folder is what is looked at.
    `overrides` are what the command line says, by key, and win. A wrong configuration raises `Failure` with one line
    per mistake, and so does one that exceeds its budgets. The budgets are the user's: `overrides`, `environment`, or a
    file that the environment names sets them.
    """
    start = common_folder(paths if root is None else (root,))
    nearest = find(start) if root is None else configuration_in(start) or start
    folder, found = (nearest, None) if isinstance(nearest, str) else (nearest.folder, nearest)
    written = {"roots": (os.path.relpath(start, folder),)} if found is None else _check_keys(found)
    told = flat(overrides)
    limits = ceilings(overrides.get("budgets", NOTHING), environment)
    # refuse a project that asks for more than its user allows, unless the user says outright what counts
    for key, ceiling in limits.budgets.items():
        asked = written.get(f"budgets.{key}")
        if found is not None and isinstance(asked, int) and key not in limits.outright:
            refuse_raised(key, asked, ceiling, f"{found.file}:{_line(found, ('budgets', key))}")
    if found is not None:
        _refuse_outside(found, written)
    outright = {f"budgets.{key}": limits.budgets[key] for key in limits.outright}
    raised = {f"budgets.{key}": limits.budgets[key] for key in limits.origins}
    given = settings_of({**raised, **written, **outright, **told})
    settings = given if found is None else _add_origins(given, found, frozenset(written) - frozenset(told))
    file = None if found is None else found.file
    sources: dict[str, str] = {f"budgets.{key}": origin for key, origin in limits.origins.items()}
    sources |= {key: file or DEFAULT for key in written if key not in outright}
    sources |= dict.fromkeys(told, COMMAND_LINE)
    provenance = {key: sources.get(key, DEFAULT) for key in keys_of(settings)}
    return Configuration(Path(folder), settings, provenance, file)


def _check_keys(found: FoundConfiguration) -> dict[str, Value]:
    """Return the keys of a configuration file; the version is looked at first, for a later one may know more keys."""
    if not isinstance(found.table, dict):
        raise Failure(f"{found.file}:{line_of(found.text, found.prefix)}: 'tool.stagec' must be a table")
    required = found.table.get("required-version")
    if isinstance(required, str) and well_formed(required) and not accepts(required, __version__):
        where = f"{found.file}:{line_of(found.text, (*found.prefix, 'required-version'))}"
        raise Failure(f"{where}: this is stagec {__version__}, the project requires {quote(required)}")
    from stagec.sources.project.mistakes import mistakes  # only a project with a configuration needs it

    located = sorted((_line(found, each.path), each.message) for each in mistakes(found.table))
    if located:
        raise Failure("\n".join(f"{found.file}:{line}: {message}" for line, message in located))
    return flat(found.table)


def _refuse_outside(found: FoundConfiguration, written: Mapping[str, Any]) -> None:
    """Raise `Failure` for a key that names what no command opens; a file that does not exist may come later."""
    for key in FILES:
        given = written.get(key, ())
        for file in given if isinstance(given, list | tuple) else (str(given),):
            obstacle = find_obstacle(found.folder, file, may_lack=True)
            if obstacle is not None:
                line = _line(found, tuple(key.split(".")))
                told = f"{quote(key)} of the configuration names {quote(file)}, which {obstacle}"
                raise Failure(f"{found.file}:{line}: {told}")


def _add_origins(settings: Settings, found: FoundConfiguration, filed: frozenset[str]) -> Settings:
    """Return settings with the keys that a file has set, and the lines on which it has patterns."""
    ways = ((each, ("per-file-ignores", each.pattern, each.selector)) for each in settings.file_ignores.entries)
    ignores = FileIgnores(tuple(replace(each, line=_line(found, way)) for each, way in ways), found.file, found.text)
    silencing = frozenset(key for key in filed if key in {"select", "ignore"} or key.startswith("severity."))
    policies = settings.node_policies
    lines = {pattern: _line(found, ("node-policies", pattern)) for pattern in policies.entries}
    models = tuple((name, _line(found, way)) for name, way in _list_models(settings))
    return replace(
        settings,
        filed=silencing,
        named_models=NamedModels(models, found.file, found.text) if models else settings.named_models,
        file_ignores=ignores if ignores.entries else settings.file_ignores,
        node_policies=NodePolicies(policies.entries, lines, found.file, found.text) if lines else policies,
    )


def _list_models(settings: Settings) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the models and providers that a configuration names, with the keys that lead to each."""
    yield from ((name, ("models", key)) for key, name in settings.models.items())
    yield from ((key, ("model-policies", key)) for key in settings.model_policies)
    for pattern, policy in settings.node_policies.entries.items():
        name = str(policy.get("model", ""))
        if ":" in name:
            yield name, ("node-policies", pattern, "model")


def _line(found: FoundConfiguration, path: tuple[str | int, ...]) -> int:
    return line_of(found.text, (*found.prefix, *(key for key in path if isinstance(key, str))))


_CLAUSE = re.compile(r"\s*(?P<operator>==|!=|>=|<=|>|<)\s*(?P<release>[0-9]{1,9}(\.[0-9]{1,9})*)\s*")
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*")
_OPERATORS: dict[str, Callable[[list[int], list[int]], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def well_formed(specifier: str) -> bool:
    """Tell whether a specifier is a list of comparisons with release numbers, separated by commas."""
    return all(_CLAUSE.fullmatch(clause) for clause in specifier.split(","))


def accepts(specifier: str, version: str) -> bool:
    """Tell whether a version satisfies every clause of a well-formed specifier; only its release numbers count."""
    release = _RELEASE.match(version)
    numbers = release[0] if release else "0"
    found = [match for clause in specifier.split(",") if (match := _CLAUSE.fullmatch(clause))]
    return all(_OPERATORS[match["operator"]](*_pad(numbers, match["release"])) for match in found)


def _pad(left: str, right: str) -> tuple[list[int], list[int]]:
    pairs = list(zip_longest(map(int, left.split(".")), map(int, right.split(".")), fillvalue=0))
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
