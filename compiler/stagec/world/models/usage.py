"""What requests to models have used, as answers carry it and as runs add it up."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.value import replace
from stagec.project.prices import PriceTable, UsedTokens
from stagec.world.models.port import TokenUse

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
    """Return what an answer says of its usage: tokens, requests, and US dollars as a decimal text or null."""
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
    """Return what one request has used with its price by a table; without one where the table has none."""
    tokens = UsedTokens(used.input, used.output, used.cached, used.stored)
    price = prices.price(model, tokens) if used.cost is None else None
    return used if price is None else replace(used, cost=format(price.normalize(), "f"))
