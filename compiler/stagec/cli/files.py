"""Read and write the files that a user names; a problem is a `Failure`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from stagec.cli.limits import find_limit
from stagec.cli.streams import find_canvas, put, put_bytes
from stagec.core import observations
from stagec.core.bounded import OversizedError, read_stream
from stagec.core.disk import (
    RefusedWriteError,
    check_inside,
    leads_out,
    make_folder,
    open_folder_inside,
    write_all,
    write_inside,
    write_named,
)
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.terminal import Paint, Style
from stagec.core.value import NOTHING
from stagec.core.words import listing, quote, visible
from stagec.sources.project.find import find_repository


def describe_absence(path: Path) -> str:
    """Return the sentence for a path that does not exist, with the neighbour that was probably meant."""
    try:
        neighbours = sorted(os.listdir(path.parent))
    except OSError:
        neighbours = []
    return f"{quote(path)} does not exist{hint(path.name, NameIndex(neighbours))}"


def explain_unread(path: Path, error: OSError) -> str:
    """Return the sentence for a file that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return describe_absence(path)
    if isinstance(error, IsADirectoryError):
        return f"{quote(path)} is a folder, and a file is expected"
    return f"cannot read {quote(path)}: {error.strerror or error}"


STDIN = Path("-")
"""The path that stands for standard input."""


def name_from_here(root: Path) -> Callable[[str], str]:
    """Return a function that names files of a project, relative to its root, as seen from the current folder."""
    try:
        here = observations.resolve(os.getcwd())
    except OSError:  # the current folder is there no more
        return lambda file: (root / file).as_posix()
    top = observations.resolve(root)
    return str if here == top else cache(lambda file: Path(os.path.relpath(os.path.join(top, file), here)).as_posix())


def name_from_repository(root: Path) -> Callable[[str], str]:
    """Return a function that names files of a project, relative to its root, as seen from the top of its repository."""
    real = observations.resolve(root)
    top = find_repository(real)
    below = None if top is None else Path(real).relative_to(top)
    return str if below is None or not below.parts else lambda file: (below / file).as_posix()


def read_file(path: Path, budget: str = "plan-size", room: int = 1) -> bytes:
    """Return the bytes of a file, or of standard input; `room` is how many times a budget it may have."""
    try:
        most = find_limit(budget) * room
        return read_stream(sys.stdin.buffer, most) if path == STDIN else observations.read_named(path, most)
    except OversizedError as error:
        named = "standard input" if path == STDIN else quote(path)
        raise Failure(f"{named} {error}; --budget {budget}=SIZE raises what is read") from error
    except OSError as error:
        raise Failure(explain_unread(path, error)) from error


def write_file(path: Path, data: bytes) -> None:
    """Write a file that a user named; see `core.disk.write_named`."""
    with _explain_failures(path):
        write_named(path, data)


def check_files(folder: Path, files: Iterable[str], before: Mapping[str, bytes] = NOTHING) -> None:
    """Raise the `Failure` that writing such files would be."""
    for file in files:
        with _explain_failures(os.path.relpath(folder / file)):
            check_inside(folder, file, before.get(file))


def write_files(folder: Path, files: Mapping[str, bytes], before: Mapping[str, bytes] = NOTHING) -> None:
    """Write files in a folder whose names stagec chose or found: nothing unless all of them can be written.

    A file of which `before` knows something else than it holds now is not written.
    """
    check_files(folder, files, before)
    written: list[str] = []
    for file, data in files.items():
        path = os.path.relpath(folder / file)
        with _explain_failures(path, written):
            write_inside(folder, file, data, before.get(file))
        written.append(path)


def update_folder(folder: Path, files: Mapping[str, bytes], before: Mapping[str, bytes], gone: Iterable[str]) -> None:
    """Write files into a folder of stagec's own, which is made if it does not exist, and remove those that are gone."""
    from stagec.core.folders import remove_file

    with _explain_failures(folder):
        make_folder(folder)
    write_files(folder, files, before)
    for file in gone:
        with _explain_failures(folder / file), open_folder_inside(folder, "") as opened:
            remove_file(opened, file)


def create_files(
    folder: Path, files: Mapping[str, bytes], advice: str = "name another folder", *, durable: bool = True
) -> None:
    """Write new files below a folder, which is made if it does not exist: nothing if one of them exists.

    `advice` is what can be done then. Files that are not `durable` need not survive a power cut.
    """
    taken = [file for file in files if os.path.lexists(folder / file)]
    if taken:
        paths = [os.path.relpath(folder / file) for file in taken]
        verb = "exists" if len(taken) == 1 else "exist"
        raise Failure(f"{listing(paths)} {verb}: nothing was written; {advice}")
    for file, data in files.items():
        with _explain_failures(os.path.relpath(folder / file)):
            _create_inside(folder, file, data, durable=durable)


def _create_inside(root: Path, file: str, data: bytes, *, durable: bool) -> None:
    folder, name = os.path.split(file)
    if leads_out(root, folder):
        raise RefusedWriteError("its folder is reached through a link that leads out of the project")
    make_folder(root / folder)
    with open_folder_inside(root, folder) as opened:
        os.close(opened.create(name, partial(write_all, data=data), durable=durable, mode=0o666))


@contextmanager
def _explain_failures(path: Path | str, written: Sequence[str] = ()) -> Iterator[None]:
    """Raise an error as a `Failure` that names the files written before it."""
    try:
        yield
    except OSError as error:
        others = f"; {listing(written)} {'is' if len(written) == 1 else 'are'} written" if written else ""
        raise Failure(f"cannot write {quote(path)}: {error.strerror or error}{others}") from error


_STYLES = {"---": Style.MESSAGE, "+++": Style.MESSAGE, "@": Style.GUTTER, "+": Style.ADDED, "-": Style.REMOVED}


def print_patch(changes: Mapping[str, tuple[bytes, bytes]]) -> None:
    """Print what changes in each file: exact bytes for `patch`, and on a terminal nothing that plays tricks to it.

    A file that had no bytes before is a new one.
    """
    rows = [row for file, (before, after) in sorted(changes.items()) for row in _compare(file, before, after)]
    if sys.stdout.isatty():
        paint = Paint(find_canvas(sys.stdout, os.environ).colour)
        put("".join(f"{paint(visible(row[:-1]), _find_style(row))}\n" for row in rows))
    else:
        put_bytes("".join(rows).encode(errors="surrogateescape"))


def _find_style(row: str) -> Style | None:
    return next((style for start, style in _STYLES.items() if row.startswith(start)), None)


def _compare(file: str, before: bytes, after: bytes) -> Iterator[str]:
    from difflib import unified_diff

    name = visible(file)
    old = f"a/{name}" if before else "/dev/null"
    for row in unified_diff(_split_rows(before), _split_rows(after), old, f"b/{name}"):
        yield row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"


def _split_rows(data: bytes) -> list[str]:
    """Split at line feeds only, as `patch` does."""
    rows = data.decode(errors="surrogateescape").split("\n")
    return [f"{row}\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])
