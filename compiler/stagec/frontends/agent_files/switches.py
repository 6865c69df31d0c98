"""Switches of skills: the words that Claude Code takes for yes and no."""

from __future__ import annotations

from stagec.core.json import Json

_ON = frozenset({"true", "yes", "on", "1"})
_OFF = frozenset({"false", "no", "off", "0"})


def is_on(given: Json) -> bool:
    """Tell whether a value switches something on."""
    return str(given).strip().lower() in _ON


def is_off(given: Json) -> bool:
    """Tell whether a value switches something off; a value that is absent does not."""
    return str(given).strip().lower() in _OFF
