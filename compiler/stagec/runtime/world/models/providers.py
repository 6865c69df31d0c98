"""All providers as one: the first word of a model's name says which one is asked; each is opened when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock

from stagec.runtime.world.models.port import Listener, ModelReply, ModelRequest, Provider

Open = Callable[[], Provider]
"""Opens a provider, or raises `Failure` where its library is missing."""


class Providers:
    """Passes requests on to the provider that the name of the model begins with, else to the one that others have."""

    def __init__(self, others: Open, named: Mapping[str, Open]) -> None:
        self._others, self._named = others, named
        self._opened: dict[Open, Provider] = {}
        self._lock = Lock()

    def prepare(self, model: str) -> None:
        """Raise `Failure` where what asking a model takes is not there."""
        self._open(model).prepare(model)

    def _open(self, model: str) -> Provider:
        """Return the provider of a model, the same one each time."""
        opener = self._named.get(model.partition(":")[0], self._others)
        with self._lock:
            if opener not in self._opened:
                self._opened[opener] = opener()
            return self._opened[opener]

    def supports_tools(self, model: str) -> bool:
        """Tell whether a model takes strict tool calls."""
        return self._open(model).supports_tools(model)

    def request(self, key: str, request: ModelRequest, listen: Listener | None = None) -> ModelReply:
        """Return the response of a model, or raise `ModelError`."""
        return self._open(request.model).request(key, request, listen)

    def cancel(self, key: str) -> None:
        """End a request that is under way."""
        for each in tuple(self._opened.values()):
            each.cancel(key)

    def close(self) -> None:
        """End everything that is under way."""
        for each in tuple(self._opened.values()):
            each.close()
