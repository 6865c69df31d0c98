"""Limit the bodies of HTTP responses from untrusted hosts: uncompressed, and not longer than expected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

PLAIN = {"Accept-Encoding": "identity"}
"""The header with which nobody is asked for compressed bodies."""
_PLAIN = {"", "identity"}


class ExcessiveBodyError(Exception):
    """A body that is not read to its end; its text says why, as what the host does."""


class BodyGuard:
    """Looks at every response of a client of `httpx2` before its body is read; `excess` is why one was refused."""

    def __init__(self, most: int) -> None:
        self.excess: str | None = None
        self._most = most

    async def look(self, response: Any) -> None:
        """Refuse a compressed body, and let the reading of one that is too long fail."""
        if response.headers.get("Content-Encoding", "").strip().lower() not in _PLAIN:
            raise self._explain("sends a compressed answer without being asked to")
        response.stream = self._bound(response.stream)

    def _explain(self, what: str) -> ExcessiveBodyError:
        self.excess = what  # the library may keep the error to itself
        return ExcessiveBodyError(what)

    def _bound(self, stream: Any) -> Any:
        """Return a body that fails as soon as it is longer than it can be."""
        from httpx2 import AsyncByteStream

        exceeded, most = self._explain, self._most

        class Bounded(AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                length = 0
                async for chunk in stream:
                    length += len(chunk)
                    if length > most:
                        raise exceeded(f"sends an answer of more than {most:,} bytes")
                    yield chunk

            async def aclose(self) -> None:
                await stream.aclose()

        return Bounded()


def guard_client(client: Any, most: int) -> None:
    """Let the client of a provider look at its responses, if it is one that sends by `httpx2`."""
    http = getattr(client, "_client", None)
    if type(http).__module__.partition(".")[0] == "httpx2" and http is not None:
        hooks = http.event_hooks
        http.event_hooks = {**hooks, "response": [*hooks.get("response", ()), BodyGuard(most).look]}
        http.headers.update(PLAIN)


def find_excess(error: BaseException | None) -> ExcessiveBodyError | None:
    """Return the refusal of a body that led to an error, if there is one."""
    for _ in range(_DEEPEST):
        if error is None or isinstance(error, ExcessiveBodyError):
            return error
        error = error.__cause__ or error.__context__
    return None


_DEEPEST = 64
"""So many errors that led to one another are looked at."""
