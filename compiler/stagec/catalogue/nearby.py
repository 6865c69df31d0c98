"""The catalogue that tells about the tools of what names none itself: in its folder, or in one above it."""

from __future__ import annotations

import posixpath

from stagec.catalogue.document import Catalogue
from stagec.catalogue.read import find_catalogue, read_catalogue
from stagec.sources.read import Sources


def find_nearby(sources: Sources, file: str) -> Catalogue | None:
    """Return the catalogue nearest to a file."""
    folder = posixpath.dirname(file)
    while True:
        found = find_catalogue(sources, folder)
        if found is not None:
            return read_catalogue(sources, found)
        if not folder:
            return None
        folder = posixpath.dirname(folder)
