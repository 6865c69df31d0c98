"""How long to go on asking a model that does not answer: policies by provider, model and node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.world.models.port import ModelError, ModelFault

DEFAULT, NODE = "default", "node:"
"""Whose policy holds where there is none for a provider, a model or a node; and what precedes the id of a node."""
_TRANSIENT = (ModelFault.RATE_LIMIT, ModelFault.SERVER_ERROR, ModelFault.CONNECTION, ModelFault.TIMEOUT)
_BLOCKED = {ModelFault.UNAUTHORISED, ModelFault.QUOTA}
"""Faults that pass when somebody has done something: asking again at once only makes them worse."""

PolicyEntries = Mapping[str, Mapping[str, Json | tuple[str, ...]]]
"""Settings of policies by the names in the configuration, by whom they are for."""


@value
class RetryPolicy:
    """How a request to a model is repeated; times are in seconds.

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
    """The policies of a run: the entry of a node precedes that of its model, of the provider, and the default one."""

    def __init__(self, entries: PolicyEntries = NOTHING) -> None:
        self._entries = entries

    def choose(self, node: str, model: str) -> RetryPolicy:
        """Return the policy for a request; each setting comes from the most specific entry that has it."""
        found: dict[str, Any] = {}
        for name in (DEFAULT, model.partition(":")[0], model, f"{NODE}{node}"):
            found |= self._entries.get(name, NOTHING)
        settings = {key.replace("-", "_"): each for key, each in found.items()}
        if "transient" in settings:
            settings["transient"] = tuple(settings["transient"])
        return RetryPolicy(**settings)
