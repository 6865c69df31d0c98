"""One browser for all tests of pages."""

from __future__ import annotations

from browser import chromium

__all__ = ["chromium"]
