"""Requests to end, held back for a moment."""

from __future__ import annotations

import signal
from threading import Thread

import pytest

from stagec.world.held import Held


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_is_obeyed_once_it_may_be(number: signal.Signals) -> None:
    seen: list[int] = []
    before = signal.signal(number, lambda came, _: seen.append(came))
    try:
        held = Held()
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert seen == []
        held.release()
        assert seen == [number]
        held.release()
        signal.raise_signal(number)
        assert seen == [number, number]
    finally:
        signal.signal(number, before)


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        held = Held()
        signal.raise_signal(signal.SIGHUP)
        assert not held.is_asked
        held.release()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_whether_anybody_has_asked_can_be_seen() -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        held = Held()
        assert not held.is_asked
        signal.raise_signal(signal.SIGTERM)
        assert held.is_asked
        held.release()
        assert not held.is_asked
    finally:
        signal.signal(signal.SIGTERM, before)


def test_nothing_is_obeyed_when_nothing_came() -> None:
    before = signal.getsignal(signal.SIGINT)
    Held().release()
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_hold_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    thread = Thread(target=lambda: Held().release())
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
