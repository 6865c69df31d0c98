"""The port to models: requests, responses, faults, and outages, which interrupt runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from math import isfinite
from threading import Lock
from typing import Protocol

from stagec.core.failure import Exit, Failure
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.value import replace, value
from stagec.ir.plan.act import Policy
from stagec.runtime.world.request_json import ToolDefinition
from stagec.sources.project.prices import PriceTable, UsedTokens


@value
class ModelCall:
    """A call of a tool that a model asks for; arguments that are no JSON object are the text that the model wrote.

    `unreadable` says then where and why they are no JSON.
    """

    id: str
    tool: str
    arguments: Json
    unreadable: str | None = None


@value
class ModelMessage:
    """One message: its role (`system`, `user`, `assistant` or `tool`), its text, and the calls of an assistant.

    `call` and `tool` name what a message of a tool answers.
    """

    role: str
    text: str
    calls: tuple[ModelCall, ...] = ()
    call: str | None = None
    tool: str | None = None


@value
class ModelLimits:
    """The limits of one request: seconds until its response is complete, and tokens of the response.

    `first` are the seconds until the response begins.
    """

    seconds: float = 600
    tokens: int | None = None
    first: float = 600


@value
class ModelRequest:
    """A request to one model: the messages, the tools it may call, and what its answer must be.

    `forced` demands a call of one of the tools. `output` is the JSON Schema of the answer, which then is JSON and no
    text; None asks for text or calls. `policy` is what the plan says of the request; the `limits` follow from it where
    somebody repeats requests.
    """

    model: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    forced: bool = False
    output: Object | None = None
    limits: ModelLimits = ModelLimits()
    policy: Policy = Policy()


ANSWER = "answer"
"""The tool that a model calls to hand in an answer, where its provider has no other way."""


@value
class TokenUse:
    """The use of requests: tokens in and out, their number, and their price in US dollars if known.

    Of the tokens in, a cache of the provider gave `cached` and took `stored`.
    """

    input: int = 0
    output: int = 0
    requests: int = 0
    cost: str | None = None
    cached: int = 0
    stored: int = 0


@value
class ModelReply:
    """The response of a model. `output` is there when a schema was asked for and the response could be read as JSON.

    A model may hand in an answer by a call of `ANSWER`. Beside other calls it counts as one of them, and as no answer.
    `unreadable` says where and why an answer that was handed in is no JSON. `finish` is why a response is not whole.
    """

    text: str
    calls: tuple[ModelCall, ...] = ()
    usage: TokenUse = TokenUse()
    output: Json = None
    unreadable: str | None = None
    finish: str | None = None


class ModelFault(StrEnum):
    """Why a request to a model has failed."""

    RATE_LIMIT = "rate-limit"
    SERVER_ERROR = "server-error"
    """The server is overloaded or broken."""
    CONNECTION = "connection"
    """The server cannot be reached, or the connection was lost, or the response is unreadable."""
    TIMEOUT = "timeout"
    REFUSED = "refused"
    """The provider does not take the request: it is malformed, too long, or against its rules."""
    UNAUTHORISED = "unauthorised"
    """The provider refuses the key."""
    QUOTA = "quota"
    """The account has no credit left."""
    UNKNOWN_MODEL = "unknown-model"
    CANCELLED = "cancelled"


class ModelError(Exception):
    """A request that a model has not answered.

    `retry_after` is how many seconds the provider asks to wait, `status` the HTTP status of its response.
    """

    def __init__(
        self, fault: ModelFault, message: str, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.fault, self.retry_after, self.status = fault, retry_after, status


Listener = Callable[[str], None]
"""Is called with each piece of text of a response that arrives."""


class Provider(Protocol):
    """A provider of models; its methods are called in several threads at once."""

    def prepare(self, model: str) -> None:
        """Raise `Failure` where it is certain already that a model cannot be asked; nothing is asked."""

    def supports_tools(self, model: str) -> bool:
        """Tell whether a model takes strict tool calls."""

    def takes_temperature(self, model: str) -> bool:
        """Tell whether a model takes a temperature; others refuse it, or would have to be asked without."""

    def request(self, key: str, request: ModelRequest, listen: Listener | None = None) -> ModelReply:
        """Return the response of a model, or raise `ModelError`; `key` names the request for `cancel`."""

    def cancel(self, key: str) -> None:
        """End a request that is under way: it raises `ModelError`."""

    def close(self) -> None:
        """End everything that is under way."""


MEMBER = "usage"
"""The member of an answer that has it; the machine ignores the member, and a journal keeps it."""


def add_usage(uses: Iterable[TokenUse]) -> TokenUse:
    """Return the sum of what was used; its price is known where every price is."""
    found = tuple(uses)
    costs = [each.cost for each in found if each.requests]
    known = [Decimal(each) for each in costs if each is not None]
    cost = format(sum(known, Decimal(0)).normalize(), "f") if len(known) == len(costs) and costs else None
    return TokenUse(
        sum(each.input for each in found),
        sum(each.output for each in found),
        sum(each.requests for each in found),
        cost,
    )


def usage_to_json(usage: TokenUse, model: str) -> Object:
    """Return the use in an answer: tokens, requests, and US dollars as a decimal text or null."""
    return {
        "model": model,
        "input": usage.input,
        "output": usage.output,
        "requests": usage.requests,
        "cost": usage.cost,
    }


def read_usage(answer: Json) -> TokenUse:
    """Return the usage that an answer carries; nothing of what has another form."""
    told = object_of(object_of(answer).get(MEMBER))
    tokens, written, requests = (_count(told.get(name)) for name in ("input", "output", "requests"))
    return TokenUse(tokens, written, requests, _read_cost(text_in(told, "cost")))


_MOST = 10**15
"""Tokens, requests or US dollars of one answer; whatever claims more says nothing that could be added up."""


def _count(given: Json) -> int:
    return int(given) if isinstance(given, int | float) and not isinstance(given, bool) and 0 < given < _MOST else 0


def _read_cost(text: str | None) -> str | None:
    try:
        return text if text is not None and _is_price(Decimal(text)) else None
    except InvalidOperation:
        return None


def _is_price(number: Decimal) -> bool:
    """Tell whether a number can be written out: `1e-999999999` is a number as well."""
    return number.is_finite() and 0 <= number < _MOST and (number == 0 or number.adjusted() > -_DIGITS)


_DIGITS = 30
"""Digits behind the point after which a price is none."""


def price_usage(prices: PriceTable, model: str, used: TokenUse) -> TokenUse:
    """Return the use of one request with its price by a table; without a price if the table has none."""
    tokens = UsedTokens(used.input, used.output, used.cached, used.stored)
    price = prices.price(model, tokens) if used.cost is None else None
    return used if price is None else replace(used, cost=format(price.normalize(), "f"))


Open = Callable[[], Provider]
"""Opens a provider, or raises `Failure` where its library is missing."""


class Providers:
    """Passes requests on to the provider that the name of the model begins with, else to the one that others have."""

    def __init__(self, others: Open, named: Mapping[str, Open]) -> None:
        self._others, self._named = others, named
        self._opened: dict[Open, Provider] = {}
        self._lock = Lock()

    def prepare(self, model: str) -> None:
        """Raise `Failure` where what asking a model takes is not there."""
        self._open(model).prepare(model)

    def _open(self, model: str) -> Provider:
        """Return the provider of a model, the same one each time."""
        opener = self._named.get(model.partition(":")[0], self._others)
        with self._lock:
            if opener not in self._opened:
                self._opened[opener] = opener()
            return self._opened[opener]

    def supports_tools(self, model: str) -> bool:
        """Tell whether a model takes strict tool calls."""
        return self._open(model).supports_tools(model)

    def takes_temperature(self, model: str) -> bool:
        """Tell whether a model takes a temperature."""
        return self._open(model).takes_temperature(model)

    def request(self, key: str, request: ModelRequest, listen: Listener | None = None) -> ModelReply:
        """Return the response of a model, or raise `ModelError`."""
        return self._open(request.model).request(key, request, listen)

    def cancel(self, key: str) -> None:
        """End a request that is under way."""
        for each in tuple(self._opened.values()):
            each.cancel(key)

    def close(self) -> None:
        """End everything that is under way."""
        for each in tuple(self._opened.values()):
            each.close()


LONGEST_REST = 900.0
"""Seconds between two attempts to go on, at most, unless the provider asks for more."""
_LONGEST_ASKED = 86_400.0
"""Seconds that a provider may ask for; more counts as this."""
_JITTER, _MOST_JITTER = 0.1, 30.0
"""The share of a pause, and the seconds, by which it becomes longer at most."""


class ProviderOutage(Failure):
    """Interrupts a run because a provider of models does not answer; nothing is wrong with the run.

    `pause` are the seconds until the first attempt to go on makes sense, as the policy says, `asked` those for which
    the provider itself asks, None if it does not.
    """

    def __init__(self, message: str, pause: float, asked: float | None = None) -> None:
        super().__init__(message, Exit.INTERRUPTED)
        self.pause, self.asked = pause, asked

    def find_rest(self, number: int = 1) -> float:
        """Return the seconds until the next attempt to go on, after so many outages in a row."""
        return find_rest(self.pause, self.asked, number)

    def to_json(self) -> Object:
        """Return the outage as a database keeps it."""
        return {"reason": str(self), "pause": self.pause, "asked": self.asked}


def find_rest(pause: float, asked: float | None, number: int) -> float:
    """Return how long to rest after so many outages in a row: twice as long each time, and never less than asked."""
    grown = min(max(LONGEST_REST, pause), pause * 2.0 ** min(number - 1, 30))
    return max(grown, limit_asked(asked) or 0.0)


def spread(seconds: float, chance: float) -> float:
    """Return a pause lengthened by a random share from 0 to 1, so that waiting runs do not return together."""
    return seconds + min(seconds * _JITTER, _MOST_JITTER) * chance


def limit_asked(seconds: float | None) -> float | None:
    """Return for how long a provider asks to wait, a day at most; nothing for what is no time."""
    if seconds is None or not isfinite(seconds) or seconds < 0:
        return None
    return min(seconds, _LONGEST_ASKED)


def read_outage(given: Object) -> ProviderOutage:
    """Return an outage from its JSON."""
    pause, asked = _number(given.get("pause")), _number(given.get("asked"))
    return ProviderOutage(text_in(given, "reason") or "", pause or 0.0, asked)


def _number(given: Json) -> float | None:
    return float(given) if isinstance(given, int | float) else None
