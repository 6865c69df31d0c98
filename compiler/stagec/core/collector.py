"""When the cyclic garbage collector works: not while documents are built, and not in commands that end soon."""

from __future__ import annotations

import gc

_MANY = 50_000
"""So many new objects are worth a thought: a collection looks at them in some milliseconds."""


def stop_collector() -> None:
    """Keep the collector off for the rest of the process: the system frees the memory of a short command at its end."""
    gc.disable()


def start_collector() -> None:
    """Let the collector work in a command that may take long."""
    gc.enable()


def settle_collector() -> None:
    """Exclude all present objects from later collections: they stay until the end."""
    gc.collect()
    gc.freeze()


def collect_above(many: int) -> None:
    """Collect now if so many objects are new; for a process in which `stop_collector` keeps the collector off."""
    if gc.get_count()[0] > many:
        gc.collect()


class PausedCollector:
    """Keep the collector from looking, again and again, at what only grows; afterwards it runs if it ran before."""

    def __init__(self) -> None:
        self._was_enabled = False

    def __enter__(self) -> None:
        """Stop the collector."""
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        """Start it again if it ran before."""
        if self._was_enabled:
            # Take all objects for old, so that the next collection does not begin by looking at all that is new.
            # What somebody else froze stays frozen; Python counts it object by object, so it must be worth it.
            if gc.get_count()[0] > _MANY and gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
