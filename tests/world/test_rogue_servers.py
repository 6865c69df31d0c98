"""Servers that keep to no rule of MCP: each is told or passed over, and nothing of it is left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from stagec.ir.catalogue import CatalogueServer, LockedServer
from stagec.runtime.world import mcp
from stagec.runtime.world.mcp import Answer, Question, ServerFailure, ask

Leftovers = Callable[[], list[int]]
MakeServer = Callable[..., CatalogueServer]
ROGUE = str(Path(__file__).with_name("rogue.py"))
_PLAIN = ("giant_schema", "right_after_wrong", "text_id", "no_text", "complaints", "noise_at_the_end")
ANSWERING = {**{each: ["a"] for each in _PLAIN}, "few_questions": ["error error error error result"]}
"""Servers that are understood all the same, and the tools that they have."""
UNREADABLE = "answered with error -32700: the answer cannot be read as JSON-RPC"
FAILING = {
    "half": "ended with status 0 before it answered",
    "half_and_stay": "closed the connection before it answered",
    "both": "answered with error 1: no",
    "long_error": "answered with error 1000000000000: xxx",
    "deep_schema": UNREADABLE,
    "halves": UNREADABLE,
    "odd_error": UNREADABLE,
    "long_names": "lists its tools without end: there are more than 64,000,000 characters",
    "long_cursors": "lists its tools without end: there are more than 64,000,000 characters",
}
MUTE = (
    *("drip", "wrong_id", "batch"),
    *("flood", "changes", "progress", "questions"),
)
"""Servers of which nothing is understood: they have their time."""


def answers(make: MakeServer, folder: Path, kinds: Iterable[str], timeout: float) -> dict[str, Answer]:
    """Ask servers of some kinds, several at a time."""
    given = {each: make(each, command=sys.executable, args=(ROGUE, each)) for each in kinds}
    questions = [Question(each, str(folder), timeout) for each in given.values()]
    return dict(zip(given, ask(questions, lambda *_: None, lambda *_: None), strict=True))


def test_what_can_be_understood_is(server: MakeServer, tmp_path: Path, leftovers: Leftovers) -> None:
    found = answers(server, tmp_path, ANSWERING, 60)
    assert {kind: list(each.tools) for kind, each in found.items() if isinstance(each, LockedServer)} == ANSWERING
    assert leftovers() == []


def test_what_cannot_be_understood_is_told(server: MakeServer, tmp_path: Path, leftovers: Leftovers) -> None:
    found = answers(server, tmp_path, FAILING, 60)
    told = {kind: each.what[: len(FAILING[kind])] for kind, each in found.items() if isinstance(each, ServerFailure)}
    assert told == FAILING
    assert leftovers() == []


def test_what_says_nothing_has_its_time(
    server: MakeServer, tmp_path: Path, leftovers: Leftovers, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    is_request = mcp._is_request

    def count(message: object) -> bool:
        asked.append(is_request(message))
        return asked[-1]

    monkeypatch.setattr(mcp, "_is_request", count)
    found = answers(server, tmp_path, MUTE, 2)
    told = {kind: each.what for kind, each in found.items() if isinstance(each, ServerFailure)}
    assert {kind for kind, what in told.items() if what.startswith("did not answer within 2 seconds")} == {*MUTE}
    assert 0 < sum(asked) < 3_000
    assert leftovers() == []
