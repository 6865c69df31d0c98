"""Find the root of a project and the configuration that lies in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stagec.core import observations
from stagec.core.bounded import OversizedError
from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.words import quote
from stagec.sources.project.toml import parse

OWN = "stagec.toml"
SHARED = "pyproject.toml"
AGENTS = ".agent"
"""The folder in which projects keep their agents."""
_OF_TOOLS = frozenset({AGENTS, ".agents", ".claude", ".cursor", ".github", ".opencode"})
"""Folders in which tools look for files; what a file means depends on its path from above them."""
_COLLECTION = "agents"
"""The name of a collection of agent files, which counts only if a user names it."""
_PLUGINS = (".claude-plugin/plugin.json", ".github/plugin/plugin.json")
_MARKETPLACES = (".claude-plugin/marketplace.json", ".github/plugin/marketplace.json")
"""Files at the root of a plugin, which has folders of its own, and above the plugins that a marketplace lists."""
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
    """Return the folder that holds all the paths: a folder itself, the folder of a file, else the current one.

    For a path through a link in the folder of a tool, the result is the folder around that folder.
    """
    folders = [_find_holder_of_link(path) or _find_folder(observations.resolve(possible(path))) for path in paths]
    return os.path.commonpath(folders) if folders else observations.resolve(os.path.abspath(os.curdir))


def _find_holder_of_link(path: Path) -> str | None:
    """Return the folder around the innermost folder of a tool in a written path, if a link below leads elsewhere."""
    above, parts = os.path.abspath(possible(path)), []
    while os.path.basename(above) not in _OF_TOOLS:
        above, name = os.path.split(above)
        parts.append(name)
        if not name:
            return None
    holder = observations.resolve(os.path.dirname(above))
    meant = os.path.join(holder, os.path.basename(above), *reversed(parts))
    real = observations.resolve(meant)
    is_inside = real == holder or real.startswith(holder.rstrip(os.sep) + os.sep)
    return holder if is_inside and real != meant else None


def possible(path: Path) -> Path:
    """Return a path that is short enough for a system; resolving a longer one costs the square of its length."""
    if len(str(path)) > _LONGEST_PATH:
        raise Failure(f"{quote(path)} is longer than a path can be")
    return path


def find(folder: str) -> FoundConfiguration | str:
    """Return the nearest configuration at or above a folder, else the folder that is the root without one.

    That is the top of the repository; outside of one the folder from which the paths of agent files count, else
    `folder`.
    """
    here = folder
    while True:
        found = configuration_in(here)
        if found is not None:
            return found
        above = os.path.dirname(here)
        if observations.has_name(os.path.join(here, ".git")):
            return here
        if above == here:
            return _find_holder(folder)
        here = above


def find_repository(folder: str) -> str | None:
    """Return the top of the repository that holds a folder."""
    while not observations.has_name(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _find_holder(folder: str) -> str:
    """Return the folder from which the paths of agent files count; where there is none, the folder itself.

    That is the folder that holds the innermost folder of a tool; otherwise a marketplace of plugins above it, a plugin,
    or the folder that holds a collection.
    """
    here, plugin = folder, None
    while True:
        above, name = os.path.split(here)
        if plugin is None and name in _OF_TOOLS:
            return above
        if _holds(here, _MARKETPLACES):
            return here
        if plugin is None and _holds(here, _PLUGINS):
            plugin = here
        if above == here:
            break
        here = above
    is_collection = os.path.basename(folder) == _COLLECTION
    return plugin or (os.path.dirname(folder) if is_collection else folder)


def _holds(folder: str, files: tuple[str, ...]) -> bool:
    return any(observations.has_name(os.path.join(folder, file)) for file in files)


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


def find_inside(root: Path, file: str, key: str) -> Path:
    """Return a file that a key of a configuration names: the only door to files that a project chooses.

    Raise `Failure` for one outside of the project, also through a link, for pipes, devices and folders, and for a file
    that does not exist.
    """
    obstacle = find_obstacle(root, file)
    if obstacle is not None:
        raise Failure(f"{quote(key)} of the configuration names {quote(file)}, which {obstacle}")
    return Path(os.path.join(root, file))


def find_obstacle(root: str | Path, file: str, *, may_lack: bool = False) -> str | None:
    """Say why a file that a configuration names is not opened, None where it is; with `may_lack`, it may be absent."""
    top, path = observations.resolve(root), os.path.join(root, file)
    try:
        real = observations.resolve(path)
        if os.path.commonpath([top, real]) != top:
            return "leads out of the project"
        return None if observations.find_type(real) == stat.S_IFREG else "is not a regular file"
    except FileNotFoundError as error:
        return None if may_lack else f"cannot be read: {error.strerror}"
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _read_text(folder: str, name: str) -> str | None:
    """Return the text of a configuration file; what is wrong with a file that is not our own is not ours to say."""
    path = os.path.join(folder, name)
    try:
        obstacle = _obstacle(folder, path)
        if obstacle is None:
            return observations.read_whole(observations.resolve(path), _LARGEST).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OversizedError:
        obstacle = f"is larger than {_LARGEST:,} bytes"
    except OSError as error:
        obstacle = f"cannot be read: {error.strerror or type(error).__name__}"
    except UnicodeDecodeError as error:
        obstacle = f"is not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}"
    if name == OWN:
        raise Failure(f"{name} {obstacle}")
    return None


def _obstacle(folder: str, path: str) -> str | None:
    """Say why a file is not opened: a link may lead anywhere, a pipe may never end."""
    kind = observations.find_type(path)
    if observations.is_link(path) and os.path.commonpath([folder, observations.resolve(path)]) != folder:
        return "is a link that leads out of the project"
    return None if kind == stat.S_IFREG else "is not a regular file"


def _find_folder(path: str) -> str:
    """Return a path that is a folder, or the nearest folder above it."""
    while not observations.is_folder(path):
        path = os.path.dirname(path)
    return path
