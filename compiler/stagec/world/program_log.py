"""What programs write, on its way to a log or to standard error: without secrets and within bounds."""

from __future__ import annotations

import os
import re
from threading import Lock

from stagec.core.disk import write_all
from stagec.core.secrets import LONGEST, Redactor

MOST = 10_000_000
"""Bytes of each output of an attempt that are kept in the log; markers are read in what comes after that as well."""
_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^-]*\Z")
_HEAD = "-----BEGIN PRIVATE KEY-----\n"


class RunLog:
    """A file to whose end whole lines are written, in any thread; `trouble` is why the first of them were lost."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = Lock()
        self.trouble: OSError | None = None

    def write(self, text: str) -> None:
        """Write lines; a disk that is full or a file that is gone never ends a stage, it is kept as `trouble`."""
        with self._lock:
            try:
                if self.trouble is None:
                    write_all(self._descriptor, text.encode(errors="replace"))
            except OSError as error:
                self.trouble = error

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


class LogStream:
    """One output of a program on its way to a log: whole lines, redacted; of very long lines the beginning.

    Beyond `most` bytes nothing is kept. `last` is the last line that is not blank, as far as lines are kept.
    """

    def __init__(self, log: RunLog, redactor: Redactor, most: float = MOST) -> None:
        self._log, self._redactor = log, redactor
        self._room = self._most = most
        self._rest = bytearray()
        self._is_cut = False
        self._is_in_key = False
        self.last = ""

    def take(self, piece: bytes) -> None:
        """Take a further piece of the stream."""
        if self._room <= 0:
            return
        self._rest += piece
        end = self._rest.rfind(b"\n") + 1
        if self._is_cut and not end:
            self._rest.clear()
            return
        if end:
            begin = self._rest.find(b"\n") + 1 if self._is_cut else 0
            self._is_cut = False
            self._write(bytes(self._rest[begin:end]))
            del self._rest[:end]
        if len(self._rest) > 2 * LONGEST:  # more is looked at than is kept, so that no secret is cut in two
            self._write(bytes(self._rest), cut=True)
            self._rest.clear()
            self._is_cut = True

    def close(self) -> None:
        """Write the last line if nothing has ended it."""
        if self._rest and not self._is_cut:
            self.take(b"\n")

    def _write(self, lines: bytes, *, cut: bool = False) -> None:
        text = lines.decode(errors="replace")
        text = _HEAD + text if self._is_in_key else text
        self._is_in_key = _KEY.search(text) is not None
        text = self._redactor.redact_output(text)
        text = f"{text[:LONGEST]} […]\n" if cut else text
        self._room -= len(lines)
        self.last = next((each for each in reversed(text.splitlines()) if each.strip()), self.last)
        self._log.write(text if text.endswith("\n") or not text else f"{text}\n")
        if self._room <= 0:
            self._log.write(f"[…] {self._most:,} bytes of an output are kept\n")
