"""Results of `stagec validate`, printed again while nothing that they follow from has changed.

A result follows from the command line, the surroundings of the process, stagec itself with its libraries, and the
answers of the disk. All but the last are in the name of an entry; the answers are in the entry, and are asked for again
before it counts. An entry is text with a keyed digest: its key is a secret in the user's own cache folder, so that
nobody else can write one. Whatever is wrong with an entry or a folder means that there is no result.

A run that finds its result imports nothing else of stagec, and no library.
"""

from __future__ import annotations

import os
import stat
import sys
from _blake2 import blake2b

from stagec.core.bounded import open_to_read
from stagec.core.observations import Observations, find_changes
from stagec.core.version import __version__

TYPE_CHECKING = False  # the real one costs the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import TextIO

    Said = Sequence[tuple[int, str]]
    """The output of a command, piece by piece, with the number of the stream."""

_FORMAT = "stagec result 1"
_OPTION = "--cache-dir"
_NEVER = {"--no-cache", "--fix", "--diff", "--watch", "-"}
"""Arguments with which no result is asked for."""
_VARIABLES = {"LANG", "LANGUAGE", "HOME", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS"}
_BEGINNINGS = ("STAGEC_", "_STAGEC_", "XDG_", "LC_", "PY")
"""The variables that can change what is printed: some names, and beginnings of others."""
_SWITCH = "STAGEC_NO_CACHE"
_SECRET_SIZE = 32
_DIGEST_SIZE = 20
_LARGEST = 16_000_000
"""Bytes of an entry."""


class ResultKey:
    """The key of a result, without the files on the disk: the name of its entry, and the user's secret."""

    __slots__ = ("name", "secret")

    def __init__(self, name: str, secret: bytes) -> None:
        self.name = name
        self.secret = secret

    def sign(self, body: bytes) -> bytes:
        """Return the digest that makes a body the entry of this key."""
        keyed = blake2b(self.name.encode(), digest_size=_DIGEST_SIZE, key=self.secret)
        keyed.update(body)
        return keyed.hexdigest().encode()

    def read_entry(self, folder: str | None) -> tuple[int, Observations, Said] | None:
        """Return the entry of this key in a folder, None if there is none."""
        if folder is None:
            return None
        data, _ = _read_file(os.path.join(folder, "results", self.name), _LARGEST + 2 * _DIGEST_SIZE)
        signature, body = data[: 2 * _DIGEST_SIZE], data[2 * _DIGEST_SIZE :]
        return _read_body(body) if signature == self.sign(body) else None


_asked: list[bytes] = []
"""The description of this process, when its result was looked for and is not known."""


def print_known(arguments: Sequence[str]) -> int | None:
    """Print what a command line printed before and return its exit status; None when it has to be executed."""
    is_open = all(getattr(sys, name) is not None for name in ("stdout", "stderr"))
    if "validate" not in arguments or not _NEVER.isdisjoint(arguments) or os.environ.get(_SWITCH) or not is_open:
        return None
    try:
        described = describe(arguments)
        _asked.append(described)
        key = make_key(described)
        entry = None if key is None else key.read_entry(find_folder(_find_option(arguments)))
    except (OSError, ValueError):
        return None
    if entry is None:
        return None
    status, observations, said = entry
    is_known = next(find_changes(observations), None) is None
    return status if is_known and _print(said) else None


def describe(arguments: Sequence[str]) -> bytes:
    """Return everything that decides the output of a command line, except the files of its project."""
    kept = sorted(name for name in os.environ if name in _VARIABLES or name.startswith(_BEGINNINGS))
    parts = [
        *(_FORMAT, __version__, sys.version, sys.executable, str(sys.flags), sys.getfilesystemencoding(), os.getcwd()),
        *(_describe_stream(stream) for stream in (sys.stdout, sys.stderr)),
        *("\1".join((name, os.environ[name])) for name in kept),
        "\1".join(arguments),
        *_stamp_libraries(),
        *_stamp_own(),
    ]
    return "\0".join(parts).encode(errors="surrogatepass")


def make_key(described: bytes) -> ResultKey | None:
    """Return the key of what was described; None as long as the user has no secret."""
    folder = find_own_folder()
    secret = b"" if folder is None else _read_secret(os.path.join(folder, "secret"))
    if len(secret) != _SECRET_SIZE:
        return None
    return ResultKey(blake2b(described, digest_size=_DIGEST_SIZE, key=secret).hexdigest(), secret)


def take_description() -> bytes | None:
    """Return the description of this process from the search for its result; None if there was no search."""
    return _asked.pop() if _asked else None


def find_folder(named: str | os.PathLike[str] | None) -> str | None:
    """Return the folder of entries: the one that was named, else that of the environment, else the user's own."""
    folder = os.fspath(named) if named is not None else os.environ.get("STAGEC_CACHE_DIR", "")
    return os.path.abspath(folder) if folder else find_own_folder()


def keep(described: bytes, folder: str | Path | None, result: tuple[int, Observations, Said]) -> None:
    """Keep a result for the next run; where that cannot be, there is none."""
    from stagec.cli.result_shelf import ResultShelf  # only a run without a known result writes one

    own, entries = find_own_folder(), find_folder(folder)
    try:
        if own is None or entries is None or describe(sys.argv[1:]) != described:
            return
        ResultShelf.make_secret(own, _SECRET_SIZE)
        key = make_key(described)
        body = _write_body(*result)
        if key is not None and len(body) <= _LARGEST:
            ResultShelf(entries).put(key.name, key.sign(body) + body)
    except (OSError, ValueError):
        return


def _find_option(arguments: Sequence[str]) -> str | None:
    found = None
    for at, argument in enumerate(arguments):
        if argument.startswith(f"{_OPTION}="):
            found = argument.partition("=")[2]
        elif argument == _OPTION and at + 1 < len(arguments):
            found = arguments[at + 1]
    return found


def find_own_folder() -> str | None:
    """Return the user's own folder for caches; as everywhere, a relative one does not count."""
    folder, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    base = folder if os.path.isabs(folder) else os.path.join(home, ".cache") if os.path.isabs(home) else ""
    return os.path.join(base, "stagec") if base else None


def _read_secret(path: str) -> bytes:
    """Return a secret; one that others could have written or read is none."""
    data, status = _read_file(path, _SECRET_SIZE)
    is_own = not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)
    return data if is_own else b""


