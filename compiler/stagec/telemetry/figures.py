"""The figures of a run, as the conventions for generative AI name them: tokens and durations of requests to models."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from stagec.core.value import value
from stagec.telemetry.spans import TraceSpan

TOKENS, DURATION = "gen_ai.client.token.usage", "gen_ai.client.operation.duration"
_TOKEN_BOUNDS = tuple(float(4**power) for power in range(14))
_SECOND_BOUNDS = tuple(0.01 * 2**power for power in range(14))
"""The bounds that the conventions recommend."""
_ABOUT = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "error.type")
Series = tuple[tuple[str, object], ...]


@value
class Histogram:
    """How values of one series are distributed: a count for each part between the bounds, and what they add up to."""

    name: str
    unit: str
    attributes: Mapping[str, object]
    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float
    least: float
    most: float


class Figures:
    """Counts what spans say of requests to models; a run that is sent again has the same figures."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, Series], list[float]] = {}

    def take(self, span: TraceSpan) -> None:
        """Count a span, if it is a request to a model."""
        if span.attributes.get("gen_ai.operation.name") != "chat" or "gen_ai.request.model" not in span.attributes:
            return
        about = tuple((name, span.attributes[name]) for name in _ABOUT if name in span.attributes)
        self._values.setdefault((DURATION, about), []).append((span.end - span.start) / 1e9)
        for kind in ("input", "output"):
            used = span.attributes.get(f"gen_ai.usage.{kind}_tokens")
            if isinstance(used, int) and used:
                series = (*(each for each in about if each[0] != "error.type"), ("gen_ai.token.type", kind))
                self._values.setdefault((TOKENS, series), []).append(used)

    def list_histograms(self) -> Iterator[Histogram]:
        """Yield what was counted until now."""
        for (name, about), values in self._values.items():
            bounds, unit = (_TOKEN_BOUNDS, "{token}") if name == TOKENS else (_SECOND_BOUNDS, "s")
            counts = [0] * (len(bounds) + 1)
            for each in values:
                counts[bisect_left(bounds, each)] += 1
            yield Histogram(name, unit, dict(about), bounds, tuple(counts), sum(values), min(values), max(values))
