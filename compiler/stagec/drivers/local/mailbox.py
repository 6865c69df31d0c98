"""Messages to a run that another process executes: files in a folder beside its journal, of which the first counts.

The folder is for nobody but the user, and what anybody else could have written is not read: a message grants what a
plan does not allow.
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
from stagec.drivers.messages import LARGEST, RunMessage, message_to_json, parse_message

SUFFIX = ".messages"
"""What is put behind the name of a journal for the folder of its messages."""
_HALF = ".stagec-"
"""How the names of files begin that are not whole yet."""
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


class Mailbox:
    """The messages to the run of a journal."""

    def __init__(self, journal: Path) -> None:
        self.path = journal.with_name(f"{journal.name}{SUFFIX}")

    def send(self, message: RunMessage, fits: Callable[[RunMessage], bool] = bool) -> None:
        """Write a message; it is on the disk when this returns.

        Raises `AlreadySentError` for the name of another one, unless that does not fit, and `Failure` when it cannot be
        written.
        """
        try:
            with self._open(make=True) as folder, _alone(folder):
                other = _read_or_clear(folder, message.name, fits)
                if other is not None:
                    raise AlreadySentError(other)
                data = json.dumps(message_to_json(message)).encode()
                os.close(folder.create(message.name, lambda opened: write_all(opened, data)))
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
                found = {name: _look(folder, name) for name in names}
        except FileNotFoundError:
            return {}
        except UnusableMessageError as error:
            return dict.fromkeys(names, error)
        except OSError as error:
            return dict.fromkeys(names, UnusableMessageError(f"cannot be read: {error.strerror or error}"))
        return {name: each for name, each in found.items() if each is not None}

    def take(self, message: RunMessage) -> None:
        """Remove a message; another one of its name stays. Raises `Failure` when it cannot be removed."""
        try:
            with self._open() as folder, _alone(folder):
                if _read(folder, message.name) == message:
                    remove_file(folder, message.name)
        except (FileNotFoundError, UnusableMessageError):
            return
        except OSError as error:
            raise Failure(f"a message in {quote(self.path)} cannot be removed: {error.strerror or error}") from error

    def list_names(self) -> list[str]:
        """Return the names of what is there, at most some thousands."""
        try:
            with self._open() as folder, os.scandir(descriptor_of(folder)) as found:
                return sorted(each.name for each in islice(found, _MOST) if not each.name.startswith(_HALF))
        except (OSError, UnusableMessageError):
            return []

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
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise UnusableMessageError("may be written by others")
            yield folder


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


def _read_or_clear(folder: OpenedFolder, name: str, fits: Callable[[RunMessage], bool]) -> RunMessage | None:
    """Return the message of a name; what is not a message, or does not fit, makes room for one."""
    try:
        found = _read(folder, name)
    except UnusableMessageError:
        found = None
    if found is not None and fits(found):
        return found
    remove_file(folder, name)
    return None


def _look(folder: OpenedFolder, name: str) -> RunMessage | UnusableMessageError | None:
    try:
        return _read(folder, name)
    except UnusableMessageError as error:
        return error


def _read(folder: OpenedFolder, name: str) -> RunMessage | None:
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
        data = file.read(LARGEST + 1)
    message = parse_message(data)
    if message is None or message.name != name:
        raise UnusableMessageError("is not a message")
    return message
