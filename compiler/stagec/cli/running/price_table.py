"""The table of what models cost: the file that a user names, or the bundled one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stagec.cli.files import read_file
from stagec.core.failure import Failure
from stagec.core.words import quote
from stagec.project.find import find_inside
from stagec.project.prices import BUNDLED, PriceTable, read_prices


def find_configured(configuration: Mapping[str, object], root: Path) -> Path | None:
    """Return the table that a project names; raise `Failure` unless it is a regular file inside the project."""
    if "prices" not in configuration:
        return None
    return find_inside(root, str(configuration["prices"]), "cost.prices")


def load_prices(file: Path | None = None) -> PriceTable:
    """Return the table in a file, else the bundled one; raise `Failure` for what is none."""
    path = BUNDLED if file is None else file
    try:
        text = read_file(path, "file-size").decode()
    except UnicodeDecodeError as error:
        raise Failure(f"the price table {quote(path)} is not UTF-8 text") from error
    return read_prices(text, "bundled with stagec" if file is None else str(file))
