"""Answer all requests about stages with "interrupted", for a run that is cancelled after its process has gone."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.runtime.exchange import Effect, Execute, Interrupt, Preserve, Publish

_ANSWERS: Mapping[type[Effect], Mapping[str, Json]] = {
    Execute: {"exit": None, "interrupted": "abort"},
    Publish: {"error": "the run was cancelled"},
    Preserve: {"checkpoint": None, "valid": False},
    Interrupt: {},
}


class InterruptedStages:
    """Answers what is asked about stages as if all of them were interrupted."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether a request is about a stage."""
        return type(effect) in _ANSWERS

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return _ANSWERS[type(effect)]

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that nothing takes time."""
        return False

    def cancel(self, key: str) -> None:
        """Stop nothing."""

    def close(self) -> None:
        """Hold nothing open, and so let go of nothing."""
