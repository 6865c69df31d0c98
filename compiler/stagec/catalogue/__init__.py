"""What tools a project has: those its host brings along, its own, and those that MCP servers offer."""

from stagec.catalogue.document import Catalogue, Effects, Origin, Server, Tool, well_known_effects
from stagec.catalogue.lock import Lock, LockedServer, LockedTool
from stagec.catalogue.read import find_catalogue, read_catalogue

__all__ = [
    "Catalogue",
    "Effects",
    "Lock",
    "LockedServer",
    "LockedTool",
    "Origin",
    "Server",
    "Tool",
    "find_catalogue",
    "read_catalogue",
    "well_known_effects",
]
