"""The drawings that every format is tested with, and one browser."""

from __future__ import annotations

from browser import chromium
from emitters.conftest import every, hostile, pictures

__all__ = ["chromium", "every", "hostile", "pictures"]
