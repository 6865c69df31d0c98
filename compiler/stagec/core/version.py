"""The version of stagec, and where its pages and schemas are published."""

from __future__ import annotations

import os

__version__ = "0.1.0"


DOCUMENTATION: str | None = None
"""The address of the site for this version, which a release that has one sets; projects can name another."""


def locate_page(documentation: str | None, code: str) -> str | None:
    """Return the address of a rule's page on a site, if there is a site."""
    return None if documentation is None else f"{documentation.rstrip('/')}/rules/{code}/"


def find_packed(name: str) -> str:
    """Return the path of a published file or folder: in the package when it is installed, else in the checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    beside = os.path.dirname(package)
    paths = [os.path.join(folder, name) for folder in (package, beside, os.path.dirname(beside))]
    return next(filter(os.path.exists, paths), paths[-1])


def schema_file(name: str) -> str:
    """Return the path of a published schema."""
    return find_packed(os.path.join("schemas", f"{name}.schema.json"))
