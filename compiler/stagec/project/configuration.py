"""The effective settings of a run, and where each of them came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.value import NOTHING, value
from stagec.core.version import __version__
from stagec.core.words import quote
from stagec.project.find import Found, common_folder, configuration_in, find
from stagec.project.keys import Value, flat, keys_of, settings_of
from stagec.project.required import accepts, well_formed
from stagec.project.settings import Settings
from stagec.project.toml import line_of

COMMAND_LINE = "command line"
DEFAULT = "default"


@value
class Configuration:
    """A project's root, its effective settings, and the origin of each.

    `provenance` says for every key (`fail-on`, `budgets.depth`, `severity.STG601`) whether its value comes from
    `default`, `stagec.toml`, `pyproject.toml` or `command line`. `file` is the configuration file, which lies in the
    root.
    """

    root: Path
    settings: Settings
    provenance: Mapping[str, str]
    file: str | None


def configure(
    paths: tuple[Path, ...] = (), root: Path | None = None, overrides: Mapping[str, object] = NOTHING
) -> Configuration:
    """Return the configuration for the paths that a user named.

    The root is `root`, else the folder of the nearest configuration at or above the paths, else the folder that holds
    them all. `overrides` are what the command line says, by key, and win. A configuration that is wrong raises
    `Failure` with one line per mistake.
    """
    folder = common_folder(paths if root is None else (root,))
    found = find(folder) if root is None else configuration_in(folder)
    written = {} if found is None else _checked(found)
    told = flat(overrides)
    settings = settings_of({**written, **told})
    file = None if found is None else found.file
    sources = {**dict.fromkeys(written, file or DEFAULT), **dict.fromkeys(told, COMMAND_LINE)}
    provenance = {key: sources.get(key, DEFAULT) for key in keys_of(settings)}
    return Configuration(Path(folder if found is None else found.folder), settings, provenance, file)


def _checked(found: Found) -> dict[str, Value]:
    """Return the keys of a configuration file; the version is looked at first, for a later one may know more keys."""
    if not isinstance(found.table, dict):
        raise Failure(f"{found.file}:{line_of(found.text, found.prefix)}: 'tool.stagec' must be a table")
    required = found.table.get("required-version")
    if isinstance(required, str) and well_formed(required) and not accepts(required, __version__):
        where = f"{found.file}:{line_of(found.text, (*found.prefix, 'required-version'))}"
        raise Failure(f"{where}: this is stagec {__version__}, the project requires {quote(required)}")
    _refuse_mistakes(found)
    return flat(found.table)


def _refuse_mistakes(found: Found) -> None:
    from stagec.project.mistakes import mistakes  # only a project with a configuration needs it

    located = sorted((_line(found, each.path), each.message) for each in mistakes(found.table))
    if located:
        raise Failure("\n".join(f"{found.file}:{line}: {message}" for line, message in located))


def _line(found: Found, path: tuple[str | int, ...]) -> int:
    return line_of(found.text, (*found.prefix, *(key for key in path if isinstance(key, str))))
