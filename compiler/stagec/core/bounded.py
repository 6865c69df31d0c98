"""Read files that users name, within a budget: the only module that reads them."""

from __future__ import annotations

import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


class OversizedError(Exception):
    """The input is larger than allowed; `most` is the allowed number of bytes, `size` the real one, if known."""

    def __init__(self, most: int, size: int = 0) -> None:
        super().__init__(f"has more than {most:,} bytes")
        self.most = most
        self.size = size


_CHUNK = 1 << 20


def read_stream(stream: BinaryIO, most: int) -> bytes:
    """Return everything in a stream, or raise `OversizedError` once there is more than allowed."""
    chunks: list[bytes] = []
    left = most
    while chunk := stream.read(min(_CHUNK, left + 1)):
        left -= len(chunk)
        if left < 0:
            raise OversizedError(most)
        chunks.append(chunk)
    return b"".join(chunks)


def open_to_read(path: str) -> int:
    """Open a file that was looked at; what took its place meanwhile is not followed, if a link, nor waited for."""
    return os.open(
        path,
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_NOCTTY", 0)
        | getattr(os, "O_BINARY", 0),
    )


def read_path(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the bytes of a file; a file that grows, and a pipe that never ends, are no larger than allowed either."""
    with open(path, "rb", buffering=0) as stream:
        return read_stream(stream, most)


def read_pieces(descriptor: int) -> Iterator[bytes]:
    """Yield pieces of a file or a pipe as soon as they come, until the end; none of them is kept."""
    while True:
        try:
            piece = os.read(descriptor, _CHUNK)
        except BlockingIOError:  # somebody has made a pipe that we share one that never waits
            select.select([descriptor], [], [])
            continue
        if not piece:
            return
        yield piece
