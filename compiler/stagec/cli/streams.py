"""The output streams of a command: their abilities, whole documents, progress, and readers that went away."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Self, TextIO

from stagec.core.failure import Failure
from stagec.core.terminal import Canvas, columns
from stagec.core.words import visible

_NARROWEST = 20


class Transcript:
    """Collects what is written while its block is executed, piece by piece, with the number of the stream."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, str]] = []

    def __enter__(self) -> Self:
        _transcripts.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _transcripts.remove(self)


_transcripts: list[Transcript] = []
"""The transcripts that are being kept."""


def prepare() -> None:
    """Make standard output and standard error write what their encoding lacks escaped instead of failing.

    A standard stream that was closed before this process began is one that has nothing to say and to read.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def put(text: str) -> bool:
    """Write to standard output, and tell whether anybody reads it; a reader that went away is no fault of a project."""
    return _write(sys.stdout, text)


def put_lines(*lines: str) -> None:
    """Write lines to standard output; nothing in them can play tricks to a terminal."""
    put("".join(f"{visible(line, _find_encoding(sys.stdout))}\n" for line in lines))


def is_read() -> bool:
    """Tell whether the reader of standard output is still there, as far as that can be known without writing."""
    try:
        states = select.poll()
        states.register(sys.stdout.fileno(), 0)
    except (AttributeError, OSError):  # a system without this question, or a stream that is kept in memory
        return True
    return not any(state & (select.POLLERR | select.POLLNVAL) for _, state in states.poll(0))


def put_bytes(data: bytes) -> None:
    """Write bytes to standard output exactly as they are."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        _give_up(sys.stdout, error)


def say(text: str) -> None:
    """Write one line about the run itself to standard error."""
    _write(sys.stderr, visible(text, _find_encoding(sys.stderr)) + "\n")


def put_error(text: str) -> None:
    """Write lines to standard error, where they do not disturb a document on standard output."""
    _write(sys.stderr, text)


def put_failure(failure: Failure) -> None:
    """Write to standard error why something could not be done, and what helps."""
    for line in redact(str(failure)).split("\n"):
        say(f"stagec: error: {line}")
    for hint in failure.hints:
        say(f"stagec: help: {redact(hint)}")


def redact(text: str) -> str:
    """Return an error message without secrets: errors of providers and servers show keys and headers."""
    from stagec.core.secrets import Redactor

    return Redactor(os.environ).redact_output(text)


def finish() -> None:
    """Hand over what was written and is not yet on its way."""
    for stream in (sys.stdout, sys.stderr):
        _write(stream, "")


def discard(stream: TextIO) -> None:
    """Let whatever is still written to a stream without reader go nowhere, also when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def find_canvas(stream: TextIO, environment: Mapping[str, str]) -> Canvas:
    """Return the abilities of a stream, as far as the environment allows them."""
    if environment.get("NO_COLOR"):
        colour = False
    elif any(environment.get(name, "0") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        colour = True
    else:
        colour = stream.isatty() and environment.get("TERM") != "dumb" and environment.get("CLICOLOR") != "0"
    return Canvas(_find_width(stream, environment), colour, _find_encoding(stream))


def _write(stream: TextIO, text: str) -> bool:
    for each in _transcripts if text else ():
        each.pieces.append((1 if stream is sys.stdout else 2, text))
    try:
        if text:  # a stream without a buffer would take nothing for a write
            stream.write(text)
        stream.flush()
    except OSError as error:
        _give_up(stream, error)
        return False
    return True


def _give_up(stream: TextIO, error: OSError) -> None:
    """Write no more to a stream; what does not reach standard output is a failure, unless its reader went away."""
    discard(stream)
    if stream is sys.stdout and not isinstance(error, BrokenPipeError):
        raise Failure(f"cannot write to standard output: {error.strerror or error}") from error


def _find_encoding(stream: TextIO) -> str:
    return stream.encoding or "ascii"


def _find_width(stream: TextIO, environment: Mapping[str, str]) -> int | None:
    if not stream.isatty():
        return None
    given = environment.get("COLUMNS", "")
    try:
        is_said = given.isascii() and given.isdigit()
        width = int(given) if is_said else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        width = 0
    return max(_NARROWEST, width) if width else 80


_PATIENCE = 0.5
"""Seconds before a run counts as long."""


@contextmanager
def show_progress(sentence: str) -> Iterator[Callable[[str], None]]:
    """Show a sentence on a terminal's standard error while the body takes longer than half a second.

    The body may say how far it has come, in sentences that do not become shorter.
    """
    if not sys.stderr.isatty():
        yield lambda _sentence: None
        return
    from threading import Timer

    line = _ProgressLine(sentence)
    timer = Timer(_PATIENCE, line.show)
    timer.daemon = True
    timer.start()
    try:
        yield line.change
    finally:
        timer.cancel()
        timer.join()
        line.clear()


class _ProgressLine:
    """The last line of a terminal, which says what is going on."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self._is_shown = False

    def show(self) -> None:
        """Show the line."""
        self._is_shown = True
        _print(f"\r{self._sentence}")

    def change(self, sentence: str) -> None:
        """Say something else, at once if the line is shown."""
        self._sentence = sentence
        if self._is_shown:
            self.show()

    def clear(self) -> None:
        """Leave nothing of the line."""
        if self._is_shown:
            _print(f"\r{' ' * columns(self._sentence)}\r")


def _print(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
