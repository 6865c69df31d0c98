"""The door to the libraries that sign and verify."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stagec.core.extras import explain_missing_extra


@contextmanager
def require_libraries() -> Iterator[None]:
    """Raise `Failure` where a library is missing that a signature needs."""
    try:
        yield
    except ImportError as error:
        raise explain_missing_extra("signatures need", "sign") from error
