"""Messages to a run in another process: files in a folder beside its journal; the first one counts.

The folder is for nobody but the user, and every message has the seal of the user: a message grants what a plan does not
allow, so a file that somebody has merely put there is none.
"""

from __future__ import annotations

import hmac
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread

from stagec.core.disk import OpenedFolder, create_private, make_private_folder, open_folder, write_all
from stagec.core.failure import Failure
from stagec.core.folders import descriptor_of, enter_folder, open_file, remove_empty, remove_file
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import format_count, quote
from stagec.ir.plan.loader import PlanError
from stagec.runtime.drivers.local.live_journal import LiveJournal, read_stored
from stagec.runtime.drivers.messages import (
    LARGEST,
    MessageKind,
    OtherAnswerError,
    RunMessage,
    find_asked,
    is_answer_of,
    message_to_json,
    name_answer,
    parse_message,
    write_message,
)
from stagec.runtime.drivers.replay import fold_run
from stagec.runtime.machine import Program, load
from stagec.runtime.machine.exchange import Answered, Cancelled, Event
from stagec.runtime.machine.state import StepResult
from stagec.runtime.world.questions import (
    AskedOfPeople,
    OpenQuestion,
    is_for_people,
    list_open_questions,
    make_answer,
    read_decision,
)

_SIZE = 32
_NAME = "messages.key"


def find_state_folder() -> Path:
    """Return the user's own folder for what stagec must remember; as everywhere, a relative one does not count."""
    folder, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    if not os.path.isabs(folder):
        folder = os.path.join(home if os.path.isabs(home) else os.path.expanduser("~"), ".local", "state")
    return Path(folder, "stagec")


