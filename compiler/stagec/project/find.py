"""Find the root of a project and the configuration that lies in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stagec.core.bounded import OversizedError, read_path
from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.words import quote
from stagec.project.toml import parse

OWN = "stagec.toml"
SHARED = "pyproject.toml"
_LARGEST = 1_000_000
"""Bytes of a configuration file."""
_LONGEST_PATH = 4_000
"""Characters of a path."""


@value
class FoundConfiguration:
    """A configuration: the folder and file it lies in, the file's text, and the table with where it begins."""

    folder: str
    file: str
    text: str
    table: Any
    prefix: tuple[str, ...] = ()


def common_folder(paths: Iterable[Path]) -> str:
    """Return the folder that holds all the paths: a folder itself, the folder of a file, else the current one."""
    folders = [_find_folder(os.path.realpath(possible(path))) for path in paths]
    return os.path.commonpath(folders) if folders else os.path.realpath(os.curdir)


def possible(path: Path) -> Path:
    """Return a path that is short enough for a system; resolving a longer one costs the square of its length."""
    if len(str(path)) > _LONGEST_PATH:
        raise Failure(f"{quote(path)} is longer than a path can be")
    return path


def find(folder: str) -> FoundConfiguration | None:
    """Return the nearest configuration at or above a folder, looking no further up than the top of a repository."""
    while True:
        found = configuration_in(folder)
        above = os.path.dirname(folder)
        if found is not None or above == folder or os.path.lexists(os.path.join(folder, ".git")):
            return found
        folder = above


def configuration_in(folder: str) -> FoundConfiguration | None:
    """Return the configuration that lies in a folder, if there is one; two are one too many."""
    text = _read_text(folder, OWN)
    own = None if text is None else FoundConfiguration(folder, OWN, text, parse(OWN, text))
    shared = _find_shared(folder)
    if own is not None and shared is not None:
        raise Failure(f"{quote(folder)} has a {OWN} and a [tool.stagec] in its {SHARED}; keep one of them")
    return own or shared


def _find_shared(folder: str) -> FoundConfiguration | None:
    text = _read_text(folder, SHARED)
    if text is None or "stagec" not in text:  # nearly every one, and reading TOML takes its time
        return None
    tools = parse(SHARED, text).get("tool")
    if not isinstance(tools, dict) or "stagec" not in tools:
        return None
    return FoundConfiguration(folder, SHARED, text, tools["stagec"], ("tool", "stagec"))


def _read_text(folder: str, name: str) -> str | None:
    """Return the text of a configuration file; what is wrong with a file that is not our own is not ours to say."""
    path = os.path.join(folder, name)
    try:
        obstacle = _obstacle(folder, path)
        if obstacle is None:
            return read_path(path, _LARGEST).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OversizedError as error:
        obstacle = str(error)
    except OSError as error:
        obstacle = f"cannot be read: {error.strerror or type(error).__name__}"
    except UnicodeDecodeError as error:
        obstacle = f"is not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}"
    if name == OWN:
        raise Failure(f"{name} {obstacle}")
    return None


def _obstacle(folder: str, path: str) -> str | None:
    """Say why a file is not opened: a link may lead anywhere, a pipe may never end."""
    status = os.stat(path)
    if os.path.islink(path) and os.path.commonpath([folder, os.path.realpath(path)]) != folder:
        return "is a link that leads out of the project"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    return f"is larger than {_LARGEST:,} bytes" if status.st_size > _LARGEST else None


def _find_folder(path: str) -> str:
    """Return a path that is a folder, or the nearest folder above it."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path
