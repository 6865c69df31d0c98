"""Messages of servers: whole lines, and an error in the place of an answer that is too long."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from processes import KILLS_ITS_SUPERVISOR, await_orphans, gone

from stagec.runtime.world import mcp
from stagec.runtime.world.mcp import ServerProcess, _lines
from stagec.runtime.world.supervised_program import Job


def _read(data: bytes, chunk: int, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    monkeypatch.setattr(mcp, "_CHUNK", chunk)
    monkeypatch.setattr(mcp, "_LONGEST_LINE", 2_000)
    monkeypatch.setattr(mcp, "_MOST_BYTES", 20_000)

    async def collect() -> list[bytes]:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return [each async for each in _lines(reader)]

    return asyncio.run(collect())


def _answer(text: str, *, last: bool) -> bytes:
    result = {"content": text}
    ends = {"jsonrpc": "2.0", "id": 7}
    return json.dumps({"result": result, **ends} if last else {**ends, "result": result}).encode()


CHUNKS = pytest.mark.parametrize("chunk", [1, 3, 700, 5_000])


@CHUNKS
@pytest.mark.parametrize("last", [True, False])
def test_an_answer_that_is_too_long_is_an_error_of_its_request(
    chunk: int, *, last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = '"id": 9}' * 800
    before, long, after = _read(b"\n".join((b"{}", _answer(forged, last=last), b"{}", b"")), chunk, monkeypatch)
    assert (before, after) == (b"{}", b"{}")
    assert json.loads(long)["id"] == 7
    assert json.loads(long)["error"]["message"] == "the answer has more than 2,000 bytes"


@CHUNKS
def test_lines_are_as_they_were_written(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"", b"{}", b"x" * 1_999, b"", b'{"a": 1}']
    assert _read(b"\n".join((*lines, b"")), chunk, monkeypatch) == lines


@pytest.mark.parametrize("begin", [b"x", b"{", b"\0"])
def test_a_line_without_end_has_one(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = _read(begin * 1_000_000, 500, monkeypatch)
    assert line == begin * 512


def test_the_end_of_an_output_is_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _read(b"{}\nhalf", 5, monkeypatch) == [b"{}"]


def test_nothing_is_left_of_a_server_that_kills_its_supervisor(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    job = Job((sys.executable, "-c", KILLS_ITS_SUPERVISOR, str(note)), os.environ)

    async def use() -> list[int]:
        async with ServerProcess(job):
            return await asyncio.to_thread(await_orphans, note)

    assert all(map(gone, asyncio.run(use())))
