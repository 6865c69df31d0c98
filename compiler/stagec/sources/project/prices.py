"""The prices of models: the bundled table, or that of a project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.sources.project.toml import parse

BUNDLED = Path(__file__).with_name("prices.toml")
"""An example of a table, with prices of the day that it names."""
_MILLION = 1_000_000
_MOST = 10**9
_ANY = "*"
_VERSION = re.compile(r"-20\d\d-?[01]\d-?[0-3]\d$")


@value
class Rates:
    """US dollars for a million tokens: read, written, read from a cache, written to a cache."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    stored: Decimal | None = None

    @property
    def least_input(self) -> Decimal:
        """The least cost of a token that is read."""
        return self.input if self.cached is None else min(self.input, self.cached)

    @property
    def most_input(self) -> Decimal:
        """The highest cost of an input token."""
        return self.input if self.stored is None else max(self.input, self.stored)


@value
class ModelPrice:
    """The rates of a model, those of requests with more than `above` tokens, and how much it takes and writes."""

    rates: Rates
    above: int | None = None
    long: Rates | None = None
    context: int | None = None
    answer: int | None = None

    def choose_rates(self, read: int | None) -> Rates:
        """Return the rates of a request that may have so many tokens; None: any number."""
        if self.long is not None and self.above is not None and (read is None or read > self.above):
            return self.long
        return self.rates


@value
class UsedTokens:
    """The tokens of one request; `input` has those that a cache gave or took."""

    input: int
    output: int
    cached: int = 0
    stored: int = 0


@value
class PriceTable:
    """The prices of models by name, `PROVIDER:NAME`; a name that ends with `*` stands for all that begin so.

    The row of a model is also that of its versions, whose names end with a date.
    """

    as_of: str
    models: Mapping[str, ModelPrice] = NOTHING
    file: str = ""

    def find(self, model: str) -> ModelPrice | None:
        """Return the price of a model; nothing is said of one that is in no row."""
        for name in (model, _VERSION.sub("", model)):
            if name in self.models and not name.endswith(_ANY):
                return self.models[name]
        rows = [each for each in self.models if each.endswith(_ANY) and model.startswith(each[:-1])]
        return self.models[max(rows, key=len)] if rows else None

    def price(self, model: str, used: UsedTokens) -> Decimal | None:
        """Return the cost of a request in US dollars; None if the price of the model is unknown."""
        found = self.find(model)
        if found is None:
            return None
        rates = found.choose_rates(used.input)
        cached = rates.input if rates.cached is None else rates.cached
        stored = rates.input if rates.stored is None else rates.stored
        plain = max(0, used.input - used.cached - used.stored)
        read = plain * rates.input + used.cached * cached + used.stored * stored
        return (read + used.output * rates.output) / _MILLION


def read_prices(text: str, file: str) -> PriceTable:
    """Return the table in a text; raise `Failure` for what is none, with all mistakes in it."""
    reader = _Reader()
    made = reader.read(parse(file, text), file)
    if reader.mistakes:
        raise Failure("\n".join(f"{file}: {each}" for each in reader.mistakes[:_SHOWN]))
    return made


_SHOWN = 20
_RATES = ("input", "output", "cached-input", "stored-input")
_COUNTS = ("context", "longest-answer")


class _Reader:
    """Reads a table and keeps what is wrong with it."""

    def __init__(self) -> None:
        self.mistakes: list[str] = []

    def read(self, table: Mapping[str, Any], file: str) -> PriceTable:
        self._refuse_others(table, ("as-of", "models"), "")
        as_of, models = table.get("as-of"), table.get("models", {})
        if as_of is None:
            self.mistakes.append("'as-of' is missing: the day of the prices, such as as-of = \"2026-11-01\"")
        if not isinstance(models, dict):
            self.mistakes.append("'models' must be a table")
            models = {}
        found = {name: self._read_model(name, given) for name, given in models.items()}
        return PriceTable(str(as_of), found, file)

    def _read_model(self, name: str, given: Any) -> ModelPrice:
        at = f"models.{quote(name)}: "
        if not isinstance(given, dict):
            self.mistakes.append(f"{at}must be a table")
            given = {"input": 0, "output": 0}
        self._refuse_others(given, (*_RATES, *_COUNTS, "long"), at)
        context, answer = (self._read_count(given, key, at) for key in _COUNTS)
        long = given.get("long")
        if long is None:
            return ModelPrice(self._read_rates(given, at), context=context, answer=answer)
        at_long = f"{at}long: "
        if not isinstance(long, dict) or "above" not in long:
            self.mistakes.append(f"{at_long}must be a table with 'above', a number of tokens, and rates")
            long = {"above": 1, "input": 0, "output": 0}
        self._refuse_others(long, (*_RATES, "above"), at_long)
        above = self._read_count(long, "above", at_long)
        return ModelPrice(self._read_rates(given, at), above, self._read_rates(long, at_long), context, answer)

    def _read_rates(self, given: Mapping[str, Any], at: str) -> Rates:
        for key in ("input", "output"):
            if key not in given:
                self.mistakes.append(f"{at}{key!r} is missing: US dollars for 1,000,000 tokens")
        read, written, cached, stored = (self._read_rate(given, key, at) for key in _RATES)
        return Rates(read or Decimal(0), written or Decimal(0), cached, stored)

    def _read_rate(self, given: Mapping[str, Any], key: str, at: str) -> Decimal | None:
        told = given.get(key)
        if told is None:
            return None
        try:
            number = Decimal(str(told)) if type(told) in {int, str, float} else Decimal(-1)
        except InvalidOperation:
            number = Decimal(-1)
        if not (number.is_finite() and 0 <= number <= _MOST and number == round(number, _DIGITS)):
            self.mistakes.append(f"{at}{key!r} must be an amount of US dollars, such as 2.50")
            return Decimal(0)
        return number

    def _read_count(self, given: Mapping[str, Any], key: str, at: str) -> int | None:
        told = given.get(key)
        if told is None or (type(told) is int and 0 < told <= _MOST):
            return told
        self.mistakes.append(f"{at}{key!r} must be a number of tokens")
        return None

    def _refuse_others(self, given: Mapping[str, Any], known: tuple[str, ...], at: str) -> None:
        for key in given:
            if key not in known:
                self.mistakes.append(f"{at}there is no key {quote(key)}{hint(key, NameIndex(known))}")


_DIGITS = 12
"""Digits behind the point of a rate."""
