"""Requests that are made again: how often, after which pauses, and when their provider counts as down."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from stagec.core.json import Json
from stagec.runtime.world.models.port import (
    LONGEST_REST,
    Listener,
    ModelError,
    ModelFault,
    ModelReply,
    ModelRequest,
    ProviderOutage,
    read_outage,
)
from stagec.runtime.world.models.retries import (
    Clock,
    ModelOutageError,
    Patience,
    PolicyTable,
    RetryingProvider,
    RetryPolicy,
)

KEY, MODEL = "run/write#1/1.0", "openai:gpt"
DOWN = ModelError(ModelFault.SERVER_ERROR, "down", status=500)


class Outage:
    """A provider that raises errors, one after the other, then the last again and again; a reply ends them."""

    def __init__(self, clock: FakeClock, *script: ModelError | ModelReply, seconds: float = 0.0) -> None:
        self.script, self.clock, self.seconds = script, clock, seconds
        self.asked: list[ModelRequest] = []
        self.began: list[float] = []

    def prepare(self, model: str) -> None: ...

    def supports_tools(self, _model: str) -> bool:
        return True

    def takes_temperature(self, _model: str) -> bool:
        return True

    def request(self, _key: str, request: ModelRequest, _listen: Listener | None = None) -> ModelReply:
        self.asked.append(request)
        self.began.append(self.clock.time)
        self.clock.time += self.seconds
        said = self.script[min(len(self.asked), len(self.script)) - 1]
        if isinstance(said, ModelError):
            raise said
        return said

    def cancel(self, key: str) -> None: ...

    def close(self) -> None: ...


class FakeClock:
    """A clock on which waiting takes no time."""

    def __init__(self, chance: float = 1.0) -> None:
        self.time, self.pauses, self.chance = 0.0, list[float](), chance
        self.meanwhile: Callable[[], object] = lambda: None

    def wait(self, over: Event, seconds: float) -> bool:
        self.pauses.append(seconds)
        self.time += seconds
        self.meanwhile()
        return over.is_set()

    def make(self) -> Clock:
        return Clock(lambda: self.time, self.wait, lambda: self.chance)


Ask = Callable[..., tuple[Outage, FakeClock]]


def ask(
    *script: ModelError | ModelReply,
    policy: dict[str, Json] | None = None,
    patience: Patience | None = None,
    clock: FakeClock | None = None,
    seconds: float = 0.0,
) -> tuple[Outage, FakeClock, Exception | None]:
    """Make one request, and return what was asked, when, and what came of it."""
    used = clock or FakeClock()
    provider = Outage(used, *script, seconds=seconds)
    asking = RetryingProvider(provider, PolicyTable({"default": policy or {}}), patience, used.make())
    try:
        asking.request(KEY, ModelRequest(MODEL, ()))
    except ModelError as error:
        return provider, used, error
    return provider, used, None


REPLY = ModelReply("Done.")


def test_pauses_grow_to_the_longest_and_then_the_provider_counts_as_down() -> None:
    provider, clock, error = ask(DOWN, policy={"attempts": 6, "first-pause": 2, "longest-pause": 10, "total-time": 100})
    assert clock.pauses == [2, 4, 8, 10, 10]
    assert len(provider.asked) == 6
    assert isinstance(error, ModelOutageError)
    assert str(error) == "server-error, 6 attempts in 34.0 s: down"


def test_chance_makes_pauses_shorter_by_half_at_most() -> None:
    _, clock, _ = ask(DOWN, policy={"attempts": 3, "first-pause": 2}, clock=FakeClock(chance=0.0))
    assert clock.pauses == [1, 2]


def test_a_fault_that_passes_is_no_outage() -> None:
    _, clock, error = ask(DOWN, DOWN, REPLY)
    assert (clock.pauses, error) == ([1, 2], None)


def test_no_attempt_begins_after_the_total_time() -> None:
    provider, _, error = ask(DOWN, policy={"attempts": 100, "total-time": 50}, seconds=20)
    assert isinstance(error, ModelOutageError)
    assert provider.began == [0, 21, 43]


def test_a_short_wish_of_the_provider_is_obeyed_and_a_long_one_is_an_outage() -> None:
    limited = ModelError(ModelFault.RATE_LIMIT, "too many", 30.0, 429)
    _, clock, error = ask(limited, REPLY)
    assert (clock.pauses, error) == ([33.0], None)  # never earlier, and not all at once
    provider, clock, error = ask(ModelError(ModelFault.RATE_LIMIT, "too many", 3600.0, 429))
    assert (clock.pauses, len(provider.asked)) == ([], 1)
    assert isinstance(error, ModelOutageError)
    assert error.retry_after == 3600.0


@pytest.mark.parametrize("wish", [float("nan"), float("inf"), -5.0])
def test_a_wish_that_is_no_time_counts_as_none(wish: float) -> None:
    _, clock, _ = ask(ModelError(ModelFault.RATE_LIMIT, "too many", wish), REPLY)
    assert clock.pauses == [1]


@pytest.mark.parametrize("fault", [ModelFault.UNAUTHORISED, ModelFault.QUOTA])
def test_a_key_that_is_refused_is_an_outage_at_once(fault: ModelFault) -> None:
    provider, clock, error = ask(ModelError(fault, "no"))
    assert isinstance(error, ModelOutageError)
    assert (len(provider.asked), clock.pauses) == (1, [])


@pytest.mark.parametrize("fault", [ModelFault.REFUSED, ModelFault.UNKNOWN_MODEL, ModelFault.CANCELLED])
def test_other_faults_are_raised_as_they_are(fault: ModelFault) -> None:
    given = ModelError(fault, "no")
    provider, _, error = ask(given)
    assert (error, len(provider.asked)) == (given, 1)


def test_a_policy_says_what_is_transient() -> None:
    conflict = ModelError(ModelFault.REFUSED, "conflict", status=409)
    _, clock, error = ask(conflict, REPLY, policy={"transient": ["timeout", "409"]})
    assert (clock.pauses, error) == ([1], None)
    _, _, error = ask(DOWN, policy={"transient": ["timeout", "409"]})
    assert error is DOWN


def test_the_most_specific_policy_counts_setting_by_setting() -> None:
    table = PolicyTable(
        {
            "default": {"attempts": 1, "first-pause": 1, "total-time": 1, "request-timeout": 1},
            "openai": {"first-pause": 2, "total-time": 2, "request-timeout": 2},
            MODEL: {"total-time": 3, "request-timeout": 3},
            "node:write": {"request-timeout": 4},
        }
    )
    found = table.choose("write", MODEL)
    assert (found.attempts, found.first_pause, found.total_time, found.request_timeout) == (1, 2, 3, 4)
    assert found.longest_pause == RetryPolicy().longest_pause
    assert table.choose("check", "anthropic:x").first_pause == 1


def test_limits_of_a_policy_hold_for_each_request() -> None:
    provider, _, _ = ask(REPLY, policy={"request-timeout": 7, "first-token": 3})
    assert (provider.asked[0].limits.seconds, provider.asked[0].limits.first) == (7, 3)


def test_with_patience_a_request_waits_longer_each_time_and_says_so() -> None:
    told: list[str] = []
    policy: dict[str, Json] = {"attempts": 1, "longest-pause": 10}
    provider, clock, error = ask(DOWN, DOWN, DOWN, REPLY, policy=policy, patience=Patience(75, told.append))
    assert (clock.pauses, error, len(provider.asked)) == ([10, 20, 40], None, 4)
    assert told[0] == "'openai:gpt' does not answer (server-error, 1 attempt in 0.0 s): next attempt in 10 s"
    _, clock, error = ask(DOWN, policy=policy, patience=Patience(75, told.append))
    assert clock.pauses == [10, 20, 40]
    assert isinstance(error, ModelOutageError)


def test_a_cancelled_request_is_not_made_again() -> None:
    clock = FakeClock()
    provider = Outage(clock, DOWN)
    asking = RetryingProvider(provider, None, None, clock.make())
    clock.meanwhile = lambda: asking.cancel(KEY)
    with pytest.raises(ModelError) as caught:
        asking.request(KEY, ModelRequest(MODEL, ()))
    assert (caught.value.fault, len(provider.asked)) == (ModelFault.CANCELLED, 1)


def test_rests_grow_have_a_bound_and_are_never_shorter_than_asked() -> None:
    outage = ProviderOutage("down", 60)
    assert [outage.find_rest(each) for each in (1, 2, 3, 4, 5, 1000)] == [60, 120, 240, 480, LONGEST_REST, LONGEST_REST]
    asked: Any = ProviderOutage("down", 60, 3600)
    assert [asked.find_rest(each) for each in (1, 9)] == [3600, 3600]
    assert ProviderOutage("down", 60, 1e12).find_rest() == 86_400
    assert read_outage(asked.to_json()).find_rest() == 3600
