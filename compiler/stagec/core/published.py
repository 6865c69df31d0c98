"""Where the JSON Schemas lie that stagec publishes."""

from __future__ import annotations

import os


def schema_file(name: str) -> str:
    """Return the path of a published schema: in the package when it is installed, else at the top of the checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    packed = os.path.join(package, "schemas", f"{name}.schema.json")
    if os.path.exists(packed):
        return packed
    return os.path.join(os.path.dirname(os.path.dirname(package)), "schemas", f"{name}.schema.json")
