"""How the values that a schema names are written where something is compared with them."""

from __future__ import annotations

import pytest

from stagec.contract.choices import as_text
from stagec.core.json import Json


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("a", "a"),
        (True, "true"),
        (None, "null"),
        (1, "1"),
        (1.0, "1"),
        (2.5, "2.5"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (10**16, "10000000000000000"),
        ([1, "é"], '[1,"é"]'),
        ({"b": None, "a": True}, '{"b":null,"a":true}'),
        (float("inf"), "inf"),
    ],
)
def test_a_value_is_written_as_json_writes_it_and_a_text_without_its_quotes(given: Json, text: str) -> None:
    assert as_text(given) == text
