"""Pausing the cyclic garbage collector where whole documents are built and none of it can be garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the collector from looking, again and again, at what only grows; afterwards it runs if it ran before."""
    pausing = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if pausing:
            _age()
            gc.enable()


def _age() -> None:
    """Take everything for old, so that the next collection does not begin by looking at all that was just built."""
    if gc.get_freeze_count() == 0:  # what somebody else froze stays frozen
        gc.freeze()
        gc.unfreeze()
