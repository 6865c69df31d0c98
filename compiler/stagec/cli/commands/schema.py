"""`stagec schema`: the JSON Schemas of what stagec reads and writes."""

from __future__ import annotations

import os
from pathlib import Path

import click

from stagec.cli.completions import complete_schema

_SUFFIX = ".schema.json"


@click.command(short_help="List the published JSON Schemas, or print one.")
@click.argument("name", required=False, shell_complete=complete_schema)
def schema(name: str | None) -> None:
    """Print the JSON Schema called NAME; without NAME, list all schemas."""
    from stagec.cli.streams import put
    from stagec.core.failure import Failure
    from stagec.core.nearest import NameIndex, hint
    from stagec.core.version import schema_file
    from stagec.core.words import listing, quote

    folder = Path(schema_file("diagnostics")).parent
    known = {file.removesuffix(_SUFFIX): folder / file for file in os.listdir(folder) if file.endswith(_SUFFIX)}
    if name is None:
        put("".join(f"{each}\n" for each in sorted(known)))
        return
    path = known.get(name.removesuffix(_SUFFIX))
    if path is None:
        near = hint(name, NameIndex(sorted(known))) or f"; there are {listing(sorted(known))}"
        raise Failure(f"no schema is called {quote(name)}{near}")
    put(path.read_text("utf-8"))
