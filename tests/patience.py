"""Telling input that takes for ever from input that takes long: no measure of speed, which benchmarks are for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

FOR_EVER = 60
"""Seconds of processor time; what is quadratic or worse needs many minutes for the inputs of these tests."""


@contextmanager
def ends() -> Iterator[None]:
    """Fail when what is done inside takes so long that its cost cannot grow with the size of the input alone."""
    begun = process_time()
    yield
    assert process_time() - begun < FOR_EVER
