"""The process in which a model of this machine answers: `python -P llama_process.py FILE`; it imports nothing of ours.

Requests and what comes of them are JSON lines over its standard streams, one request at a time, in their order. A
process of its own, because native code can be ended at any moment only together with its process, and because neither
its crash nor what it prints concerns stagec.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from queue import SimpleQueue
from secrets import token_hex
from threading import Lock, Thread
from typing import Any

CONTEXT = 4_096
"""Tokens of a request and its response together."""
_MOST_THREADS = 4


class ModelProcess:
    """A model, the requests that wait for it, and those that nobody needs any more."""

    def __init__(self, descriptor: int) -> None:
        self._out = os.fdopen(descriptor, "w", encoding="ascii")
        self._lock = Lock()
        self._waiting: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._dropped: set[int] = set()

    def serve(self, path: str) -> None:
        """Load the model, and answer until nobody asks any more."""
        Thread(target=self._work, args=(path,), daemon=True).start()
        for line in sys.stdin.buffer:
            told = json.loads(line)
            if told["is"] == "cancel":
                self._dropped.add(told["id"])
            else:
                self._waiting.put(told)
        os._exit(0)  # a response that is under way is of no use any more

    def _work(self, path: str) -> None:
        try:
            model = _load(path)
        except Exception as error:  # whatever a library says of a file
            self._tell({"is": "trouble", "why": str(error)})
            os._exit(1)
        self._tell({"is": "ready"})
        while True:
            request = self._waiting.get()
            if request["id"] not in self._dropped:
                self._tell({"is": "begun", "id": request["id"]})
                self._tell({**self._answer(model, request), "id": request["id"]})

    def _answer(self, model: Any, request: dict[str, Any]) -> dict[str, Any]:
        """Return the whole response, or why there is none; its pieces are told as they come."""
        response = _Response(is_object=request["schema"] is not None)

        def take(chunk: dict[str, Any]) -> bool:
            piece = response.take(chunk)
            if piece:
                self._tell({"is": "text", "id": request["id"], "text": piece})
            return response.is_loose or request["id"] in self._dropped

        model.handle_chat_completions(_write_request(request), take)
        return response.end()

    def _tell(self, message: dict[str, Any]) -> None:
        with self._lock, suppress(OSError):  # nobody reads: standard input says the same soon
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()


class _Response:
    """The response to one request so far.

    One that must be an object and does not begin like one `is_loose`: the library could not follow the schema, and says
    nothing of it.
    """

    def __init__(self, *, is_object: bool) -> None:
        self._is_object, self.is_loose = is_object, False
        self._pieces: list[str] = []
        self._finish: str | None = None
        self._usage: dict[str, int] = {}
        self._error: dict[str, Any] | None = None

    def take(self, chunk: dict[str, Any]) -> str:
        """Take note of a chunk; return the text in it."""
        self._error = chunk.get("error", self._error)
        self._usage = chunk.get("usage") or self._usage
        text = ""
        for choice in chunk.get("choices", ()):
            self._finish = choice.get("finish_reason") or self._finish
            text += choice.get("delta", {}).get("content") or ""
        self._pieces.append(text)
        self.is_loose = self.is_loose or (self._is_object and bool(text) and not "".join(self._pieces).startswith("{"))
        return "" if self.is_loose else text

    def end(self) -> dict[str, Any]:
        """Return the response as it is told."""
        if self.is_loose:
            return {"is": "error", "type": "schema", "message": "the schema cannot be enforced on answers"}
        if self._error is not None:
            count = self._error.get("n_prompt_tokens")
            why = str(self._error.get("message"))
            if count is not None:
                why = f"the request has {count:,} tokens; request and response may have {CONTEXT:,} together"
            return {"is": "error", "message": why}
        return {"is": "reply", "text": "".join(self._pieces), "finish": self._finish, "usage": self._usage}


def _write_request(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request as the library takes it: with the same seed each time, and nothing kept of earlier requests.

    That makes the response a function of the request, at any temperature.
    """
    asked: dict[str, Any] = {"messages": request["messages"], "max_tokens": request["tokens"]}
    if request["schema"] is not None:
        compact = {**request["schema"], "x-guidance": {"whitespace_flexible": False}}
        asked["grammar"] = f"%llguidance {{}}\nstart: %json {json.dumps(compact)}"
    return {
        **asked,
        "temperature": request["temperature"],
        "seed": 0,
        "cache_prompt": False,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def _load(path: str) -> Any:
    """Return a model that answers one request at a time, on half of the processors.

    The library always listens on a port: here on one that no browser reaches, with a secret key.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    where = f"\0stagec-{token_hex(16)}.sock" if sys.platform == "linux" else "127.0.0.1"
    threads = {"n_threads": max(1, min(_MOST_THREADS, _count_processors() // 2))}
    _set(params.model, {"path": path})
    _set(params.cpuparams, threads)
    _set(params.cpuparams_batch, threads)
    _set(params, {**_SETTINGS, "hostnames": [where], "api_keys": [token_hex(32)]})
    return xllamacpp.Server(params)


_SETTINGS = {"n_ctx": CONTEXT, "n_parallel": 1, "cache_ram_mib": 0, "warmup": False, "ui": False, "verbosity": -1}


def _set(settings: Any, given: dict[str, Any]) -> None:
    for name, each in given.items():
        setattr(settings, name, each)


def _count_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> None:
    """Serve the model in the file that is named; whatever the library prints goes nowhere."""
    ours, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    ModelProcess(ours).serve(sys.argv[1])


if __name__ == "__main__":
    main()
