"""A line on the terminal that says what takes so long, gone before anything else is printed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from stagec.core.terminal import columns

_PATIENCE = 0.5
"""Seconds before a run counts as long."""


@contextmanager
def show_progress(sentence: str) -> Iterator[None]:
    """Show a sentence on a terminal's standard error while the body takes longer than half a second."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Event, Timer

    shown = Event()

    def show() -> None:
        _print(f"\r{sentence}")
        shown.set()

    timer = Timer(_PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if shown.is_set():
            _print(f"\r{' ' * columns(sentence)}\r")


def _print(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
