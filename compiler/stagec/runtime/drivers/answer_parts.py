"""Parts of answers that are not complete: the journal events that keep them, and who waits for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from threading import Condition

from stagec.core.canonical import digest
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.runtime.machine.exchange import Answered, Event, Rewound, number_of, part_key, whole_key

Write = Callable[[Event], object]


class AnswerParts:
    """Remembers the parts of answers by the events of a journal, and has a driver write new ones.

    `keep` is called in any thread.
    """

    def __init__(self) -> None:
        self._count = 0
        self._numbers: dict[str, int] = {}
        self._parts: dict[str, dict[str, tuple[int, Json]]] = {}
        self._changed = Condition()
        self._cancelled: set[str] = set()
        self._refused: set[str] = set()
        self._write: Write | None = None
        self._is_over = self._is_stopped = False

    def observe(self, event: Event) -> tuple[tuple[str, Json], ...]:
        """Take an event that is in the journal; return the parts to which the run does not come back, by their keys.

        A number is never used again, also not that of a part which is forgotten.
        """
        with self._changed:
            seq, self._count = self._count, self._count + 1
            if isinstance(event, Rewound):
                return tuple(self._forget(event.to))
            if isinstance(event, Answered):
                key = whole_key(event.key)
                if key is None:
                    self._parts.pop(event.key, None)
                else:
                    self._parts.setdefault(key, {})[event.key] = seq, event.answer
                    self._numbers[key] = self._numbers.get(key, 0) + 1
                self._changed.notify_all()
            return ()

    def _forget(self, to: int) -> Iterator[tuple[str, Json]]:
        """Forget the parts behind a place of the history, and yield them."""
        for key, parts in self._parts.items():
            late = [name for name, (seq, _) in parts.items() if seq >= to]
            yield from ((key, parts.pop(name)[1]) for name in late)

    @property
    def open_parts(self) -> Mapping[str, tuple[Json, ...]]:
        """The parts of the answers that are not there yet, by the keys of these."""
        with self._changed:
            return {key: tuple(part for _, part in parts.values()) for key, parts in self._parts.items()}

    def list_parts(self, key: str) -> tuple[Json, ...]:
        """Return the parts of an answer that were kept until now."""
        with self._changed:
            return tuple(part for _, part in self._parts.get(key, {}).values())

    def is_known(self, name: str) -> bool:
        """Tell whether a part of this key is in the journal, or was before the run went back."""
        key = whole_key(name) or ""
        with self._changed:
            return number_of(name) <= self._numbers.get(key, 0)

    def wait_for(self, key: str, names: Collection[str]) -> None:
        """Wait until parts of an answer are in the journal or refused, or nobody needs it any more."""

        def is_settled(name: str) -> bool:
            return name in self._refused or self.is_known(name)

        with self._changed:
            self._changed.wait_for(lambda: all(map(is_settled, names)) or key in self._cancelled or self._is_over)

    def digest_parts(self, key: str) -> str:
        """Return a digest of the parts of an answer that were kept until now: what a next part follows from."""
        return digest(json.dumps(self.list_parts(key), sort_keys=True).encode())

    def refuse(self, name: str) -> None:
        """Note that a part does not come into the journal."""
        with self._changed:
            self._refused.add(name)
            self._changed.notify_all()

    def keep(self, key: str, part: Json) -> Json:
        """Return a part as the journal gives it back, when it is on the disk; as it is where no driver writes any.

        Raises `Failure` when nobody needs the answer any more, or when nothing may follow from the part now.
        """
        with self._changed:
            name, write = part_key(key, self._numbers.get(key, 0) + 1), self._write
            if self._is_over:
                raise Failure("the run is not executed any more")
        if write is None:
            return part
        write(Answered(name, part))
        with self._changed:
            self._changed.wait_for(lambda: name in self._parts.get(key, {}) or key in self._cancelled or self._is_over)
            if name not in self._parts.get(key, {}):
                raise Failure(f"nobody needs the answer to {key} any more")
            if self._is_stopped:
                raise Failure("the run is not executed any more")
            return self._parts[key][name][1]

    def cancel(self, key: str) -> None:
        """Let nobody wait any more for parts of an answer."""
        with self._changed:
            self._cancelled.add(key)
            self._changed.notify_all()

    def stop(self) -> None:
        """Let parts be written, and nothing follow from them in this process."""
        self._is_stopped = True

    @contextmanager
    def let_write(self, write: Write) -> Iterator[None]:
        """Have parts written by a driver, at once or later, until this is left; who waits for it then gets a failure.

        The driver calls `observe` when an event is written.
        """
        with self._changed:
            self._write, self._is_over = write, False
        try:
            yield
        finally:
            with self._changed:
                self._write, self._is_over = None, True
                self._changed.notify_all()
