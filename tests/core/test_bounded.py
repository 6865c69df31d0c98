"""No more is read than is allowed, whatever is read."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from stagec.core.bounded import OversizedError, read_path, read_stream


class Endless(io.RawIOBase):
    """A stream that never ends, and counts what is taken of it."""

    taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.taken += len(buffer)
        return len(buffer)


@pytest.mark.parametrize("size", [0, 1, 9, 10])
def test_what_fits_is_read(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * size)
    assert (read_path(path, 10), read_stream(io.BytesIO(b"x" * size), 10)) == (b"x" * size, b"x" * size)


def test_what_does_not_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 11)
    with pytest.raises(OversizedError, match="has more than 10 bytes"):
        read_path(path, 10)


def test_a_stream_without_an_end_is_left(tmp_path: Path) -> None:
    stream = Endless()
    with pytest.raises(OversizedError):
        read_stream(io.BufferedReader(stream), 5_000_000)
    assert stream.taken < 10_000_000
    with pytest.raises(OversizedError):
        read_path("/dev/zero", 5_000_000)
    assert not list(tmp_path.iterdir())
