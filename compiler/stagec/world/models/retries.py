"""Ask a model again after a fault that passes, as long as the provider wishes or a little longer each time."""

from __future__ import annotations

import random
from collections.abc import Callable
from threading import Event

from stagec.core.value import value
from stagec.world.models.port import Listener, ModelError, ModelFault, ModelReply, ModelRequest, Provider

_PASSING = {ModelFault.TRANSIENT, ModelFault.TIMEOUT}
_LONGEST = 600.0
"""Seconds; a provider that asks to wait longer is not waited for."""


@value
class RetryPolicy:
    """How often to ask in all, and the seconds before the second time; they double each time, with some chance."""

    attempts: int = 4
    seconds: float = 1.0


class RetryingProvider:
    """A provider that is asked again after faults that pass; a request that is cancelled is not."""

    def __init__(self, provider: Provider, policy: RetryPolicy, chance: Callable[[], float] = random.random) -> None:
        self._provider, self._policy, self._chance = provider, policy, chance
        self._waits: dict[str, Event] = {}

    def prepare(self, model: str) -> None:
        """Raise `Failure` where it is certain already that a model cannot be asked."""
        self._provider.prepare(model)

    def supports_tools(self, model: str) -> bool:
        """Tell whether a model takes strict tool calls."""
        return self._provider.supports_tools(model)

    def request(self, key: str, request: ModelRequest, listen: Listener | None = None) -> ModelReply:
        """Return the response of a model, or raise the last `ModelError`."""
        over = self._waits[key] = Event()
        try:
            return self._repeat(key, request, listen, over)
        finally:
            del self._waits[key]

    def _repeat(self, key: str, request: ModelRequest, listen: Listener | None, over: Event) -> ModelReply:
        for attempt in range(1, self._policy.attempts + 1):
            try:
                return self._provider.request(key, request, listen)
            except ModelError as error:
                seconds = self._find_wait(error, attempt)
                if seconds is None:
                    raise
                if listen is not None:
                    listen("\n")  # what comes next begins anew
                if over.wait(seconds):
                    raise ModelError(ModelFault.CANCELLED, "the request was cancelled") from error
        raise AssertionError("a request is made once at least")

    def _find_wait(self, error: ModelError, attempt: int) -> float | None:
        """Return the seconds until the next attempt, nothing when there is none."""
        if error.fault not in _PASSING or attempt >= self._policy.attempts:
            return None
        backoff = self._policy.seconds * 2 ** (attempt - 1) * (0.5 + self._chance() / 2)
        seconds = backoff if error.retry_after is None else max(error.retry_after, 0.0)
        return seconds if seconds <= _LONGEST else None

    def cancel(self, key: str) -> None:
        """End a request that is under way, or waits to be made again."""
        over = self._waits.get(key)
        if over is not None:
            over.set()
        self._provider.cancel(key)

    def close(self) -> None:
        """End everything that is under way."""
        for each in tuple(self._waits.values()):
            each.set()
        self._provider.close()
