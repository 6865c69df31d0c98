"""`stagec config show`: the effective settings, and where each came from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stagec.cli import options
from stagec.cli.parameters import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from stagec.sources.project.configuration import Configuration
    from stagec.sources.project.settings import Value


COMMAND = Group(
    "config",
    help="Show the configuration of a project.",
    short_help="Show the configuration of a project.",
)


@COMMAND.subcommand("show", "Print the effective settings and their origins.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@options.output_format("text", "json", default="text")
def _show(paths: tuple[Path, ...], root: Path | None, output_format: str) -> None:
    """Print the effective settings for PATHS, and the origin of each.

    The output is valid TOML for a stagec.toml; the comments name the origins.
    """
    from stagec.cli.files import describe_absence
    from stagec.cli.limits import load_configuration
    from stagec.cli.streams import put
    from stagec.core.failure import Failure
    from stagec.sources.project.settings import keys_of

    for path in paths:
        if not os.path.lexists(path):
            raise Failure(describe_absence(path))
    configuration = load_configuration(paths, root)
    if output_format == "json":
        keys = keys_of(configuration.settings).items()
        settings = {key: {"value": given, "from": configuration.provenance[key]} for key, given in keys}
        whole = {"root": str(configuration.root), "file": configuration.file, "settings": settings}
        put(f"{json.dumps(whole, indent=2)}\n")
    else:
        put(_as_toml(configuration))


_WHEN_NOT_SET = {
    "select": "every rule that is not optional",
    "required-version": "any version",
    "baseline": "no baseline",
    "documentation": "no site",
}
_TABLES = (
    "severity",
    "per-file-ignores",
    "models",
    "model-policies",
    "node-policies",
    "tools",
    "agent-files",
    "budgets",
)


def _as_toml(configuration: Configuration) -> str:
    """Return a configuration as a `stagec.toml` could say it."""
    from stagec.core.words import visible
    from stagec.sources.project.settings import keys_of

    keys = keys_of(configuration.settings)
    lines = [f"# project root: {visible(str(configuration.root))}"]
    lines.append(f"# configuration file: {configuration.file or 'none'}")
    lines += _rows({key: given for key, given in keys.items() if "." not in key}, configuration.provenance, "")
    for table in _TABLES:
        inside = {key: given for key, given in keys.items() if key.startswith(f"{table}.")}
        if inside:
            lines += ["", f"[{table}]", *_rows(inside, configuration.provenance, f"{table}.")]
    return "".join(f"{line}\n" for line in lines)


def _rows(keys: Mapping[str, Value], provenance: Mapping[str, str], prefix: str) -> Iterator[str]:
    written: dict[str, str] = {}
    for key, given in keys.items():
        name = key.removeprefix(prefix)
        bare = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
        if given is None:
            written[key] = f"# {name}: {_WHEN_NOT_SET[key]}"
        else:
            written[key] = f"{name if bare else _text(name)} = {_write_value(given)}"
    width = min(max(map(len, written.values()), default=0), 60)
    for key, row in written.items():
        yield f"{row:<{width}}  # {provenance[key]}"


def _write_value(given: object) -> str:
    """Return a value as TOML; a table is one line."""
    if isinstance(given, dict):
        return f"{{{', '.join(f'{_text(key)} = {_write_flat(each)}' for key, each in given.items())}}}"
    return _write_flat(given)


def _write_flat(given: object) -> str:
    """Return a value without tables as TOML."""
    if isinstance(given, tuple):
        return f"[{', '.join(map(_text, given))}]"
    return _text(given) if isinstance(given, str) else json.dumps(given)


def _text(text: str) -> str:
    """Return a basic string in which nothing is hidden; JSON's short escapes are TOML's too."""
    escaped = json.dumps(text, ensure_ascii=False).encode(errors="replace").decode()
    return "".join(each if each.isprintable() else f"\\U{ord(each):08X}" for each in escaped)
