"""What requests to models have used, as answers carry it and as runs add it up."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from stagec.core.json import Json, Object, object_of, text_in
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


def _count(given: Json) -> int:
    return int(given) if isinstance(given, int | float) and not isinstance(given, bool) and given > 0 else 0


def _read_cost(text: str | None) -> str | None:
    try:
        return None if text is None or not Decimal(text).is_finite() else text
    except InvalidOperation:
        return None
