"""Ask a model again after a transient fault; one that outlasts its attempts is an outage."""

from __future__ import annotations

import random
from collections.abc import Callable
from threading import Event
from time import monotonic

from stagec.core.value import replace, value
from stagec.core.words import format_count, quote
from stagec.runtime.exchange import read_key
from stagec.world.models.policies import PolicyTable, RetryPolicy
from stagec.world.models.port import Listener, ModelError, ModelFault, ModelReply, ModelRequest, Provider
from stagec.world.provider_outage import find_rest, limit_asked, spread


class ModelOutageError(ModelError):
    """The last fault of a request that may succeed later; `pause` is how long to rest before that, in seconds."""

    def __init__(self, error: ModelError, told: str, pause: float) -> None:
        super().__init__(error.fault, f"{told}: {error}", error.retry_after, error.status)
        self.pause = pause


@value
class Clock:
    """What tells the time and lets it pass: `wait` returns True as soon as an event is set, `chance` is from 0 to 1."""

    now: Callable[[], float] = monotonic
    wait: Callable[[Event, float], bool] = Event.wait
    chance: Callable[[], float] = random.random


def _say_nothing(_sentence: str) -> None:
    """Tell nobody."""


@value
class Patience:
    """How many seconds a request waits for a provider that is down, and the function that reports each wait."""

    seconds: float = 0.0
    tell: Callable[[str], None] = _say_nothing


class RetryingProvider:
    """A provider that is asked again after transient faults, as policies say; a request that is cancelled is not."""

    def __init__(
        self,
        provider: Provider,
        policies: PolicyTable | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._provider = provider
        self._policies = policies or PolicyTable()
        self._patience, self._clock = patience or Patience(), clock or Clock()
        self._over: dict[str, Event] = {}

    def prepare(self, model: str) -> None:
        """Raise `Failure` where it is certain already that a model cannot be asked."""
        self._provider.prepare(model)

    def supports_tools(self, model: str) -> bool:
        """Tell whether a model takes strict tool calls."""
        return self._provider.supports_tools(model)

    def request(self, key: str, request: ModelRequest, listen: Listener | None = None) -> ModelReply:
        """Return the response of a model; raise the last `ModelError`, or `ModelOutageError`."""
        policy, given = self._policies.choose(read_key(key).node, request.model), request.limits
        seconds, first = min(given.seconds, policy.request_timeout), min(given.first, policy.first_token)
        attempts = _Attempts(policy, request.model, self._patience, self._clock)
        limited = replace(request, limits=replace(given, seconds=seconds, first=first))
        over = self._over[key] = Event()
        try:
            return self._repeat(key, limited, listen, attempts)
        finally:
            if self._over.get(key) is over:
                del self._over[key]

    def _repeat(self, key: str, request: ModelRequest, listen: Listener | None, attempts: _Attempts) -> ModelReply:
        over = self._over[key]
        while True:
            try:
                return self._provider.request(key, request, listen)
            except ModelError as error:
                pause = attempts.find_pause(error)
                if listen is not None:
                    listen("\n")  # what comes next begins anew
                if over.is_set() or self._clock.wait(over, pause):
                    raise ModelError(ModelFault.CANCELLED, "the request was cancelled") from error

    def cancel(self, key: str) -> None:
        """End a request that is under way, or waits to be made again."""
        over = self._over.get(key)
        if over is not None:
            over.set()
        self._provider.cancel(key)

    def close(self) -> None:
        """End everything that is under way."""
        for each in tuple(self._over.values()):
            each.set()
        self._provider.close()


class _Attempts:
    """The attempts of one request: how often and for how long its model has been asked."""

    def __init__(self, policy: RetryPolicy, model: str, patience: Patience, clock: Clock) -> None:
        self._policy, self._model, self._patience, self._clock = policy, model, patience, clock
        self._first = self._begun = clock.now()
        self._count = self._outages = 0

    def find_pause(self, error: ModelError) -> float:
        """Return the seconds before the next attempt; raise the error, or `ModelOutageError`, if there is none."""
        if not self._policy.is_outage(error):
            raise error
        self._count += 1
        asked, chance = limit_asked(error.retry_after), self._clock.chance()
        pause = self._policy.find_pause(self._count, chance)
        if asked is not None:
            pause = max(pause, spread(asked, chance))
        elapsed = self._clock.now() - self._begun
        is_short = asked is None or asked <= self._policy.longest_pause
        if is_short and self._policy.allows(error, self._count, elapsed + pause):
            return pause
        return self._rest(error, elapsed)

    def _rest(self, error: ModelError, elapsed: float) -> float:
        """Return the seconds until the next attempts; raise `ModelOutageError` if that is too long to wait."""
        self._outages += 1
        told = f"{error.fault}, {format_count(self._count, 'attempt')} in {elapsed:.1f} s"
        rest = find_rest(self._policy.longest_pause, error.retry_after, self._outages)
        now = self._clock.now()
        if now + rest - self._first > self._patience.seconds:
            raise ModelOutageError(error, told, self._policy.longest_pause) from error
        self._patience.tell(f"{quote(self._model)} does not answer ({told}): next attempt in {rest:.0f} s")
        self._count, self._begun = 0, now + rest
        return rest
