"""Effective settings in writing: TOML with the origin of every value beside it, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from stagec.core.visible import visible
from stagec.project.configuration import Configuration
from stagec.project.settings import Value, keys_of

_WHEN_NOT_SET = {"select": "every family that is not optional", "required-version": "any version"}
_TABLES = ("severity", "budgets")


def as_toml(configuration: Configuration) -> str:
    """Return a configuration as a `stagec.toml` could say it."""
    keys = keys_of(configuration.settings)
    lines = [f"# project root: {visible(str(configuration.root))}"]
    lines.append(f"# configuration file: {configuration.file or 'none'}")
    lines += _rows({key: given for key, given in keys.items() if "." not in key}, configuration.provenance, "")
    for table in _TABLES:
        inside = {key: given for key, given in keys.items() if key.startswith(f"{table}.")}
        if inside:
            lines += ["", f"[{table}]", *_rows(inside, configuration.provenance, f"{table}.")]
    return "".join(f"{line}\n" for line in lines)


def as_json(configuration: Configuration) -> str:
    """Return a configuration as one JSON object; `value` is null where a setting is not set."""
    keys = keys_of(configuration.settings).items()
    settings = {key: {"value": given, "from": configuration.provenance[key]} for key, given in keys}
    whole = {"root": str(configuration.root), "file": configuration.file, "settings": settings}
    return json.dumps(whole, indent=2) + "\n"


def _rows(keys: Mapping[str, Value], provenance: Mapping[str, str], prefix: str) -> Iterator[str]:
    written = {key: _row(key, key.removeprefix(prefix), given) for key, given in keys.items()}
    width = min(max(map(len, written.values()), default=0), 60)
    for key, row in written.items():
        yield f"{row:<{width}}  # {provenance[key]}"


def _row(key: str, name: str, given: Value) -> str:
    if given is None:
        return f"# {name}: {_WHEN_NOT_SET[key]}"
    bare = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    return f"{name if bare else _text(name)} = {_written(given)}"


def _written(given: Value) -> str:
    if isinstance(given, tuple):
        return f"[{', '.join(map(_text, given))}]"
    return _text(given) if isinstance(given, str) else json.dumps(given)


def _text(text: str) -> str:
    """Return a basic string in which nothing is hidden; JSON's short escapes are TOML's too."""
    escaped = json.dumps(text, ensure_ascii=False).encode(errors="replace").decode()
    return "".join(each if each.isprintable() else f"\\U{ord(each):08X}" for each in escaped)
