"""Where the files lie that stagec publishes: JSON Schemas, examples, and minimal projects."""

from __future__ import annotations

import os


def find_packed(name: str) -> str:
    """Return the path of a published file or folder: in the package when it is installed, else in the checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    beside = os.path.dirname(package)
    paths = [os.path.join(folder, name) for folder in (package, beside, os.path.dirname(beside))]
    return next(filter(os.path.exists, paths), paths[-1])


def schema_file(name: str) -> str:
    """Return the path of a published schema."""
    return find_packed(os.path.join("schemas", f"{name}.schema.json"))
