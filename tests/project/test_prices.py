"""A table of prices is read with all its mistakes, and prices requests by the row of their model."""

from __future__ import annotations

from decimal import Decimal

import pytest

from stagec.core.failure import Failure
from stagec.sources.project.prices import BUNDLED, ModelPrice, PriceTable, Rates, UsedTokens, read_prices

TABLE = """\
as-of = "2026-11-01"

[models."a:small"]
input = 1
output = 2.50
cached-input = 0.1
context = 1000

[models."a:*"]
input = 3
output = 4
long = { above = 100, input = 6, output = 8 }

[models."a:big*"]
input = 5
output = 5
"""


def table() -> PriceTable:
    return read_prices(TABLE, "prices.toml")


def test_the_bundled_table_is_right_and_says_its_day() -> None:
    found = read_prices(BUNDLED.read_text(encoding="utf-8"), "bundled")
    assert found.as_of.startswith("2026-")
    assert found.find("openai:gpt-5.4-mini") is not None


def test_a_row_is_found_by_name_by_version_and_by_its_beginning() -> None:
    small = ModelPrice(Rates(Decimal(1), Decimal("2.5"), Decimal("0.1")), context=1000)
    assert table().find("a:small") == table().find("a:small-2026-05-01") == table().find("a:small-20260501") == small
    other, big = table().find("a:other"), table().find("a:bigger")
    assert other is not None
    assert big is not None
    assert (other.rates.input, big.rates.input) == (3, 5)
    assert table().find("b:small") is None
    assert table().find("a:*") == other


def test_a_request_costs_what_its_tokens_do() -> None:
    assert table().price("a:small", UsedTokens(1000, 100, cached=400)) == Decimal("0.00089")
    assert table().price("a:other", UsedTokens(100, 10)) == Decimal("0.00034")
    assert table().price("a:other", UsedTokens(101, 10)) == Decimal("0.000686")
    assert table().price("b:other", UsedTokens(1, 1)) is None


def test_rates_of_caches_bound_what_a_token_costs() -> None:
    rates = Rates(Decimal(4), Decimal(8), Decimal(1), Decimal(5))
    assert (rates.least_input, rates.most_input) == (1, 5)
    assert (Rates(Decimal(4), Decimal(8)).least_input, Rates(Decimal(4), Decimal(8)).most_input) == (4, 4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[models."a:b"]\ninput = 1\noutput = 1\n', "'as-of' is missing"),
        ('as-of = "d"\nmodels = 3\n', "'models' must be a table"),
        ('as-of = "d"\n[models]\n"a:b" = 3\n', "must be a table"),
        ('as-of = "d"\n[models."a:b"]\ninput = 1\n', "'output' is missing"),
        ('as-of = "d"\n[models."a:b"]\ninput = -1\noutput = nan\n', "'output' must be an amount"),
        ('as-of = "d"\n[models."a:b"]\ninput = "x"\noutput = true\n', "'input' must be an amount"),
        ('as-of = "d"\n[models."a:b"]\ninput = 1\noutput = 1\nouput = 1\n', "did you mean 'output'?"),
        ('as-of = "d"\n[models."a:b"]\ninput = 1\noutput = 1\ncontext = 1.5\n', "'context' must be a number of tokens"),
        ('as-of = "d"\n[models."a:b"]\ninput = 1\noutput = 1\nlong = {input = 1, output = 1}\n', "with 'above'"),
        ("as-of = ", "prices.toml:1:"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(Failure) as refused:
        read_prices(text, "prices.toml")
    assert said in str(refused.value)
    assert "prices.toml" in str(refused.value)
