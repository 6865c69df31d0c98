"""The providers that stagec knows by name are those that its library can ask."""

from contextlib import suppress

import pytest

from stagec.ir.policies import PROVIDERS

infer = pytest.importorskip("pydantic_ai.providers").infer_provider_class


@pytest.mark.parametrize("provider", sorted({*PROVIDERS} - {"local"}))
def test_the_library_knows_a_provider(provider: str) -> None:
    with suppress(ImportError):  # the library of a provider may not be installed
        infer(provider)
