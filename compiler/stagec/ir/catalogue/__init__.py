"""The tools of a project: those of its host, its own, and those of MCP servers."""

from stagec.ir.catalogue.document import (
    WELL_KNOWN,
    Catalogue,
    CatalogueServer,
    CatalogueTool,
    Effects,
    Origin,
    ToolLabels,
    well_known_effects,
)
from stagec.ir.catalogue.lock import Lock, LockedServer, LockedTool
from stagec.ir.catalogue.read import find_catalogue, read_catalogue

__all__ = [
    "WELL_KNOWN",
    "Catalogue",
    "CatalogueServer",
    "CatalogueTool",
    "Effects",
    "Lock",
    "LockedServer",
    "LockedTool",
    "Origin",
    "ToolLabels",
    "find_catalogue",
    "read_catalogue",
    "well_known_effects",
]