def _read_file(path: str, most: int) -> tuple[bytes, os.stat_result]:
    with open(open_to_read(path), "rb", buffering=0) as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            raise ValueError
        return opened.read(most), status


def _describe_stream(stream: TextIO) -> str:
    width = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    return f"{stream.encoding} {width}"


def _stamp_libraries() -> Iterator[str]:
    """Yield the folders in which Python looks for modules, and the time when each library was installed."""
    for folder in sys.path:
        yield folder
        if os.path.isdir(folder or os.curdir):
            with os.scandir(folder or os.curdir) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
            yield from (_stamp(each) if each.name.endswith("-info") else each.name for each in found)


def _stamp(entry: os.DirEntry[str]) -> str:
    status = entry.stat()
    return f"{entry.name} {status.st_mtime_ns} {status.st_size}"


def _stamp_own() -> Iterator[str]:
    """Yield when each file of stagec was changed and how large it is, which is how Python knows what to compile."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    schemas = os.path.join(os.path.dirname(os.path.dirname(package)), "schemas")
    folders = [package, *(each for each in [schemas] if os.path.isdir(each))]
    while folders:
        folder = folders.pop()
        yield folder
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.name != "__pycache__" and entry.is_dir():
                folders.append(entry.path)
            elif entry.name != "__pycache__":
                yield _stamp(entry)


def _write_body(status: int, observations: Observations, said: Said) -> bytes:
    answers = "\0".join(part for (kind, path), answer in observations.items() for part in (kind, path, answer))
    pieces = [answers, *(text for _, text in said)]
    encoded = [piece.encode(errors="surrogatepass") for piece in pieces]
    numbers = [status, len(encoded[0])]
    for (stream, _), text in zip(said, encoded[1:], strict=True):
        numbers += [stream, len(text)]
    return " ".join(map(str, numbers)).encode() + b"\n" + b"".join(encoded)


def _read_body(body: bytes) -> tuple[int, Observations, Said]:
    """Return the parts of a body, which its digest has shown to be one that was written here."""
    head, _, rest = body.partition(b"\n")
    status, length, *pairs = map(int, head.split())
    parts = iter(rest[:length].decode(errors="surrogatepass").split("\0"))
    observations = {(kind, path): answer for kind, path, answer in zip(parts, parts, parts, strict=True)}
    said: list[tuple[int, str]] = []
    for stream, size in zip(pairs[::2], pairs[1::2], strict=True):
        said.append((stream, rest[length : length + size].decode(errors="surrogatepass")))
        length += size
    return status, observations, said


def _print(said: Said) -> bool:
    """Write what was said before; False when it cannot be, which a run that executes the command will report."""
    streams: Mapping[int, TextIO] = {1: sys.stdout, 2: sys.stderr}
    for number, text in said:
        stream = streams[number]
        try:
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")
            stream.write(text)
            stream.flush()
        except OSError:
            return False
    return True
