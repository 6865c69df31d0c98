from __future__ import annotations

from browser import chromium

__all__ = ["chromium"]
