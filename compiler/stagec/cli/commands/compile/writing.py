"""Where plans go, to standard output, a file or a folder, and what came of writing them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import Path

from stagec.cli.files import STDIN, read_file, write_file, write_files
from stagec.cli.streams import put, put_bytes
from stagec.core.disk import make_folder
from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.visible import visible
from stagec.core.words import quote


@value
class Target:
    """Where plans go; `path` None is standard output, and in a `folder` each has a name of its own."""

    path: Path | None
    folder: bool = False

    def file(self, name: str) -> Path | None:
        """Return the path of a plan whose file in a folder would have this name."""
        return self.path / name if self.path is not None and self.folder else self.path


def target_for(output: str | None, flows: int) -> Target:
    """Return what `--output` means for so many flows; raise `Failure` when they do not fit there."""
    if output is None or output == str(STDIN):
        if flows > 1:
            raise Failure(f"there are {flows} flows: --output names a folder for their plans, --flow chooses one")
        return Target(None)
    path = Path(output)
    is_folder = path.is_dir() or output.endswith(("/", os.sep))
    if path.exists() and not path.is_dir() and (flows > 1 or is_folder):
        raise Failure(f"{quote(path)} is no folder" + (f", and there are {flows} flows" if flows > 1 else ""))
    return Target(path, is_folder or flows > 1)


def write(target: Target, plans: Collection[tuple[Path | None, bytes]]) -> None:
    """Write the files of plans; the folder is made if there is none."""
    if target.path is not None and target.folder and plans:
        _make(target.path)
        write_files(target.path, {path.name: data for path, data in plans if path is not None})
        return
    for path, data in plans:
        if path is not None:
            write_file(path, data)
        elif sys.stdout.isatty():  # nothing in it may play tricks to a terminal
            put(visible(data.decode().rstrip("\n"), sys.stdout.encoding or "ascii") + "\n")
        else:
            put_bytes(data)


def state(path: Path | None, data: bytes) -> str:
    """Return whether a file holds a plan: `up to date`, `out of date` or `missing`."""
    if path is None or not os.path.lexists(path):
        return "missing"
    is_alike = os.path.isfile(path) and os.path.getsize(path) == len(data)  # a pipe would never end
    return UP_TO_DATE if is_alike and read_file(path) == data else "out of date"


UP_TO_DATE = "up to date"


def _make(folder: Path) -> None:
    try:
        make_folder(folder)
    except OSError as error:
        raise Failure(f"cannot make {quote(folder)}: {error.strerror or error}") from error
