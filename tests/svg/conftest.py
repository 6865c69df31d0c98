"""The drawings that every format is tested with."""

from __future__ import annotations

from emitters.conftest import every, hostile, pictures

__all__ = ["every", "hostile", "pictures"]
