"""The tools that a model is shown in a stage."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def collides(tools: Collection[str], completion: str) -> bool:
    """Tell whether the completion tool has the name of a tool, so that nobody could tell them apart."""
    return completion in tools


def manifest(tools: Iterable[str], completion: str, available: Collection[str]) -> tuple[str, ...] | None:
    """Return what a model is shown: the tools of a stage, as far as the runner has them, and the completion tool.

    Nothing when the runner has a tool of the completion tool's name: then the stage cannot be run.
    """
    if collides(available, completion):
        return None
    return (*dict.fromkeys(each for each in tools if each in available), completion)
