"""The secret of a user, with which messages to runs are sealed: a file without the seal is no message.

The secret lies in the user's own folder for state, which the bundled tools cannot reach, and never in a folder of runs.
The names of messages follow from it too, so nobody without the secret knows where an answer is looked for.
"""

from __future__ import annotations

import hmac
import json
import os
import stat
from contextlib import suppress
from pathlib import Path

from stagec.core.disk import create_private, make_private_folder, open_folder, write_all
from stagec.core.failure import Failure
from stagec.core.folders import open_file
from stagec.core.json import Json
from stagec.core.words import quote

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
        """What the names of all messages of this secret have in common."""

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
