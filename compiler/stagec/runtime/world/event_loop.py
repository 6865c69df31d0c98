"""An event loop in a thread of its own, for libraries that are asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

Result = TypeVar("Result")


class EventLoop:
    """Carries out work for threads that wait for it, until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin a piece of work; cancelling its future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, last: Coroutine[Any, Any, None], patience: float) -> None:
        """Do a last piece of work, wait for all other work, and end; each part may take `patience` seconds."""
        with suppress(TimeoutError):
            self.submit(_end(last)).result(patience)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(patience)
        if not self._thread.is_alive():
            self._loop.close()


async def _end(last: Coroutine[Any, Any, None]) -> None:
    """Leave nothing to do: a stream of a library that was not read to its end closes only now."""
    await last
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.sleep(0)  # streams that the collector has found close in tasks, which begin in the next round
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.gather(*others, return_exceptions=True)
