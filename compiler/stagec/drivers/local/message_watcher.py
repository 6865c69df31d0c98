"""Watch the messages to a run while it executes: one thread, which looks a few times a second."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event as Flag
from threading import Lock, Thread

from stagec.core.failure import Failure
from stagec.core.words import format_count, quote
from stagec.drivers.local.mailbox import AlreadySentError, Mailbox, UnusableFolderError, UnusableMessageError
from stagec.drivers.messages import MessageKind, RunMessage, name_answer, write_message
from stagec.runtime.exchange import Answered, Cancelled, Event
from stagec.runtime.state import StepResult
from stagec.world.questions import AskedOfPeople, is_for_people, make_answer, read_decision

_PACE, _SLOW_PACE = 0.1, 0.25
"""Seconds between two looks at the folder of messages: at first, and when nothing has come for long."""
_LONG = 100
"""Looks after which that is so."""
_OFTEN = 20
"""Looks of which at least one is at the messages themselves: a change may not show in the time of the folder."""

Obey = Callable[[RunMessage], None]
"""Takes a message that asks to pause or to cancel; is called in the thread of the watcher, or before it begins."""


class AwaitedAnswer:
    """A question that waits for a message. `arrived` is set when the message is there, or nobody needs it any more."""

    def __init__(self, effect: AskedOfPeople) -> None:
        self.effect = effect
        self.message: RunMessage | None = None
        self.arrived = Flag()
        self._lock = Lock()
        self._pipe: tuple[int, int] | None = None

    def open_pipe(self) -> int:
        """Return a descriptor that can be read from as soon as `arrived` is set."""
        with self._lock:
            if self._pipe is None:
                self._pipe = os.pipe()
                if self.arrived.is_set():
                    os.write(self._pipe[1], b".")
            return self._pipe[0]

    def finish(self, message: RunMessage | None) -> None:
        """Wait no more: a message has arrived, or nobody needs one."""
        with self._lock:
            if self.arrived.is_set():
                return
            self.message = message
            self.arrived.set()
            if self._pipe is not None:
                os.write(self._pipe[1], b".")

    def close(self) -> None:
        """Let go of the pipe."""
        with self._lock:
            for each in self._pipe or ():
                os.close(each)
            self._pipe = None
            self.arrived.set()


class MessageWatcher:
    """Hands the messages of a run to who waits for them, and removes them when the journal has what they said."""

    def __init__(
        self, mailbox: Mailbox, tell: Callable[[str], None], alarm: Callable[[str], None] | None = None
    ) -> None:
        self._mailbox, self._tell, self._alarm = mailbox, tell, alarm or tell
        self._awaited: dict[str, AwaitedAnswer] = {}
        self._expected = 0
        self._cancelled: set[str] = set()
        self._asked: set[str] = set()
        self._told: set[str] = set()
        self._lock = Lock()

    @contextmanager
    def watch(self, obey: Obey) -> Iterator[None]:
        """Watch while the body executes the run."""
        over = Flag()
        thread = Thread(target=self._repeat, args=(obey, over), daemon=True)
        self._look(obey)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    @contextmanager
    def expect(self, effect: AskedOfPeople) -> Iterator[AwaitedAnswer]:
        """Wait for the answer to a question while the body lasts."""
        awaited = AwaitedAnswer(effect)
        with self._lock:
            self._awaited[effect.key] = awaited
            self._expected += 1
            if effect.key in self._cancelled:
                awaited.finish(None)
        try:
            yield awaited
        finally:
            with self._lock:
                del self._awaited[effect.key]
            awaited.close()

    def cancel(self, key: str) -> None:
        """Let nobody wait for an answer any more, or begin to."""
        with self._lock:
            self._cancelled.add(key)
            awaited = self._awaited.get(key)
        if awaited is not None:
            awaited.finish(None)

    def claim(self, effect: AskedOfPeople, *, yes: bool, by: str) -> RunMessage:
        """Return the message that answers a question: the one that was sent first, or else this decision."""
        own = write_message(MessageKind.ANSWER, by, effect.key, make_answer(effect, yes=yes))
        try:
            self._mailbox.send(own, lambda other: read_decision(effect, other.answer) is not None)
        except AlreadySentError as error:
            return error.message
        except Failure as failure:  # then nobody else can send anything, either
            self._tell(str(failure))
        return own

    def observe(self, event: Event, step: StepResult) -> None:
        """Take an event that is in the journal: the message that it came from is done with."""
        self._asked.update(each.key for each in step.effects if is_for_people(each))
        if isinstance(event, Answered) and event.key in self._asked:
            self._asked.remove(event.key)
            self._remove(name_answer(event.key))
        elif event == Cancelled():
            self._remove(MessageKind.CANCEL)
        for key in step.void:
            if key in self._asked:
                self._asked.remove(key)
                self._drop(key)

    def begin(self, *, is_new: bool) -> None:
        """Remove what was sent to a session that is over, or to an earlier run of the same name.

        Raises `Failure` for a folder of messages in which others could write: nobody could answer the run.
        """
        self._mailbox.check()
        if is_new:
            self._remove_all()
        else:
            self._remove(MessageKind.PAUSE)

    def conclude(self) -> None:
        """Remove everything, because the run has ended, and say what has fitted nothing."""
        strays = sum(each.kind is MessageKind.ANSWER for each in self._remove_all())
        if strays:
            self._tell(f"{format_count(strays, 'answer')} had no question, and were ignored")
        self._mailbox.remove_empty()

    def _remove_all(self) -> list[RunMessage]:
        """Remove and return every message; say what is none."""
        found = self._mailbox.take_all()
        for name, each in found.items():
            if isinstance(each, UnusableMessageError):
                self._tell_once(name, each)
        return [each for each in found.values() if isinstance(each, RunMessage)]

    def _drop(self, key: str) -> None:
        """Remove the answer to a question that nobody asks any more, and say so."""
        found = self._mailbox.look((name_answer(key),)).get(name_answer(key))
        if isinstance(found, RunMessage):
            self._tell(f"the answer of {found.by} to {quote(key)} does not count: the question is asked no more")
            self._remove(name_answer(key))

    def _remove(self, name: str) -> None:
        try:
            message = self._mailbox.read(name)
            if message is not None:
                self._mailbox.take(message)
        except (UnusableMessageError, Failure) as error:
            self._tell_once(name, error)

    def _repeat(self, obey: Obey, over: Flag) -> None:
        """Look until it is over; a folder that is not there, or has not changed, costs one call of the system."""
        known: object = None
        unchanged = 0
        while not over.wait(_PACE if unchanged < _LONG else _SLOW_PACE):
            stamp = self._mailbox.find_stamp()
            now = stamp, self._expected
            unchanged = unchanged + 1 if now == known else 0
            if stamp is not None and unchanged % _OFTEN == 0:
                self._look(obey)
            known = now

    def _look(self, obey: Obey) -> None:
        """Hand over what has come."""
        with self._lock:
            awaited = {name_answer(key): each for key, each in self._awaited.items()}
        for name, found in self._mailbox.look((*_REQUESTS, *awaited)).items():
            if isinstance(found, UnusableMessageError):
                self._tell_once(name, found)
            elif name in awaited:
                self._deliver(awaited[name], found)
            elif name not in self._told:
                self._told.add(name)
                if found.kind is MessageKind.PAUSE:
                    self._remove(name)
                obey(found)

    def _deliver(self, awaited: AwaitedAnswer, message: RunMessage) -> None:
        if read_decision(awaited.effect, message.answer) is None:
            self._tell_once(message.name, UnusableMessageError("does not match the question"))
        else:
            awaited.finish(message)

    def _tell_once(self, name: str, error: Exception) -> None:
        """Say why a message is ignored."""
        if isinstance(error, UnusableFolderError):
            name = str(self._mailbox.path)
        if name in self._told:
            return
        self._told.add(name)
        if isinstance(error, UnusableFolderError):
            self._alarm(f"the folder of messages {quote(name)} {error}")
        else:
            self._tell(f"the message {quote(name)} is ignored: it {error}")


_REQUESTS = (MessageKind.CANCEL, MessageKind.PAUSE)
