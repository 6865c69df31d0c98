"""Texts that a plan holds once each, under the digest of their bytes."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.plan.frame import digest


class Contents:
    """The texts collected so far."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Keep a text and return the name under which the plan holds it."""
        if text not in self._names:
            self._names[text] = digest(text.encode())
            self._texts[self._names[text]] = text
        return self._names[text]

    @property
    def texts(self) -> Mapping[str, str]:
        """Every text, by name."""
        return self._texts
