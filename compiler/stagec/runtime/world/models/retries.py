"""Ask a model again after a transient fault; one that outlasts its attempts is an outage."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from threading import Event
from time import monotonic
from typing import Any

from stagec.core.json import Json
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import format_count, quote
from stagec.ir.plan.act import Policy
from stagec.runtime.machine.exchange import read_key
from stagec.runtime.world.models.port import (
    Listener,
    ModelError,
    ModelFault,
    ModelLimits,
    ModelReply,
    ModelRequest,
    Provider,
    find_rest,
    limit_asked,
    spread,
)

DEFAULT, NODE = "default", "node:"
"""The key of the policy for all other providers, models and nodes, and the prefix of a node's id."""
_TRANSIENT = (ModelFault.RATE_LIMIT, ModelFault.SERVER_ERROR, ModelFault.CONNECTION, ModelFault.TIMEOUT)
_BLOCKED = {ModelFault.UNAUTHORISED, ModelFault.QUOTA}
"""Faults that pass when somebody has done something: asking again at once only makes them worse."""


PolicyEntries = Mapping[str, Mapping[str, Json | tuple[str, ...]]]
"""Settings of policies by the names in the configuration, by whom they are for."""


@value
class RetryPolicy:
    """The policy of repeating a request to a model; times are in seconds.

    No attempt begins later than `total_time` after the first one. `transient` has faults by name, and HTTP statuses.
    `first_token` and `request_timeout` are how long the response may take to begin, and to be complete.
    """

    attempts: int = 4
    first_pause: float = 1.0
    longest_pause: float = 60.0
    total_time: float = 300.0
    transient: tuple[str, ...] = _TRANSIENT
    request_timeout: float = 600.0
    first_token: float = 300.0

    def is_transient(self, error: ModelError) -> bool:
        """Tell whether a request may succeed if it is made again."""
        return error.fault in self.transient or str(error.status) in self.transient

    def is_outage(self, error: ModelError) -> bool:
        """Tell whether a fault is none of the run: it interrupts the run and fails no node."""
        return self.is_transient(error) or error.fault in _BLOCKED

    def allows(self, error: ModelError, attempt: int, seconds: float) -> bool:
        """Tell whether an attempt may follow, so many seconds after the first one."""
        return self.is_transient(error) and attempt < self.attempts and seconds <= self.total_time

    def find_pause(self, attempt: int, chance: float) -> float:
        """Return the seconds before the next attempt; `chance` is from 0 to 1, so that not all come together."""
        longest = min(self.longest_pause, self.first_pause * 2.0 ** min(attempt - 1, 60))
        return longest * (0.5 + chance / 2)


class PolicyTable:
    """The policies of a run: the entry of a node precedes what the plan says, and that the entries of others.

    Those are the entry of the model, that of its provider, and the default one.
    """

    def __init__(self, entries: PolicyEntries = NOTHING) -> None:
        self._entries = entries

    def choose(self, node: str, model: str, planned: Policy | None = None) -> RetryPolicy:
        """Return the policy for a request; each setting comes from the most specific entry that has it."""
        found: dict[str, Any] = {}
        for name in (DEFAULT, model.partition(":")[0], model):
            found |= self._entries.get(name, NOTHING)
        found |= {} if planned is None else _list_settings(planned)
        found |= self._entries.get(f"{NODE}{node}", NOTHING)
        settings = {key.replace("-", "_"): each for key, each in found.items()}
        if "transient" in settings:
            settings["transient"] = tuple(settings["transient"])
        return RetryPolicy(**settings)


def _list_settings(planned: Policy) -> dict[str, float]:
    """Return the settings of a request in a plan, by their names."""
    seconds = None if planned.milliseconds is None else planned.milliseconds / 1000
    settings = {"attempts": planned.attempts, "request-timeout": seconds}
    return {name: each for name, each in settings.items() if each is not None}


class ModelOutageError(ModelError):
    """The last fault of a request that may succeed later; `pause` is how long to rest before that, in seconds."""

    def __init__(self, error: ModelError, told: str, pause: float) -> None:
        super().__init__(error.fault, f"{told}: {error}", error.retry_after, error.status)
        self.pause = pause


@value
class Clock:
    """A clock: `wait` lets time pass and returns True as soon as an event is set, `chance` is from 0 to 1."""

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

    def takes_temperature(self, model: str) -> bool:
        """Tell whether a model takes a temperature."""
        return self._provider.takes_temperature(model)

    def request(self, key: str, request: ModelRequest, listen: Listener | None = None) -> ModelReply:
        """Return the response of a model; raise the last `ModelError`, or `ModelOutageError`."""
        policy = self._policies.choose(read_key(key).node, request.model, request.policy)
        attempts = _Attempts(policy, request.model, self._patience, self._clock)
        limited = replace(request, limits=_limit(request, policy))
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


def _limit(request: ModelRequest, policy: RetryPolicy) -> ModelLimits:
    """Return the limits of one attempt of a request."""
    tokens = request.policy.output_tokens
    return ModelLimits(policy.request_timeout, request.limits.tokens if tokens is None else tokens, policy.first_token)


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