class Seal:
    """Seals messages with the secret of the user, and names them after it."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.mark = self._digest("mark", b"")[:8]
        """The common part of the names of all messages with this secret."""

    def name(self, journal: str, meant: str) -> str:
        """Return the digits that stand for a name of a message to the run of a journal."""
        return self._digest("name", journal.encode(errors="surrogatepass") + b"\0" + meant.encode())[:32]

    def sign(self, journal: str, message: Json) -> str:
        """Return the seal of a message to the run of a journal."""
        text = json.dumps(message, sort_keys=True)
        return self._digest("seal", journal.encode(errors="surrogatepass") + b"\0" + text.encode())

    def fits(self, journal: str, message: Json, given: object) -> bool:
        """Tell whether something is the seal of a message."""
        try:
            return isinstance(given, str) and hmac.compare_digest(self.sign(journal, message).encode(), given.encode())
        except (UnicodeEncodeError, RecursionError):  # no seal has half a character, and no message such a depth
            return False

    def _digest(self, use: str, text: bytes) -> str:
        return hmac.digest(self._secret, use.encode() + b"\0" + text, "sha256").hex()


def find_seal() -> Seal | None:
    """Return the seal of this user, None if there is none; raise `Failure` for a secret that others may know."""
    path = find_state_folder() / _NAME
    try:
        with open_folder(path.parent) as folder, open(open_file(folder, _NAME), "rb") as file:
            status, secret = os.fstat(file.fileno()), file.read(_SIZE + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failure(f"the secret {quote(path)} cannot be read: {error.strerror or error}") from error
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077 or len(secret) != _SIZE:
        raise Failure(f"the secret {quote(path)} must be a file of {_SIZE} bytes that only you can read: remove it")
    return Seal(secret)


def make_seal() -> Seal:
    """Return the seal of this user, with a new secret if there is none; raise `Failure` where it cannot be kept."""
    path = find_state_folder() / _NAME
    try:
        make_private_folder(path.parent)
        with suppress(FileExistsError):
            os.close(create_private(path, lambda opened: write_all(opened, os.urandom(_SIZE))))
    except OSError as error:
        raise Failure(f"the secret {quote(path)} cannot be written: {error.strerror or error}") from error
    found = find_seal()
    if found is None:
        raise Failure(f"the secret {quote(path)} has disappeared")
    return found


SUFFIX = ".messages"
"""The suffix of the folder of messages beside a journal."""
_HALF = ".stagec-"
"""The prefix of the names of incomplete files."""
_ANSWER = f"{MessageKind.ANSWER}-"
_FOREIGN = "has not the seal of this user, as 'stagec runs answer' and the page write it"
_MOST = 10_000
"""Names that are looked at when all messages are listed."""
_PATIENCE = 2.0
"""Seconds to wait for somebody who is sending."""


class AlreadySentError(Exception):
    """Somebody was first: `message` is the one that counts."""

    def __init__(self, message: RunMessage) -> None:
        super().__init__("a message was sent already")
        self.message = message


class UnusableMessageError(Exception):
    """Something that is not a message; `str()` says why, in words that follow the name of its file."""


class UnusableFolderError(UnusableMessageError):
    """A folder of messages in which others could write; `str()` is a clause that follows its name."""


class Mailbox:
    """The messages to the run of a journal."""

    def __init__(self, journal: Path) -> None:
        self.path = journal.with_name(f"{journal.name}{SUFFIX}")
        self._journal = journal.name
        self._seal: Seal | None = None

    def check(self) -> None:
        """Raise `Failure` for a folder of messages in which others could write."""
        try:
            with self._open():
                return
        except FileNotFoundError:
            return
        except UnusableFolderError as error:
            raise Failure(f"the folder of messages {quote(self.path)} {error}") from error
        except OSError as error:
            raise Failure(f"the folder of messages {quote(self.path)} cannot be used: {error.strerror}") from error

    def send(self, message: RunMessage, fits: Callable[[RunMessage], bool] = bool) -> None:
        """Write a message; it is on the disk when this returns.

        Raises `AlreadySentError` for the name of another one, unless that does not fit, and `Failure` when it cannot be
        written.
        """
        seal = make_seal()
        file, told = self._name_file(seal, message.name), message_to_json(message)
        data = json.dumps({**told, "seal": seal.sign(self._journal, told)}).encode()
        if len(data) > LARGEST:
            raise Failure(f"no message can be sent: it has more than {LARGEST:,} bytes")
        try:
            with self._open(make=True) as folder, _alone(folder):
                other = self._read_or_clear(folder, seal, file, fits)
                if other is not None:
                    raise AlreadySentError(other)
                os.close(folder.create(file, lambda opened: write_all(opened, data)))
        except UnusableMessageError as error:
            raise Failure(f"no message can be sent: {quote(self.path)} {error}") from error
        except OSError as error:
            raise Failure(f"no message can be sent: {quote(self.path)}: {error.strerror or error}") from error

    def read(self, name: str) -> RunMessage | None:
        """Return the message of a name, None where there is none; raise `UnusableMessageError` for anything else."""
        found = self.look((name,)).get(name)
        if isinstance(found, UnusableMessageError):
            raise found
        return found

    def find_stamp(self) -> int | None:
        """Return a stamp that usually changes with each message; None without a folder of messages."""
        try:
            return os.lstat(self.path).st_mtime_ns
        except OSError:
            return None

    def look(self, names: Sequence[str]) -> dict[str, RunMessage | UnusableMessageError]:
        """Return the messages of some names; if nothing has been sent, this costs one call of the system."""
        try:
            os.lstat(self.path)
            with self._open() as folder:
                seal = self._find_seal()
                if seal is None:
                    return self._list_foreign(folder, None)
                found = {name: self._look(folder, seal, self._name_file(seal, name)) for name in names}
                foreign = self._list_foreign(folder, seal)
        except FileNotFoundError:
            return {}
        except UnusableMessageError as error:
            return dict.fromkeys(names, error)
        except Failure as failure:
            return dict.fromkeys(names, UnusableFolderError(f"cannot be used: {failure}"))
        except OSError as error:
            return dict.fromkeys(names, UnusableFolderError(f"cannot be read: {error.strerror or error}"))
        return {**foreign, **{name: each for name, each in found.items() if each is not None}}

    def take(self, message: RunMessage) -> None:
        """Remove a message; another one of its name stays. Raises `Failure` when it cannot be removed."""
        try:
            seal = self._find_seal()
            if seal is None:
                return
            file = self._name_file(seal, message.name)
            with self._open() as folder, _alone(folder):
                if self._read(folder, seal, file) == message:
                    remove_file(folder, file)
        except (FileNotFoundError, UnusableMessageError):
            return
        except OSError as error:
            raise Failure(f"a message in {quote(self.path)} cannot be removed: {error.strerror or error}") from error

    def list_names(self) -> list[str]:
        """Return the names of the files that are there, at most some thousands."""
        try:
            with self._open() as folder:
                return _list_names(folder)
        except (OSError, UnusableMessageError):
            return []

    def take_all(self) -> dict[str, RunMessage | UnusableMessageError]:
        """Remove every message; return each by the name of its file, and what is none, which stays."""
        try:
            seal, names = self._find_seal(), self.list_names()
            if seal is None:
                return {name: UnusableMessageError(_FOREIGN) for name in names}
            with self._open() as folder, _alone(folder):
                found = {name: self._look(folder, seal, name) for name in names}
                _remove_all(folder, [name for name, each in found.items() if isinstance(each, RunMessage)])
        except (OSError, UnusableMessageError, Failure):
            return {}  # whoever looked for messages was told
        return {name: each for name, each in found.items() if each is not None}

    def remove_empty(self) -> None:
        """Remove the folder if no message is in it; whoever sends something makes it again."""
        with suppress(OSError, UnusableMessageError), self._open() as folder, _alone(folder):
            for each in os.listdir(descriptor_of(folder)):
                if each.startswith(_HALF):  # whoever wrote it has died
                    remove_file(folder, each)
        with suppress(OSError), open_folder(self.path.parent) as above:
            remove_empty(above, self.path.name)

    @contextmanager
    def _open(self, *, make: bool = False) -> Iterator[OpenedFolder]:
        with open_folder(self.path.parent) as above, enter_folder(above, self.path.name, make=make) as folder:
            status = os.fstat(descriptor_of(folder))
            if status.st_uid != os.geteuid():
                raise UnusableFolderError("belongs to another user: no answer in it counts")
            if stat.S_IMODE(status.st_mode) & 0o077:
                mode = f"{stat.S_IMODE(status.st_mode):04o}"
                raise UnusableFolderError(f"has the mode {mode}, must have 0700, and no answer in it counts: remove it")
            yield folder

    def _find_seal(self) -> Seal | None:
        if self._seal is None:
            self._seal = find_seal()
        return self._seal

    def _name_file(self, seal: Seal, name: str) -> str:
        is_answer = name.startswith(_ANSWER)
        return f"{_ANSWER}{seal.mark}-{seal.name(self._journal, name)}" if is_answer else name

    def _list_foreign(self, folder: OpenedFolder, seal: Seal | None) -> dict[str, RunMessage | UnusableMessageError]:
        """Return the answers in a folder whose names show that they are not of this user's secret."""
        own = f"{_ANSWER}{seal.mark}-" if seal is not None else None
        names = (each for each in _list_names(folder) if each.startswith(_ANSWER))
        return {each: UnusableMessageError(_FOREIGN) for each in names if own is None or not each.startswith(own)}

    def _read_or_clear(
        self, folder: OpenedFolder, seal: Seal, file: str, fits: Callable[[RunMessage], bool]
    ) -> RunMessage | None:
        """Return the message in a file; what is not a message, or does not fit, makes room for one."""
        found = self._look(folder, seal, file)
        if isinstance(found, RunMessage) and fits(found):
            return found
        remove_file(folder, file)
        return None

    def _look(self, folder: OpenedFolder, seal: Seal, file: str) -> RunMessage | UnusableMessageError | None:
        try:
            return self._read(folder, seal, file)
        except UnusableMessageError as error:
            return error

    def _read(self, folder: OpenedFolder, seal: Seal, file: str) -> RunMessage | None:
        data = _read_data(folder, file)
        if data is None:
            return None
        message = parse_message(data)
        if message is None:
            raise UnusableMessageError("is not a message")
        if not seal.fits(self._journal, message_to_json(message), json.loads(data).get("seal")):
            raise UnusableMessageError(_FOREIGN)
        if self._name_file(seal, message.name) != file:
            raise UnusableMessageError("is not a message")
        return message


