"""What tools a project has: those its host brings along, its own, and those that MCP servers offer."""

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
