"""`stagec schema`: the JSON Schemas of what stagec reads and writes."""

from __future__ import annotations

import os
from pathlib import Path

import click

_SUFFIX = ".schema.json"


@click.command(short_help="List the published JSON Schemas, or print one.")
@click.argument("name", required=False)
def schema(name: str | None) -> None:
    """Print the JSON Schema called NAME; without NAME, list the schemas there are."""
    from stagec.cli.streams import put
    from stagec.core.failure import Failure
    from stagec.core.nearest import NameIndex, hint
    from stagec.core.words import listing, quote

    known = _find_schemas()
    if name is None:
        put("".join(f"{each}\n" for each in sorted(known)))
        return
    path = known.get(name.removesuffix(_SUFFIX))
    if path is None:
        near = hint(name, NameIndex(sorted(known))) or f"; there are {listing(sorted(known))}"
        raise Failure(f"no schema is called {quote(name)}{near}")
    put(path.read_text("utf-8"))


def _find_schemas() -> dict[str, Path]:
    """Return the published schemas by name."""
    from stagec.core.published import schema_file

    folder = Path(schema_file("diagnostics")).parent
    return {file.removesuffix(_SUFFIX): folder / file for file in os.listdir(folder) if file.endswith(_SUFFIX)}