@contextmanager
def _alone(folder: OpenedFolder) -> Iterator[None]:
    """Let nobody else send or take while the body does."""
    import fcntl

    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(descriptor_of(folder), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            break
    try:
        yield
    finally:
        fcntl.flock(descriptor_of(folder), fcntl.LOCK_UN)


def _remove_all(folder: OpenedFolder, names: Sequence[str]) -> None:
    for name in names:
        remove_file(folder, name)


def _list_names(folder: OpenedFolder) -> list[str]:
    """Return the names of what is in a folder, at most some thousands."""
    with os.scandir(descriptor_of(folder)) as found:
        return sorted(each.name for each in islice(found, _MOST) if not each.name.startswith(_HALF))


def _read_data(folder: OpenedFolder, name: str) -> bytes | None:
    try:
        opened = open_file(folder, name)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableMessageError(f"is not a message: {error.strerror or error}") from error
    with open(opened, "rb") as file:
        status = os.fstat(opened)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o022:
            raise UnusableMessageError("may be written by others")
        return file.read(LARGEST + 1)


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
        """Take an event that is in the journal, and drop the message that it came from."""
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


@value
class WaitingQuestion:
    """A question of a run, and the answer that was sent and has not arrived, if any.

    `is_executed` tells whether a process executes the run; otherwise an answer counts when the run is resumed.
    """

    question: OpenQuestion
    is_executed: bool
    sent: RunMessage | None = None


def list_waiting(path: Path) -> list[WaitingQuestion]:
    """Return the questions of a run that wait; raises `JournalError` and `Failure`."""
    stored = read_stored(path)
    program, state = fold_run(_load(stored.history.plan), stored.history.events)
    mailbox = Mailbox(path)
    mailbox.check()
    found = list_open_questions(program, () if state.ended is not None else state.pending.values(), state.active)
    return [WaitingQuestion(each, stored.is_executed, _find_sent(mailbox, each.key)) for each in found]


def send_answer(path: Path, key: str, *, yes: bool, by: str) -> RunMessage:
    """Answer a question of a run; the answer counts when this returns, at the latest when the run is resumed.

    Raises `OtherAnswerError` when somebody else was first, `Failure` for what is no question, and `JournalError`.
    """
    _refuse_foreign(path)
    with closing(LiveJournal(path)) as live:
        events = live.read_more().events
        effect = find_asked(_load(live.plan), events, key)
        message, mailbox = write_message(MessageKind.ANSWER, by, key, make_answer(effect, yes=yes)), Mailbox(path)
        try:
            mailbox.send(message, lambda other: read_decision(effect, other.answer) is not None)
        except AlreadySentError as error:
            raise OtherAnswerError(error.message.answer, error.message.by) from error
        try:  # what was answered before the message was there was answered by somebody else
            more = live.read_more()
            events = more.events if more.begins else (*events, *more.events)
            if not any(is_answer_of(each, message) for each in events):
                find_asked(_load(live.plan), events, key)
        except (OtherAnswerError, Failure):
            mailbox.take(message)
            raise
    return message


def send_request(path: Path, kind: MessageKind, by: str) -> bool:
    """Ask who executes a run to pause or cancel it; return whether anybody does.

    It was asked as well when somebody else has sent the same before.
    """
    _refuse_foreign(path)
    message, mailbox = write_message(kind, by), Mailbox(path)
    with closing(LiveJournal(path)) as live:
        if not live.is_executed():
            return False
        try:
            mailbox.send(message)
        except AlreadySentError as error:
            message = error.message
        if live.is_executed():
            return True
        mailbox.take(message)  # who executed the run has gone, and may not have seen it
        return False


def _find_sent(mailbox: Mailbox, key: str) -> RunMessage | None:
    try:
        return mailbox.read(name_answer(key))
    except UnusableMessageError:
        return None


def _refuse_foreign(path: Path) -> None:
    """Refuse the run of another user, who would not read the message."""
    try:
        owner = os.stat(path).st_uid
    except OSError as error:
        raise Failure(f"cannot use {quote(path)}: {error.strerror or error}") from error
    if owner != os.geteuid():
        raise Failure(f"{quote(path)} belongs to another user: only that user can send messages to its run")


def _load(plan: bytes) -> Program:
    try:
        return load(plan)
    except PlanError as error:
        raise Failure(f"its plan is refused: {error}") from error
