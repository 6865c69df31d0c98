"""The door to the libraries that sign and verify."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stagec.core.failure import Failure

_HOW = "signatures need libraries that are not installed: pip install 'stagec[sign]'"


@contextmanager
def require_libraries() -> Iterator[None]:
    """Raise `Failure` where a library is missing that a signature needs."""
    try:
        yield
    except ImportError as error:
        raise Failure(_HOW) from error
