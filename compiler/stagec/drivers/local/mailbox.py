"""Messages to a run that another process executes: files in a folder beside its journal, of which the first counts.

The folder is for nobody but the user, and every message has the seal of the user: a message grants what a plan does not
allow, so a file that somebody has merely put there is none.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from stagec.core.disk import OpenedFolder, open_folder, write_all
from stagec.core.failure import Failure
from stagec.core.folders import descriptor_of, enter_folder, open_file, remove_empty, remove_file
from stagec.core.words import quote
from stagec.drivers.local.seal import Seal, find_seal, make_seal
from stagec.drivers.messages import LARGEST, MessageKind, RunMessage, message_to_json, parse_message

SUFFIX = ".messages"
"""What is put behind the name of a journal for the folder of its messages."""
_HALF = ".stagec-"
"""How the names of files begin that are not whole yet."""
_ANSWER = f"{MessageKind.ANSWER}-"
_FOREIGN = "has not the seal of this user, as 'stagec answer' and the page write it"
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
        """Return what changes whenever a message comes, mostly; None where there is no folder of messages."""
        try:
            return os.lstat(self.path).st_mtime_ns
        except OSError:
            return None

    def look(self, names: Sequence[str]) -> dict[str, RunMessage | UnusableMessageError]:
        """Return what is there of some names; where nothing has been sent, this costs one call of the system."""
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
